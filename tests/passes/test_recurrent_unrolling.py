"""recurrent-unrolling: LSTM, GRU and RNN step by step."""

from typing import Any

import hypothesis
import numpy as np
import onnx
import pytest
from hypothesis import strategies as st

import graphfix
from graphfix.report import Status
from graphfix.testing import assert_rewrite, run_pass
from tests.passes.lowering_models import written

PASS = "recurrent-unrolling"
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
SMALL = "onnxruntime runs no sequence without steps"
STEPS, BATCH, WIDE, HIDDEN = 3, 2, 4, 2


def model(op: str, *, given: str = "", ways: int = 1, rest: str = "", **named: Any) -> str:
    """Return a model with outputs y, h and, of an LSTM, c; `rest` are inputs after the three."""
    rows = GATES[op] * HIDDEN
    inputs = f"float[3,2,4] x, float[{ways},{rows},4] w, float[{ways},{rows},2] r"
    names = ["b", "l", "h0", "c0"]
    sizes = [f"float[{ways},{2 * rows}]", "int32[2]", *[f"float[{ways},2,2]"] * 2]
    used = rest.replace(" ", "").split(",") if rest else []
    inputs += "".join(f", {sizes[names.index(n)]} {n}" for n in used if n)
    states = "@h, @c" if op == "LSTM" else "@h"
    sums = "@a = Add (@h, @c)" if op == "LSTM" else "@a = Identity (@h)"
    body = f"@z, {states} = {op} <hidden_size = 2{given}> (x, w, r{', ' + rest if rest else ''})"
    body += f" {sums} @y = Add (@z, @a)"
    return written(body, inputs, f"float[3,{ways},2,2]", **named)


def feed(op: str, ways: int = 1) -> dict[str, np.ndarray[Any, Any]]:
    rng, rows = np.random.default_rng(0), GATES[op] * HIDDEN
    sizes = {
        "x": (STEPS, BATCH, WIDE),
        "w": (ways, rows, WIDE),
        "r": (ways, rows, HIDDEN),
        "b": (ways, 2 * rows),
        "h0": (ways, BATCH, HIDDEN),
        "c0": (ways, BATCH, HIDDEN),
    }
    return {name: rng.standard_normal(size).astype(np.float32) for name, size in sizes.items()}


def run(op: str, text: str, ways: int = 1) -> None:
    names = set(text.partition("(")[2].partition(")")[0].replace(",", " ").split())
    given = {name: array for name, array in feed(op, ways).items() if name in names}
    done = assert_rewrite(PASS, text, feeds=[given], no_small_sides=SMALL, rtol=1e-5, atol=1e-6)
    assert op not in done.ops


@pytest.mark.parametrize("op", sorted(GATES))
@pytest.mark.parametrize("opset", [7, 9, 13, 14, 22])
def test_each_cell_at_each_form(opset: int, op: str) -> None:
    run(op, model(op, opset=opset))


@pytest.mark.parametrize("op", sorted(GATES))
@pytest.mark.parametrize("rest", ["b", "b, , h0", ", , h0"])
def test_biases_and_first_states(op: str, rest: str) -> None:
    run(op, model(op, rest=rest))


def test_the_first_cell_of_an_lstm() -> None:
    run("LSTM", model("LSTM", rest="b, , h0, c0"))
    run("LSTM", model("LSTM", rest=", , , c0"))


@pytest.mark.parametrize("op", sorted(GATES))
@pytest.mark.parametrize(("direction", "ways"), [("reverse", 1), ("bidirectional", 2)])
def test_directions(direction: str, ways: int, op: str) -> None:
    given = f', direction = "{direction}"'
    run(op, model(op, given=given, ways=ways, rest="b, , h0"), ways)


@pytest.mark.parametrize("rest", ["", "b"])
def test_a_gru_that_multiplies_before_it_resets(rest: str) -> None:
    run("GRU", model("GRU", given=", linear_before_reset = 1", rest=rest))


