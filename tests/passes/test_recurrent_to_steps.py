"""recurrent-to-steps: LSTM, GRU and RNN written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import graphfix
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched

PASS = "recurrent-to-steps"
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
WIDTH, H, B = 3, 2, 2


def model(
    op: str,
    *,
    steps: int | str = 4,
    ways: int = 1,
    bias: bool = True,
    first: bool = True,
    opset: int = 14,
    batch: int | str = B,
    constant: bool = True,
    lengths: bool = False,
    **words: Any,
) -> onnx.ModelProto:
    """Return a graph of one node that gives all its outputs."""
    rng = np.random.default_rng(2)
    gates = GATES[op]
    arrays = {
        "w": rng.standard_normal((ways, gates * H, WIDTH)),
        "r": rng.standard_normal((ways, gates * H, H)),
        "b": rng.standard_normal((ways, 2 * gates * H)),
    }
    stored = [numpy_helper.from_array(v.astype(np.float32), k) for k, v in arrays.items()]
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, batch, WIDTH])]
    names = ["x", "w", "r", "b" if bias else "", "l" if lengths else "", "h" if first else ""]
    states = ["h"] if first else []
    if op == "LSTM" and first:
        names.append("c")
        states.append("c")
    for name in states:
        inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [ways, batch, H]))
    if lengths:
        inputs.append(helper.make_tensor_value_info("l", TensorProto.INT32, [batch]))
    if not constant:
        inputs.append(
            helper.make_tensor_value_info("w", TensorProto.FLOAT, [ways, gates * H, WIDTH])
        )
        stored = stored[1:]
    if not bias:
        stored = stored[:-1]
    outputs = ["y", "y_h", *(["y_c"] if op == "LSTM" else [])]
    shapes = [[steps, ways, batch, H], [ways, batch, H], [ways, batch, H]]
    graph = helper.make_graph(
        [helper.make_node(op, names, outputs, hidden_size=H, **words)],
        "g",
        inputs,
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in zip(outputs, shapes, strict=False)
        ],
        stored,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)


def feed_of(proto: onnx.ModelProto, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    sizes = {"S": 4, "N": 3}
    return {
        info.name: rng.standard_normal(
            [dim.dim_value or sizes[dim.dim_param] for dim in info.type.tensor_type.shape.dim]
        ).astype(np.float32)
        for info in proto.graph.input
    }


def assert_same_numbers(proto: onnx.ModelProto) -> list[str]:
    done = assert_rewrite(PASS, proto, feeds=[feed_of(proto)], rtol=1e-5, atol=1e-6)
    return done.ops


@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("first", [True, False])
def test_directions_and_first_states(op: str, direction: str, first: bool) -> None:
    ways = 2 if direction == "bidirectional" else 1
    ops = assert_same_numbers(model(op, ways=ways, first=first, direction=direction))
    assert op not in ops


@pytest.mark.parametrize("linear", [0, 1])
@pytest.mark.parametrize("first", [True, False])
def test_gru_before_or_behind_the_reset(linear: int, first: bool) -> None:
    assert_same_numbers(model("GRU", linear_before_reset=linear, first=first))


@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
@pytest.mark.parametrize("opset", [7, 13, 22])
def test_without_bias_at_each_opset(op: str, opset: int) -> None:
    assert_same_numbers(model(op, bias=False, opset=opset))


@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_a_dynamic_batch_and_a_single_step(op: str) -> None:
    assert_same_numbers(model(op, batch="N", steps=1))


def test_activations_that_are_named_and_those_of_onnx() -> None:
    assert_same_numbers(model("GRU", activations=["Sigmoid", "Tanh"]))


@given(steps=st.integers(1, 7), seed=st.integers(0, 99))
def test_any_length(steps: int, seed: int) -> None:
    proto = model("GRU", steps=steps)
    assert_rewrite(PASS, proto, feeds=[feed_of(proto, seed)], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (model("GRU", steps="S"), "the length of the sequence must be known"),
        (model("GRU", steps=65), "the length of the sequence must be known"),
        (model("GRU", lengths=True), "lengths of sequences"),
        (model("GRU", clip=1.0), "clip must be left out"),
        (model("LSTM", activations=["Relu", "Tanh", "Tanh"]), "the activations"),
        (model("GRU", constant=False), "the weights of the input"),
    ],
    ids=["open", "long", "lengths", "clip", "activations", "computed"],
)
def test_refused(proto: onnx.ModelProto, reason: str) -> None:
    assert_refused(PASS, proto, reason)


def test_for_a_target_that_takes_no_computed_state() -> None:
    result = graphfix.run(model("GRU"), target="opencv4.10", verify="full")
    assert "GRU" not in [node.op_type for node in result.model.to_proto().graph.node]


def test_leaves_others_alone() -> None:
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Neg (x) }'
    assert_untouched(PASS, text)
