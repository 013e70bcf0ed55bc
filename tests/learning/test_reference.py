"""The engine of docs/learn.md that is real, learned by the program that it shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import onnx
import pytest

from graphfix.cli import main
from graphfix.testing import parse

GUIDE = Path(__file__).parents[2] / "docs" / "learn.md"
TARGET = f"reference{'.'.join(onnx.__version__.split('.')[:2])}"
POOL = (
    '<ir_version: 8, opset_import: ["": 17]> g (float[{shape}] x) => (float[{out}] y) '
    "{{ a = Relu (x) y = GlobalMaxPool (a) }}"
)


def program() -> str:
    section = GUIDE.read_text(encoding="utf-8").partition("## A real one")[2]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


def test_what_the_evaluator_of_onnx_computes_differently_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHFIX_LEARNED", str(tmp_path / "learned"))
    Path("reference.py").write_text(program(), encoding="utf-8")
    words = ["learn", "reference", "--program", "reference.py", "--only", "Relu,GlobalMaxPool"]
    assert main(words) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"as the target {TARGET}" in text
    assert "wrong GlobalMaxPool (rank: 3, 5" in text
    for shape, out, code in (("2, 3, 8", "2, 3, 1", 1), ("2, 3, 8, 8", "2, 3, 1, 1", 0)):
        model = parse(POOL.format(shape=shape, out=out))
        Path("model.onnx").write_bytes(model.SerializeToString())
        assert main(["check", "model.onnx", "--target", TARGET, "--json"]) == code
        found = json.loads(capsys.readouterr().out)["findings"]
        assert [(f["severity"], f["node"]["op"]) for f in found] == [
            ("wrong", "GlobalMaxPool")
        ] * code
