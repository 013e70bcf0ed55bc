"""A fleet at work: a live table and a bar on a terminal, lines elsewhere, nothing for programs."""

from __future__ import annotations

import io
import re
import sys

import pytest

from graphfix.batch.jobs import Row
from graphfix.cli.fleet_progress import telling


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def row(name: str, target: str, code: int, message: str = "") -> Row:
    key = f"{name} {target}"
    return Row(key=key, name=name, model=name, target=target, exit=code, message=message)


def tell_all() -> None:
    with telling(("trt8.6", "ort-1.10"), 4, quiet=False) as reported:
        reported(row("a", "trt8.6", 0), 1, 4)
        reported(row("b", "trt8.6", 3, "not an ONNX model"), 2, 4)
        reported(row("[red]c", "ort-1.10", 0), 3, 4)


def test_a_terminal_shows_a_table_by_target_and_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    tell_all()
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    last = shown[shown.rindex("done now") :].split("\n")
    assert last[0].split() == ["done", "now", "fine", "unreadable"]
    assert last[1].split() == ["trt8.6", "1", "1"]
    assert last[2].split() == ["ort-1.10", "1", "0"]
    assert "3/4" in shown
    assert "[red]c" in shown
    assert "not an ONNX model" in shown


def test_elsewhere_each_row_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    tell_all()
    said = capsys.readouterr().err.splitlines()
    assert [line.split()[:3] for line in said] == [
        ["1/4", "trt8.6", "OK"],
        ["2/4", "trt8.6", "UNREADABLE"],
        ["3/4", "ort-1.10", "OK"],
    ]


def test_programs_are_reported_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with telling(("trt8.6",), 1, quiet=True) as reported:
        reported(row("a", "trt8.6", 0), 1, 1)
    assert capsys.readouterr().err == ""
