"""docs/looking.md: every command of the page runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper, parser

from graphfix.cli import main
from graphfix.testing import outputs_of
from tests.docs.test_edit_page import NET

PAGE = (Path(__file__).parents[2] / "docs" / "looking.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, text in BLOCKS if not kind for line in text.splitlines()]


def test_each_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    net = parser.parse_model(NET)
    Path("net.onnx").write_bytes(net.SerializeToString())
    rng = np.random.default_rng(0)
    feed: dict[str, Any] = {
        "x": rng.normal(size=(2, 3, 8, 8)).astype(np.float32),
        "scale": np.array([2], np.float32),
    }
    given = outputs_of(net, feed)
    np.savez("expected.npz", **feed, **given)
    Path("test_data_set_0").mkdir()
    arrays = {"input_0": feed["x"], "input_1": feed["scale"], "output_0": given["y"]}
    for name, array in arrays.items():
        path = Path("test_data_set_0") / f"{name}.pb"
        path.write_bytes(numpy_helper.from_array(array).SerializeToString())
    assert len(COMMANDS) == 10
    for command in COMMANDS:
        words = shlex.split(command)
        assert words[0] == "graphfix"
        assert main(words[1:]) == 0, (command, capsys.readouterr())
    said = capsys.readouterr().out
    assert "Numbers that are stored where a node takes sizes or places" in said
    assert "expected.npz: equal" in said