@pytest.mark.parametrize("op", sorted(GATES))
def test_usual_activations_that_are_written(op: str) -> None:
    usual = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
    names = ", ".join(f'"{name}"' for name in usual[op])
    run(op, model(op, given=f", activations = [{names}]"))


@pytest.mark.parametrize(
    ("op", "names"),
    [
        ("RNN", ["Relu", "Softplus"]),
        ("GRU", ["HardSigmoid", "Relu", "Softplus", "Softsign"]),
        ("LSTM", ["HardSigmoid", "Softsign", "Relu", "Sigmoid", "Tanh", "Softsign"]),
    ],
)
def test_other_activations_of_each_direction(op: str, names: list[str]) -> None:
    listed = ", ".join(f'"{name}"' for name in names)
    given = f', direction = "bidirectional", activations = [{listed}]'
    run(op, model(op, given=given, ways=2, rest="b, , h0"), 2)


def test_only_outputs_that_are_there() -> None:
    body = "@z = LSTM <hidden_size = 2> (x, w, r) @y = Neg (@z)"
    inputs = "float[3,2,4] x, float[1,8,4] w, float[1,8,2] r"
    run("LSTM", written(body, inputs, "float[3,1,2,2]"))
    body = "@n, @z = GRU <hidden_size = 2> (x, w, r) @y = Neg (@z)".replace("@n", '""')
    inputs = "float[3,2,4] x, float[1,6,4] w, float[1,6,2] r"
    run("GRU", written(body, inputs, "float[1,2,2]"))


def stored(
    op: str, steps: int, batch: str, ways: int = 1, direction: str = "forward"
) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """Return a model whose weights are constants, and a feed of three sequences."""
    given = f', direction = "{direction}"'
    text = model(op, given=given, ways=ways, rest="b, , h0")
    text = text.replace("float[3,2,4] x", f"float[{steps},{batch},4] x")
    text = text.replace(f"float[{ways},2,2] h0", f"float[{ways},{batch},2] h0")
    text = text.replace(f"float[3,{ways},2,2]", f"float[{steps},{ways},{batch},2]")
    proto, numbers = onnx.parser.parse_model(text), feed(op, ways)
    for name in ("w", "r", "b"):
        proto.graph.initializer.append(onnx.numpy_helper.from_array(numbers[name], name))
    kept = [info for info in proto.graph.input if info.name in ("x", "h0")]
    del proto.graph.input[:]
    proto.graph.input.extend(kept)
    rng = np.random.default_rng(steps)
    sizes = {"x": (steps, 3, WIDE), "h0": (ways, 3, HIDDEN)}
    return proto, {n: rng.standard_normal(s).astype(np.float32) for n, s in sizes.items()}


@pytest.mark.parametrize("op", sorted(GATES))
@pytest.mark.parametrize(
    ("direction", "ways"), [("forward", 1), ("reverse", 1), ("bidirectional", 2)]
)
def test_an_open_batch_and_stored_weights(direction: str, ways: int, op: str) -> None:
    proto, numbers = stored(op, 4, "N", ways, direction)
    assert_rewrite(PASS, proto, feeds=[numbers], rtol=1e-5, atol=1e-6, no_small_sides=SMALL)


@hypothesis.given(st.integers(1, 7))
def test_any_length(steps: int) -> None:
    proto, numbers = stored("GRU", steps, "3")
    assert_rewrite(PASS, proto, feeds=[numbers], rtol=1e-5, atol=1e-6)


def test_for_a_target_that_takes_no_computed_state() -> None:
    proto, _ = stored("GRU", 4, "2")
    result = graphfix.run(proto, target="opencv4.10", verify="full")
    assert "GRU" not in [node.op_type for node in result.model.to_proto().graph.node]


def test_more_steps_where_they_are_asked_for() -> None:
    text = model("RNN").replace("float[3,2,4] x", "float[129,2,4] x")
    text = text.replace("float[3,1", "float[129,1")
    done = run_pass(PASS, text, options={"max_steps": 200})
    assert done.with_status(Status.APPLIED)
    assert done.ops.count("Tanh") == 129
