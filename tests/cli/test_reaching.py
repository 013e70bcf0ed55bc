"""How low the opset of a model can go: `graphfix inspect --reach`."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from onnx import ModelProto

from graphfix.cli import main
from graphfix.pipeline.reach import reach_of

DIAGONAL = 'y = Einsum<equation = "ii->i">(x)'
BLOCKED = "Slice, which it becomes on the way: steps must be a constant; it is computed at run time"


def saved(folder: Path, body: str, opset: int = 17) -> Path:
    proto: ModelProto = onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : {opset}]> '
        f"g (float[n,n] x) => (float[n] y) {{ {body} }}"
    )
    path = folder / "m.onnx"
    path.write_bytes(proto.SerializeToString())
    return path


def test_the_node_blocking_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path, DIAGONAL)
    before = path.read_bytes()
    found = reach_of(path)
    assert found.lowest == 10
    assert [(b.node.op, b.reason) for b in found.blockers] == [("Einsum", BLOCKED)]
    assert path.read_bytes() == before


def test_nothing_blocking(tmp_path: Path) -> None:
    found = reach_of(saved(tmp_path, "a = HardSwish(x) y = ReduceMax<axes = [1], keepdims = 0>(a)"))
    assert (found.lowest, found.blockers) == (7, ())


def test_the_command_shows_it_where_it_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(saved(tmp_path, DIAGONAL))

    def said(*words: str) -> str:
        assert main(["inspect", path, *words]) == 0
        return capsys.readouterr().out

    assert "down to opset" not in said()
    shown = said("--reach")
    assert "down to opset 10: `graphfix run MODEL --opset 10`" in shown
    assert "What blocks a lower opset" in shown
    assert BLOCKED in " ".join(shown.split())
    assert "reach" not in json.loads(said("--json"))
    reach = json.loads(said("--reach", "--json"))["reach"]
    assert reach["lowest_opset"] == 10
    [blocker] = reach["blockers"]
    assert (blocker["node"]["op"], blocker["node"]["index"]) == ("Einsum", 0)
    assert blocker["reason"] == BLOCKED
