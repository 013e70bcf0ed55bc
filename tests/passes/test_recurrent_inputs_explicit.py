"""recurrent-inputs-explicit: zeros for what ONNX lets out."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "recurrent-inputs-explicit"
RNG = np.random.default_rng(11)
GATES = {"LSTM": 4, "GRU": 3}


def body(op: str, given: str, directions: int = 1, dtype: str = "float") -> str:
    gates = GATES[op]
    lines: list[str] = []
    for name, columns in (("w", 3), ("r", 2)):
        sizes = (directions, gates * 2, columns)
        numbers = ", ".join(f"{n:.3f}" for n in RNG.standard_normal(int(np.prod(sizes))))
        kind = f"{dtype}[{sizes[0]},{sizes[1]},{columns}]"
        lines.append(f"@{name} = Constant <value = {kind} {{{numbers}}}> ()")
    outputs = "@y, @h, @s" if op == "LSTM" else "@y, @h"
    more = ', direction = "bidirectional"' if directions == 2 else ""
    lines.append(f"{outputs} = {op} <hidden_size = 2{more}> (x, @w, @r{given})")
    return "\n".join(lines)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [7, 14, 17])
@pytest.mark.parametrize("op", sorted(GATES))
@pytest.mark.parametrize("directions", [1, 2])
def test_all_left_out(directions: int, op: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(
        body(op, "", directions),
        "float[T,3,3] x",
        f"float[T,{directions},3,2]",
        opset=opset,
        place=place,
    )
    feed: dict[str, Any] = {"x": RNG.standard_normal((4, 3, 3)).astype(np.float32)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        node = next(node for node in done.after.graph.node if node.op_type == op)
        empty = [index for index, name in enumerate(node.input) if not name]
        assert empty == [4]
        assert len(node.input) == (7 if op == "LSTM" else 6)


def test_one_state_is_given() -> None:
    text = written(body("LSTM", ", , , , x1"), "float[4,3,3] x, float[1,3,2] x1", "float[4,1,3,2]")
    feed = {
        "x": RNG.standard_normal((4, 3, 3)).astype(np.float32),
        "x1": RNG.standard_normal((1, 3, 2)).astype(np.float32),
    }
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    node = next(node for node in done.after.graph.node if node.op_type == "LSTM")
    assert node.input[6] == "x1"
