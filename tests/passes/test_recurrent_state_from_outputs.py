"""recurrent-state-from-outputs: the last hidden state as the last step."""

import numpy as np
import pytest
from onnx import parser

import graphfix
from benchmarks.opset.comparison import reference
from graphfix.testing import assert_rewrite

PASS = "recurrent-state-from-outputs"
GATES = {"GRU": 3, "LSTM": 4, "RNN": 1}
RNG = np.random.default_rng(0)


def written(op: str, outputs: str, *, more: str = "", steps: int | str = 5, opset: int = 17,
            operands: str = "x, w, r", inputs: str = "") -> str:  # fmt: skip
    """Return a model of one recurrence; `outputs` are its names, of which y, h and c are given."""
    sides = 2 if "bidirectional" in more else 1
    kinds = {"y": f"float[{steps},{sides},2,4] y", "h": f"float[{sides},2,4] h",
             "c": f"float[{sides},2,4] c"}  # fmt: skip
    ends = ", ".join(kinds[name.strip()] for name in outputs.split(",") if name.strip() in kinds)
    rows = GATES[op] * 4
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g (float[{steps},2,3] x,'
        f" float[{sides},{rows},3] w, float[{sides},{rows},4] r{inputs}) => ({ends})"
        f" {{ {outputs} = {op} <hidden_size = 4{more}> ({operands}) }}"
    )


def fed(op: str, sides: int = 1, steps: int = 5) -> dict[str, np.ndarray]:
    rows = GATES[op] * 4
    shapes = {"x": (steps, 2, 3), "w": (sides, rows, 3), "r": (sides, rows, 4)}
    return {k: RNG.standard_normal(v).astype(np.float32) for k, v in shapes.items()}


@pytest.mark.parametrize("op", ["GRU", "RNN"])
@pytest.mark.parametrize("outputs", ["u, h", ", h"])
@pytest.mark.parametrize("opset", [11, 13, 17])
def test_the_state_alone(op: str, outputs: str, opset: int) -> None:
    text, feed = written(op, outputs, opset=opset), fed(op)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6, no_small_sides="fixed sizes")
    kinds = [node.op_type for node in done.after.graph.node]
    assert kinds == [op, "Gather"]
    (last,) = reference(done.after, feed)
    steps = reference(parser.parse_model(written(op, "y", opset=opset)), feed)[0]
    np.testing.assert_allclose(last, steps[-1], rtol=1e-6)


@pytest.mark.parametrize("direction", ["reverse", "bidirectional"])
def test_other_directions(direction: str) -> None:
    more = f', direction = "{direction}"'
    sides = 2 if direction == "bidirectional" else 1
    text, feed = written("GRU", ", h", more=more), fed("GRU", sides)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6, no_small_sides="fixed sizes")
    np.testing.assert_allclose(
        reference(done.after, feed)[0], reference(parser.parse_model(text), feed)[0], rtol=1e-6
    )


def test_lstm_gets_names() -> None:
    text, feed = written("LSTM", ", h, c"), fed("LSTM")
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=1e-6, no_small_sides="fixed sizes")
    (node,) = done.after.graph.node
    assert all(node.output)


@pytest.mark.parametrize("outputs", ["u, h", ", h"])
def test_it_is_used_for_rknn(outputs: str) -> None:
    text = written("GRU", outputs).replace("float[1,12,3] w, float[1,12,4] r)", ")")
    numbers = {rows: ", ".join(["0.25"] * 12 * rows) for rows in (3, 4)}
    text = text.replace(", )", ")").replace(
        "{ ", f"<float[1,12,3] w = {{{numbers[3]}}}, float[1,12,4] r = {{{numbers[4]}}}> {{ ", 1
    )
    result = graphfix.run(parser.parse_model(text), target="rknn2.3")
    assert result.exit_code == 0
    assert [node.op for node in result.model.graph.nodes] == ["GRU", "Gather"]
