"""The Markdown view: tables that stay tables whatever a model's names hold."""

from __future__ import annotations

from dataclasses import replace

from graphfix.engines.interface import NextStep
from graphfix.rendering.markdown import report_markdown
from graphfix.report import Finding, NodeRef, Report, Severity

Samples = dict[str, tuple[Report, int]]


def test_every_report_has_its_verdict_and_whole_tables(sample: tuple[Report, int]) -> None:
    text = report_markdown(*sample)
    assert text.startswith("# ")
    assert f"Exit code {sample[1]}: " in text
    widths: set[int] = set()
    for line in text.splitlines():
        if not line.startswith("|"):
            widths.clear()
            continue
        widths.add(line.replace("\\|", "").count("|"))
        assert len(widths) == 1, line


def test_sections_of_a_run(samples: Samples) -> None:
    text = report_markdown(*samples["left"], step=NextStep("trtexec --onnx=a.onnx", "Build"))
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# PROBLEMS",
        "## Problems in the input",
        "## Repairs",
        "## Problems left",
        "## Verification",
        "## Notes",
        "## Next",
        "## Seconds",
    ]
    assert "| `mod-elimination` | refused | 1 | exact | the divisor may be 0 |" in text
    assert "See what the engine itself says:\n\n```sh\ntrtexec --onnx=a.onnx\n```" in text
    assert "| `y` | 1.2e-07 | 3e-06 | equal |" in text


def test_names_cannot_break_out_of_a_cell(samples: Samples) -> None:
    node = NodeRef("a|b\n`c`<img>", 0, "Mod", "", ("y",))
    finding = Finding("r", "op:M|od", Severity.REJECT, node, "says | and *more*", "")
    text = report_markdown(replace(samples["fixed"][0], findings_before=(finding,)), 0)
    row = next(line for line in text.splitlines() if line.startswith("| reject"))
    assert row == (
        "| reject | `op:M\\|od` | 1: a\\|b\\\\n\\`c\\`\\<img\\> | says \\| and \\*more\\* |  "
        "| no pass |"
    )
