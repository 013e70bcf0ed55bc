"""The next step as a program: whole where a report of 20 lines has room, and never indented."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphfix
from graphfix.engines.interface import NextStep
from graphfix.rendering.html.page import rendered
from graphfix.rendering.html.run_page import run_page
from graphfix.rendering.markdown import report_markdown
from graphfix.rendering.short_lines import MOST
from graphfix.rendering.short_report import short_report
from graphfix.rendering.text_report import report_text
from graphfix.report import Report

Samples = dict[str, tuple[Report, int]]
FIXTURES = Path(__file__).parents[2] / "fixtures"
WHERE = "  -v prints a program that runs the file, --example FILE.py writes it"


def step(lines: int, command: str = "") -> NextStep:
    """A step with a program of so many lines."""
    return NextStep(command, "Convert it", program="".join(f"p{i} = 1\n" for i in range(lines)))


@pytest.mark.parametrize("lines", [3, 6, 9, 11])
@pytest.mark.parametrize("command", ["", "convert a.onnx"])
def test_a_short_program_is_whole(lines: int, command: str) -> None:
    result = graphfix.run(graphfix.load(FIXTURES / "camera.onnx"), target="trt8")
    program = step(lines, command)
    printed = short_report(result.report, 0, step=program).splitlines()
    assert len(printed) <= MOST
    at = printed.index("Next: run it, with arrays of your own")
    assert printed[at + 1 :] == program.program.splitlines()
    assert any(line.startswith("Problems repaired") for line in printed)
    assert any(line.startswith("Repairs") for line in printed)


def test_a_long_program_leaves_the_command() -> None:
    result = graphfix.run(graphfix.load(FIXTURES / "camera.onnx"), target="trt8")
    printed = short_report(result.report, 0, step=step(18, "convert a.onnx")).splitlines()
    assert len(printed) <= MOST
    assert printed[-3:] == ["Next: convert it", "  convert a.onnx", WHERE]
    printed = short_report(result.report, 0, step=step(18)).splitlines()
    assert printed[-2:] == ["Next: convert it", WHERE]


def test_advice_on_what_is_left_goes_first(samples: Samples) -> None:
    printed = short_report(*samples["left"], step=step(3))
    assert "p1 = 1" not in printed
    assert len(printed.splitlines()) <= MOST


def test_whole_reports_have_it(samples: Samples) -> None:
    program = step(30, "convert a.onnx")
    assert "\n".join(program.program.splitlines()) in report_text(*samples["left"], step=program)
    text = report_markdown(*samples["left"], step=program)
    assert "```sh\nconvert a.onnx\n```\n\nRun it, with arrays of your own:\n\n```python\n" in text
    assert program.program in text
    result = graphfix.run(graphfix.load(FIXTURES / "camera.onnx"), target="trt8")
    page = rendered(run_page(result, step=program))
    assert program.program.strip() in page
