"""batch-normalization-folding: into Conv, ConvTranspose and Gemm."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, helper

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched
from tests.passes.fusing import assert_proved, drawn

PASS = "batch-normalization-folding"
LINEAR: dict[str, tuple[str, tuple[int, ...], dict[str, Any]]] = {
    "conv": ("Conv", (6, 2, 3, 3), {"group": 2, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "plain conv": ("Conv", (6, 4, 3, 3), {}),
    "transposed": ("ConvTranspose", (4, 3, 3, 3), {"group": 2, "output_padding": [1, 1],
                                                   "strides": [2, 2]}),
    "gemm": ("Gemm", (4, 6), {"alpha": 0.5, "beta": 2.0}),
    "gemm of a transposed": ("Gemm", (6, 4), {"transB": 1}),
}  # fmt: skip


def model(name: str, *, bias: bool = True, opset: int = 15, variance: float = 0.5) -> ModelProto:
    op, shape, attributes = LINEAR[name]
    rank = 2 if op == "Gemm" else 4
    dims: list[str | int] = ["N", 4] if rank == 2 else ["N", 4, 7, 9]
    arrays = {"w": drawn(shape, seed=1), **({"b": drawn((6,), seed=2)} if bias else {})}
    parameters = {"scale": drawn((6,), seed=3), "offset": drawn((6,), seed=4)}
    parameters["mean"] = drawn((6,), seed=5)
    parameters["variance"] = np.abs(drawn((6,), seed=6)) + np.float32(variance)
    nodes = [
        helper.make_node(op, ["x", *arrays], ["c"], **attributes),
        helper.make_node("BatchNormalization", ["c", *parameters], ["y"], epsilon=1e-3),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, dims)],
        [helper.make_tensor_value_info("y", 1, [None] * rank)],
        [onnx.numpy_helper.from_array(a, n) for n, a in {**arrays, **parameters}.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", LINEAR)
def test_values(name: str, *, bias: bool) -> None:
    x = drawn((2, 4) if "gemm" in name else (2, 4, 7, 9))
    given = model(name, bias=bias)
    op = LINEAR[name][0]
    done = assert_rewrite(PASS, given, feeds=[{"x": x}], after=[op], rtol=1e-4, atol=1e-4)
    before = {a.name: helper.get_attribute_value(a) for a in given.graph.node[0].attribute}
    after = {a.name: helper.get_attribute_value(a) for a in done.after.graph.node[0].attribute}
    assert after == ({**before, "beta": 1.0} if op == "Gemm" else before)
    assert assert_proved(PASS, given) == [op]


def test_opset_9() -> None:
    given = model("conv", opset=9)
    assert_rewrite(PASS, given, feeds=[{"x": drawn((1, 4, 7, 9))}], rtol=1e-4, atol=1e-4)


def test_refusals_and_others() -> None:
    assert_refused(PASS, model("conv", variance=-9.0), "the variance must be positive")
    given = model("plain conv")
    given.graph.input.append(helper.make_tensor_value_info("w", 1, [6, 4, 3, 3]))
    del given.graph.initializer[0]
    assert_unmatched(PASS, given, "input 1 of Conv 'c' must be a constant; it is 'w', an input")
    given = model("plain conv")
    given.graph.output.append(helper.make_tensor_value_info("c", 1, None))
    assert_unmatched(PASS, given, "'c' inside of it is an output")


@given(st.lists(st.floats(0.0009765625, 64, width=32), min_size=6, max_size=6))
def test_any_variance(numbers: list[float]) -> None:
    given = model("plain conv")
    names = [initializer.name for initializer in given.graph.initializer]
    variance = onnx.numpy_helper.from_array(np.array(numbers, np.float32), "variance")
    given.graph.initializer[names.index("variance")].CopyFrom(variance)
    assert_rewrite(PASS, given, feeds=[{"x": drawn((1, 4, 7, 9))}], rtol=1e-4, atol=2e-3)
