"""docs/batch.md: every command of the page runs, and continues where the one before was."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import onnx
import pytest

from graphfix.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "batch.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```\n(graphfix .*)\n```$", PAGE, re.MULTILINE)


def test_each_command_runs_and_does_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "g (int64[N] x) => (int64[N] y) <int64 c = {3}> { y = Mod (x, c) }"
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "net.onnx").write_bytes(model.SerializeToString())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said: list[str] = []
    for command in COMMANDS:
        problems = int(command.startswith("graphfix check"))  # Mod is one
        assert main(shlex.split(command)[1:]) == problems, capsys.readouterr()
        said.append(capsys.readouterr().out)
    assert "2 runs made, 0 known from before" in said[0]
    assert "0 runs made, 2 known from before" in said[1]
    assert Path("fleet.html").is_file()
    assert Path("fleet.json").is_file()
