"""The engine of docs/learn.md that is real, learned by the program that it shows."""

from __future__ import annotations

import json
import re
from pathlib import Path

import onnx

from tests.learning.test_learn import Machine

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


def test_what_the_evaluator_of_onnx_computes_differently_is_found(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (tmp_path / "reference.py").write_text(program(), encoding="utf-8")
    words = ("--program", "reference.py", "--only", "Relu,GlobalMaxPool")
    done = machine.run("learn", "reference", *words)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert f"as the target {TARGET}" in text
    assert "wrong GlobalMaxPool (rank: 3, 5" in text
    for shape, out, code in (("2, 3, 8", "2, 3, 1", 1), ("2, 3, 8, 8", "2, 3, 1, 1", 0)):
        model = machine.model("model.onnx", POOL.format(shape=shape, out=out))
        checked = machine.run("check", model, "--target", TARGET, "--json")
        assert checked.returncode == code, checked.stderr
        found = json.loads(checked.stdout)["findings"]
        assert [(f["severity"], f["node"]["op"]) for f in found] == [
            ("wrong", "GlobalMaxPool")
        ] * code
