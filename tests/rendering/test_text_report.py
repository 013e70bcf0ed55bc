"""The text view of runs and checks: the verdict comes first and says what is true."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graphfix.engines.interface import NextStep
from graphfix.rendering.markdown import report_markdown
from graphfix.rendering.style import Style
from graphfix.rendering.text_check import check_text
from graphfix.rendering.text_report import report_text
from graphfix.rendering.wording import number
from graphfix.report import (
    EXACT,
    Finding,
    IoChange,
    NodeRef,
    Outcome,
    Report,
    Severity,
    Status,
    Verdict,
    Verification,
)
from graphfix.report.explanations import Candidate, Choice, Explanation

Samples = dict[str, tuple[Report, int]]
LINE = "trtexec --onnx=in/model.trt8.onnx '--minShapes=x:<batch>x3'"
STEP = NextStep(LINE, "Build the engine", "Put the smallest, the usual and the largest size.")


def flat(text: str) -> str:
    """Return text without its line breaks."""
    return " ".join(text.split())


def test_everything_fits_80_columns(sample: tuple[Report, int]) -> None:
    text = report_text(*sample)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text


@pytest.mark.parametrize(
    ("name", "word", "says"),
    [
        ("fixed", "FIXED", "It computes the same as model.onnx: both were run and compared."),
        ("left", "PROBLEMS", "2 problems are left for trt8.4."),
        ("odd numbers", "FIXED, WITH LOSS", "It does not compute quite the same"),
        ("nothing to do", "OK", "was copied unchanged to in/model.trt8.onnx."),
        (
            "no target",
            "CHANGED, NOT VERIFIED",
            "checked whether it computes the same: verification was off.",
        ),
        ("different", "DIFFERENT", "Nothing was written."),
        ("not proved", "NOT VERIFIED", "could not show that it is equal (the output never"),
        ("strict", "PROBLEMS", "2 problems are left for trt8.4. Nothing was written."),
    ],
)
def test_the_verdict_comes_first(samples: Samples, name: str, word: str, says: str) -> None:
    text = report_text(*samples[name])
    first, _, rest = text.partition("\n")
    assert first == word
    assert says in flat(rest.partition("\n\n")[0])


def test_a_dry_run_does_not_claim_to_have_written(samples: Samples) -> None:
    text = report_text(*samples["fixed"], dry_run=True)
    said = flat(text)
    assert said.startswith("FIXED, DRY RUN model.onnx can be repaired (nothing was written).")
    assert "opset 13, IR 8, 131 nodes (not written: dry run)\n" in text
    left = flat(report_text(*samples["left"], dry_run=True))
    assert "2 problems are left for trt8.4. Nothing was written (dry run)." in left
    assert "was written to" not in said + left


def test_unchanged_is_said_of_equal_files_only(samples: Samples) -> None:
    report = samples["nothing to do"][0]
    stamped = replace(report, output=samples["fixed"][0].output)
    assert "was written without repairs to in/model.trt8.onnx." in flat(report_text(stamped, 0))
    dry = flat(report_text(replace(report, output=None), 0, dry_run=True))
    assert "model.onnx needs no repair (nothing was written)." in dry
    bound = replace(stamped, io_changes=(IoChange("x", "[n, 3]", "[1, 3]"),))
    assert not report_text(bound, 0).startswith("OK")


def test_findings_are_grouped_with_capped_nodes(samples: Samples) -> None:
    text = report_text(*samples["fixed"])
    assert "  reject  op:Mod  (12 nodes, all repaired)\n" in text
    assert "nodes     /layers/0/Mod, /layers/1/Mod, /layers/2/Mod and 9 more\n" in text
    assert text.count("TensorRT 8.4 has no importer for Mod") == 1
    assert "engine    No importer registered for op: Mod\n" in text
    assert "removed   by mod-elimination\n" in text
    assert "Problems left\n  none\n" in text
    assert "mod-elimination: applied at 12 places, exact, 12 compared equal\n" in text
    assert "not needed: dead-code\n" in text


def test_what_is_left_is_reported_in_full_once(samples: Samples) -> None:
    report = samples["left"][0]
    assert report_text(report, 1).count("acme::Warp is no operator that TensorRT knows") == 1
    appeared = replace(report, findings_before=())
    left = report_text(appeared, 1).partition("Problems left")[2]
    assert "acme::Warp is no operator that TensorRT knows" in left


def test_engine_text_keeps_its_lines(samples: Samples) -> None:
    finding = replace(samples["fixed"][0].findings_before[0], engine_text="first line\nsecond one")
    text = check_text("a.onnx", "trt8.6", (finding,))
    assert "    engine    first line\n              second one\n" in text


def test_a_copy_is_not_called_a_repair(samples: Samples) -> None:
    report = replace(samples["left"][0], outcomes=())
    said = flat(report_text(report, 1))
    path = "in/model.trt8.partial.onnx"
    assert f"Nothing could be repaired; a copy was written to {path}." in said


def test_what_is_left_says_why_and_what_to_do(samples: Samples) -> None:
    text = report_text(*samples["left"], step=STEP)
    assert "builder rank:Resize.5  (possibly, 1 node, 1 left)\n" in text
    assert "unknown   rank of x\n" in text
    assert "nodes     Warp #7 (in main/If_3.then_branch)\n" in text
    assert "why     the divisor may be 0\n" in text
    said = flat(text)
    assert "`--allow-lossy` lets resize-linear-to-nearest run" in said
    assert "`--assume-op acme::Warp`" in said
    assert "cast-elimination failed" in said
    assert "See what the engine itself says:" in said
    assert f"    {LINE}\n" in text
    assert said.endswith("exit code 1: 2 problems left")


def test_no_advice_and_no_exit_code_where_all_is_well(samples: Samples) -> None:
    text = report_text(*samples["fixed"])
    assert "\nNext\n" not in text
    assert "exit code" not in text
    assert "Build the engine:" in report_text(*samples["fixed"], step=STEP)


def test_odd_numbers_are_readable(samples: Samples) -> None:
    text = report_text(*samples["odd numbers"])
    assert "    y  max abs inf  max rel nan  lossy\n" in text
    assert "x: uint8 [1, 3] -> float32 [1, 3]" in text
    assert [number(v) for v in (None, 0.0, 1.234e-7, 2.5)] == ["-", "0", "1.2e-07", "2.5"]


def test_single_repairs_are_vouched_for_only_when_all_were_equal(samples: Samples) -> None:
    report = replace(
        samples["fixed"][0], verification=Verification(Verdict.SKIPPED, "it needs too much memory")
    )
    vouched = "Every single repair was run before and after, and compared equal."
    assert vouched in flat(report_text(report, 0))
    bare = tuple(
        replace(o, sites=tuple(replace(s, certificate=None) for s in o.sites))
        for o in report.outcomes
    )
    assert vouched not in flat(report_text(replace(report, outcomes=bare), 0))


def test_control_characters_of_a_file_never_reach_the_terminal(samples: Samples) -> None:
    nasty = NodeRef("a\x1b[31m\nb", 0, "Mod", "", ("y",))
    finding = Finding("r", "op:Mod", Severity.REJECT, nasty, "m\x07", "t\x1b")
    text = report_text(replace(samples["fixed"][0], findings_before=(finding,)), 0)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "a\\x1b[31m\\nb" in text


def test_colours_are_there_when_asked_for(samples: Samples) -> None:
    text = report_text(*samples["left"], style=Style(colour=True))
    assert text.startswith("\x1b[31;1mPROBLEMS\x1b[0m\n")


def test_check_answers_first(samples: Samples) -> None:
    findings = samples["left"][0].findings_before
    command = "graphfix run a.onnx --target trt8.6"
    text = check_text("a.onnx", "trt8.6", findings, ("a note",), command=command)
    assert flat(text).startswith(
        "PROBLEMS 3 problems for trt8.6 in a.onnx, 1 of them possible. trt8.6 was not run; "
    )
    assert "  - a note\n" in text
    assert "Next: graphfix run a.onnx --target trt8.6\n" in text
    assert "source" not in text


def test_check_explains_with_every_node_and_source(samples: Samples) -> None:
    findings = samples["fixed"][0].findings_before
    text = check_text(
        "a.onnx", "trt8.4", findings, explain=True, remedies=("mod-elimination (exact): Mod out",)
    )
    assert "/layers/11/Mod" in text
    assert "source    operator table" in text
    assert "  - mod-elimination (exact): Mod out" in text


def test_check_explains_the_choice(samples: Samples) -> None:
    findings = samples["fixed"][0].findings_before
    first = findings[0]
    chosen = Candidate("mod-elimination", Choice.CHOSEN, accuracy=EXACT, nodes=3)
    lost = Candidate("other", Choice.OUTRANKED, "5 nodes, where it needs 3", EXACT, 5, ("b",))
    known = [
        Explanation(first, True, (), (chosen, lost)),
        Explanation(replace(first, feature="op:Det"), False, (), ()),
        Explanation(replace(first, feature="op:If"), True, ("fold-constants",), ()),
        Explanation(replace(first, severity=Severity.NOTE, feature="op:None"), False, (), ()),
    ]
    text = check_text("a.onnx", "trt8.4", findings, explain=True, explanations=known)
    assert "\nWhat a run would do\n  op:Mod: removed\n" in text
    assert "    chosen      mod-elimination (exact, 3 nodes)\n" in text
    assert "    outranked   other (exact, 5 nodes, with b): 5 nodes, where it needs 3\n" in text
    assert "  op:Det: left\n" in text
    assert "    candidates  none: no pass removes this feature\n" in text
    assert "    also        fold-constants changed the node\n" in text
    assert "op:None" not in text


def test_check_says_that_the_engine_was_not_run() -> None:
    text = flat(check_text("a.onnx", "trt8.6", ()))
    assert text == (
        "OK No problem is known in a.onnx for trt8.6. trt8.6 was not run; the rules known of it "
        "were applied."
    )


def test_reasons_that_name_a_tensor_each_are_reported_a_few_times(samples: Samples) -> None:
    report, code = samples["left"]
    many = tuple(
        Outcome("opset", Status.REFUSED, f"the dtype of y{i} must be known", ()) for i in range(900)
    )
    for text in (
        report_text(replace(report, outcomes=many), code),
        report_markdown(replace(report, outcomes=many), code),
    ):
        assert text.count("must be known") == 6
        assert "opset: refused for 894 more reasons (--json has them)" in flat(text)
