"""The help of the program itself: its examples stand line by line, and every exit code is there."""

from __future__ import annotations

import pytest

from graphfix.cli import main


def test_examples_stand_on_lines_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert "\\b" not in said
    assert "\n    graphfix check model.onnx --target trt8    what stands in the way\n" in said
    assert "\n    graphfix run model.onnx --target trt8      repair, verify, write\n" in said
    assert "130 Ctrl-C" in said


WITH_CODES = (
    "run",
    "batch",
    "check",
    "edit",
    "compare",
    "diff",
    "bisect",
    "reduce",
    "replay",
    "inspect",
    "explain",
    "view",
)


@pytest.mark.parametrize("command", WITH_CODES)
def test_each_command_tells_its_exit_codes(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    codes = said.partition("Exit codes: ")[2].partition("Options:")[0]
    for wanted in ("0 ", "; 2 wrong usage", "; 3 ", "; 5 a fault in graphfix", "; 130 Ctrl-C"):
        assert wanted in codes, codes
