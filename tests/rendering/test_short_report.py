"""What commands print by default: at most 20 lines, the verdict first, nothing claimed too much."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from onnx import parser

import graphfix
from graphfix.engines.interface import NextStep
from graphfix.rendering.grouping import group_findings
from graphfix.rendering.markdown import report_markdown
from graphfix.rendering.short_check import answer_line, short_check
from graphfix.rendering.short_lines import MOST, Listed, fitted, one_line
from graphfix.rendering.short_report import short_report, verdict_line
from graphfix.rendering.style import PLAIN
from graphfix.rendering.text_report import report_text
from graphfix.report import (
    Accuracy,
    Asked,
    Certificate,
    EngineAsked,
    Finding,
    NodeRef,
    Outcome,
    Report,
    Severity,
    Site,
    Status,
    Verdict,
    Verification,
)

Samples = dict[str, tuple[Report, int]]
FIXTURES = Path(__file__).parents[2] / "fixtures"
STEP = NextStep("trtexec --onnx=in/model.trt8.onnx", "Build the engine", "Put the sizes.")
FORMS = "g (float[2,3] x) => (float[2,3] y) {s = HardSwish (x) m = Mish (s) y = Hardmax (m)}"
DOUBLES = "g (double[2,3] x) => (double[2,3] y) {y = HardSwish (x)}"


def of_kind(kind: int, nodes: int) -> list[Finding]:
    """Problems of one kind at some nodes."""
    return [
        Finding(
            f"rule-{kind}",
            f"op:Op{kind}",
            Severity.REJECT,
            NodeRef(f"n{kind}_{i}", i, f"Op{kind}", "", (f"t{kind}_{i}",)),
            f"Op{kind} is not known",
            f"Unsupported Op{kind}\nand a second line that is not shown",
            removed_by=(f"pass-{kind}",),
        )
        for i in range(nodes)
    ]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("camera", {"target": "trt8"}),
        ("inverse_aten17", {"target": "trt8"}),
        ("mod_int_ts11", {"target": "trt8.4"}),
        ("slice_assign_ts17", {"target": "trt7"}),
        ("upsample_dynamo18", {"target": "trt7.0"}),
        ("reduce_dynamo18", {"target": "trt5"}),
        ("group_norm_ts11", {"target": "trt8", "verify": "sites"}),
        ("mod_float_ts13", {"target": "trt8", "verify": "off"}),
        ("split_ts18", {"opset": 13}),
        ("flatten_ts11", {"opset": 17}),
        (FORMS, {"target": "trt8"}),
        (DOUBLES, {"target": "trt8", "allow_io_change": True}),
    ],
)
def test_a_repaired_model_is_reported_in_20_lines(name: str, options: dict[str, object]) -> None:
    path = FIXTURES / f"{name}.onnx"
    text = '<ir_version: 8, opset_import: ["" : 18]> ' + name
    model = graphfix.load(path) if " " not in name else parser.parse_model(text)
    result = graphfix.run(model, **options)  # type: ignore[arg-type]
    assert result.exit_code == 0
    report = replace(result.report, output=result.report.input)
    lines = short_report(report, 0, step=STEP).splitlines()
    assert len(lines) <= MOST, "\n".join(lines)
    assert lines[0] == verdict_line(report, 0)
    assert lines[0].split(":")[0].split(",")[0] in ("FIXED", "CHANGED", "OK")
    assert any(line.startswith("  verified  ") for line in lines)
    engine = [line for line in lines if line.startswith("  engine    ")]
    assert [" was not run" in line for line in engine] == ([True] if "target" in options else [])
    assert lines[-2:] == [f"  {STEP.command}", "  Put the sizes."]


@pytest.mark.parametrize("code", [0, 1])
def test_many_kinds_are_cut_to_the_most_important(samples: Samples, code: int) -> None:
    findings = tuple(f for kind in range(40) for f in of_kind(kind, 41 - kind))
    sites = tuple(Site(f.node, certificate=Certificate(Verdict.EQUAL, samples=4)) for f in findings)
    outcomes = tuple(Outcome(f"pass-{k}", Status.APPLIED, "", sites[k : k + 2]) for k in range(40))
    report = replace(
        samples["fixed"][0],
        findings_before=findings,
        findings_after=findings[41:] if code else (),
        outcomes=outcomes,
        notes=tuple(f"note {i}" for i in range(9)),
    )
    text = short_report(report, code, step=STEP)
    lines = text.splitlines()
    assert len(lines) <= MOST
    if code:
        assert lines[0] == "PROBLEMS: 819 of 860 problems left in model.onnx for trt8.4"
        assert "  reject  40 x Op1: Unsupported Op1 and a second line that is not shown" in lines
        assert "          pass-1 did not act here (`graphfix check --explain` says why)" in lines
        assert "Problems repaired: 41 (-v lists them)" in lines
        assert "Repairs: 40 (-v lists them)" in lines
    else:
        assert lines[0] == "FIXED: model.onnx for trt8.4: 860 problems repaired, none is left"
        assert "  reject  41 x Op0: Unsupported Op0 and a second line that is not shown" in lines
    assert "            and 7 more (-v lists them)" in lines
    assert "  and 3" in text
    assert lines[-2] == f"  {STEP.command}"


def test_what_was_compared_is_distinguished(samples: Samples) -> None:
    node = NodeRef("n", 0, "Mod", "", ("y",))
    proofs = (
        Certificate(Verdict.EQUAL, samples=5),
        Certificate(Verdict.EQUAL, samples=9),
        Certificate(Verdict.EQUAL),
        Certificate(Verdict.INCONCLUSIVE, reason="x"),
        None,
    )
    sites = tuple(Site(node, removed=(node,), certificate=proof) for proof in proofs)
    found = Verification(Verdict.EQUAL, "", "onnxruntime 1.31, 5 samples", samples=7)
    report = replace(
        samples["fixed"][0],
        outcomes=(Outcome("p", Status.APPLIED, "", sites),),
        verification=found,
        engine=EngineAsked("TensorRT 8.4"),
    )
    text = short_report(report, 0)
    said = " ".join(text.split())
    reported = "2 equal on 5 to 9 inputs, 1 unchanged (not run), 1 inconclusive, 1 not compared"
    assert said.endswith(f"Repairs: 1 p: 5 places, exact, {reported}")
    assert "verified outputs equal on 7 inputs (onnxruntime 1.31)" in said
    assert "of 4 repairs compared alone 1 inconclusive" in said
    stored = Outcome("once", Status.APPLIED, "", (Site(NodeRef(outputs=("w",))),))
    text = short_report(replace(report, outcomes=(stored,)), 0)
    assert " ".join(text.split()).endswith("Repairs: 1 once 1 place, exact, no node changed")
    assert "engine TensorRT 8.4 was not run; the rules known of it were applied." in said


@pytest.mark.parametrize(
    ("name", "first", "verified"),
    [
        (
            "not proved",
            "NOT VERIFIED: model.onnx for trt8.4: equality could not be shown",
            "each repair on its own, comparing the whole model was inconclusive: the output never",
        ),
        (
            "different",
            "DIFFERENT: model.onnx for trt8.4: the result computes something else, "
            "nothing was written",
            "no: outputs differ from those of model.onnx: y moved",
        ),
        (
            "odd numbers",
            "FIXED, WITH LOSS: model.onnx for trt8.4: 12 problems repaired, none is left",
            "outputs differ as --allow-lossy allows, relative error nan",
        ),
        ("no target", "CHANGED, NOT VERIFIED: model.onnx, as asked", "no: --verify off"),
        (
            "strict",
            "PROBLEMS: 2 of 3 problems left in model.onnx for trt8.4",
            "outputs equal (onnxruntime 1.31), relative error 3e-06",
        ),
    ],
)
def test_no_more_is_claimed_than_was_shown(
    samples: Samples, name: str, first: str, verified: str
) -> None:
    text = short_report(*samples[name])
    assert text.startswith(f"{first}\n")
    assert f"verified {verified}" in " ".join(text.split())


def test_what_is_left_says_why_and_how_to_continue(samples: Samples) -> None:
    lines = short_report(*samples["left"], step=STEP).splitlines()
    assert len(lines) <= MOST
    at = lines.index("  reject  1 x acme::Warp: acme::Warp is no operator that TensorRT knows")
    assert lines[at + 1] == "          no pass removes this"
    assert "  builder 1 x Resize, possibly: Resize of rank 5 may be refused" in lines
    assert lines[0] == verdict_line(*samples["left"])


def test_a_problem_of_the_model_is_not_cut() -> None:
    text = "input x has open sizes, and the engine takes static shapes alone: fix them, --shape x=1"
    finding = Finding("static", "io:dynamic-input", Severity.REJECT, NodeRef(), text)
    said = short_check("a.onnx", "ncnn1.0", [finding])
    assert text in " ".join(said.split())


def test_a_check_says_whether_the_engine_was_run(samples: Samples) -> None:
    findings = samples["left"][0].findings_before
    loaded = EngineAsked("onnxruntime 1.32", Asked.LOADED)
    assert short_check("in/a.onnx", "ort-1.32", (), engine=loaded).splitlines() == [
        "OK: no problem is known in a.onnx for ort-1.32",
        "  engine    onnxruntime 1.32, installed here, loaded the file.",
    ]
    text = short_check("in/a.onnx", "trt8.6", findings, command="graphfix run in/a.onnx")
    assert text.startswith("PROBLEMS: 3 in a.onnx for trt8.6, 1 of them possible\n")
    assert "  engine    trt8.6 was not run; the rules known of it were applied.\n" in text
    assert text.endswith(
        "\n\nNext: repair it\n  graphfix run in/a.onnx\n"
        "  no pass is made for acme::Warp; others may remove them"
    )
    assert answer_line("in/a.onnx", "trt8.6", findings) == text.splitlines()[0]


@pytest.mark.parametrize(
    ("did", "says"),
    [
        (Asked.RAN, "Tessera 2.0 itself ran the result; its outputs were compared."),
        (Asked.BUILT, "Tessera 2.0 itself built the result; no device is here to run it."),
        (Asked.REFUSED, "Tessera 2.0, installed here, does not take the result."),
        (Asked.INCONCLUSIVE, "Tessera 2.0 was asked too; its answer is part of this report."),
    ],
)
def test_every_view_of_a_run_says_what_the_engine_did(
    samples: Samples, did: Asked, says: str
) -> None:
    report = replace(samples["fixed"][0], engine=EngineAsked("Tessera 2.0", did))
    for view in (short_report, report_text, report_markdown):
        assert says in " ".join(view(report, 0).split())


def test_a_list_is_cut_where_there_is_no_room() -> None:
    entries = [[f"  {i}"] for i in range(30)]
    lists = [Listed("Long", entries), Listed("Minor", entries, minor=True), Listed("Empty", [])]
    lines = fitted(["head"], lists, PLAIN)
    assert len(lines) == MOST
    assert lines[:4] == ["head", "", "Long", "  0"]
    assert lines[-3:] == ["  and 16 more (-v lists them)", "", "Minor (-v lists them)"]
    assert fitted(["head"], [Listed("One", entries[:1])], PLAIN) == ["head", "", "One", "  0"]


def test_empty_lines_go_before_the_ends_of_short_lists() -> None:
    head, entries = ["head"] * 8, [[f"  {i}"] for i in range(5)]
    lines = fitted(head, [Listed("One", entries), Listed("Two", entries)], PLAIN)
    assert lines == [*head, "One", *(e for [e] in entries), "Two", *(e for [e] in entries)]


def test_entries_are_whole_where_there_is_room() -> None:
    short, whole = [["a..."], ["c..."]], [["a", "b"], ["c", *"defg"]]
    lists = [Listed("Left", short, whole=whole), Listed("Minor", [["  m"]] * 4, minor=True)]
    left = ["", "Left", "a", "b", "c", *"defg"]
    assert fitted(["head"], lists, PLAIN) == ["head", *left, "", "Minor", *["  m"] * 4]
    # What is left matters more than entries of a minor list.
    cut = [*["head"] * 8, *left, "", "Minor (-v lists them)"]
    assert fitted(["head"] * 8, lists, PLAIN) == cut
    # One that does not fit stays short, the others do not.
    cut = [*["head"] * 13, "", "Left", "a", "b", "c...", "", "Minor (-v lists them)"]
    assert fitted(["head"] * 13, lists, PLAIN) == cut


def test_one_line_is_one_line() -> None:
    assert one_line("a\n  b\x1b", "  ") == "  a b\\x1b"
    assert one_line("x" * 90, "  ") == "  " + "x" * 75 + "..."


def test_a_line_is_cut_after_a_word_unless_it_is_long() -> None:
    assert one_line("a word " * 20, width=30) == "a word a word a word a..."
    assert one_line("x " + "long" * 20, width=30) == "x " + "longlonglonglonglonglongl"[:25] + "..."


def test_words_for_severities_are_explained_where_there_is_room() -> None:
    (wrong,) = of_kind(1, 1)
    found = [replace(wrong, severity=Severity.WRONG), *of_kind(2, 1)]
    lines = short_check("m.onnx", "trt8.6", found).splitlines()
    meaning = "          (wrong: the engine accepts it and computes something else)"
    assert lines.count(meaning) == 1
    assert not any("(reject:" in line for line in lines)
    many = [replace(f, severity=Severity.WRONG) for kind in range(30) for f in of_kind(kind, 1)]
    lines = short_check("m.onnx", "trt8.6", many).splitlines()
    assert meaning not in lines
    assert len(lines) <= MOST


def test_a_finding_is_whole_where_there_is_room() -> None:
    (first,) = of_kind(1, 1)
    long = " ".join(f"word{number}" for number in range(30))
    text = short_check("m.onnx", "trt8.6", [replace(first, engine_text=f"{long}\nsecond")])
    assert f"1 x Op1: {long}" in " ".join(text.split())
    assert "second" not in text
    assert "..." not in text


def test_another_opset_is_named_for_a_form_only_where_nothing_else_is() -> None:
    (first,) = of_kind(1, 1)
    form = replace(first, feature="form:Op1.odd", removed_by=("opset", "pass-1"))
    (both,), (alone,) = (
        group_findings([form]),
        group_findings([replace(form, removed_by=("opset",))]),
    )
    assert (both.removed_by, both.removers) == (("pass-1",), "pass-1")
    assert alone.removers == "opset, if another opset has no such form"
    (low,) = group_findings([replace(form, feature="opset:too-low")])
    assert low.removed_by == ("opset", "pass-1")


def test_what_failed_is_not_listed_as_a_change() -> None:
    reason = "pass p raised ZeroDivisionError: oops"
    place = NodeRef("n", 0, "Neg", "", ("a",))
    site = Site(place, Accuracy.EXACT, (), ())
    model = graphfix.load(FIXTURES / "split_ts18.onnx")
    report = graphfix.run(model, opset=18).report
    failed = replace(report, outcomes=(Outcome("p", Status.FAILED, reason, (site,)),))
    lines = short_report(failed, 1).splitlines()
    assert lines[0].startswith("NOT DONE: split_ts18.onnx: p failed: ")
    assert "  p failed at n: pass p raised ZeroDivisionError: oops" in lines
    assert not any(line.startswith("Changes") for line in lines)
