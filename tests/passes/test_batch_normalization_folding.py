"""batch-normalization-folding: into Conv, ConvTranspose and Gemm."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, helper

from graphfix.testing import assert_refused, assert_rewrite, assert_unmatched, parse, run_pass
from tests.passes.fusing import ROOM, TYPES, assert_proved, drawn

PASS = "batch-normalization-folding"
LINEAR: dict[str, tuple[str, tuple[int, ...], dict[str, Any]]] = {
    "conv": ("Conv", (6, 2, 3, 3), {"group": 2, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "plain conv": ("Conv", (6, 4, 3, 3), {}),
    "transposed": ("ConvTranspose", (4, 3, 3, 3), {"group": 2, "output_padding": [1, 1],
                                                   "strides": [2, 2]}),
    "gemm": ("Gemm", (4, 6), {"alpha": 0.5, "beta": 2.0}),
    "gemm of a transposed": ("Gemm", (6, 4), {"transB": 1}),
}  # fmt: skip


def model(
    name: str, *, bias: bool = True, opset: int = 15, variance: float = 0.5, dtype: str = "float"
) -> ModelProto:
    op, shape, attributes = LINEAR[name]
    rank = 2 if op == "Gemm" else 4
    dims: list[str | int] = ["N", 4] if rank == 2 else ["N", 4, 7, 9]
    arrays = {"w": drawn(shape, dtype, 1), **({"b": drawn((6,), dtype, 2)} if bias else {})}
    parameters = {"scale": drawn((6,), dtype, 3), "offset": drawn((6,), dtype, 4)}
    parameters["mean"] = drawn((6,), dtype, 5)
    parameters["variance"] = np.abs(drawn((6,), dtype, 6)) + TYPES[dtype](variance)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[dtype]))
    nodes = [
        helper.make_node(op, ["x", *arrays], ["c"], **attributes),
        helper.make_node("BatchNormalization", ["c", *parameters], ["y"], epsilon=1e-3),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", kind, dims)],
        [helper.make_tensor_value_info("y", kind, [None] * rank)],
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


def test_float16() -> None:
    given, room = model("plain conv", dtype="float16"), 4 * ROOM["float16"]
    feed = {"x": drawn((2, 4, 7, 9), "float16") / np.float16(4)}
    assert_rewrite(PASS, given, feeds=[feed], after=["Conv"], rtol=room, atol=room)


def test_in_a_branch() -> None:
    inner = model("plain conv")
    outer = parse("""<ir_version: 8, opset_import: ["" : 15]>
        g (bool t, float[N, 4, 7, 9] x) => (float[N, 6, P, Q] y)
        { y = If (t) <then_branch = a () => (float[N, 6, P, Q] o) { o = Neg (x) },
                      else_branch = e () => (float[N, 4, 7, 9] p) { p = Neg (x) }> }""")
    branch = outer.graph.node[0].attribute[0].g
    del branch.node[:]
    branch.node.extend(inner.graph.node)
    branch.initializer.extend(inner.graph.initializer)
    branch.node[-1].output[0] = branch.output[0].name
    feed = {"x": drawn((2, 4, 7, 9)), "t": np.array(True)}
    done = assert_rewrite(PASS, outer, feeds=[feed], rtol=1e-4, atol=1e-4)
    found = done.after.graph.node[0].attribute[0].g
    assert [node.op_type for node in found.node] == ["Conv"]


def test_refusals_and_others() -> None:
    assert_refused(
        PASS,
        model("conv", variance=-9.0),
        "variance plus epsilon must be positive; the least variance is -8.86203",
    )
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


def test_before_opset_7_it_trains_unless_the_file_says_differently() -> None:
    trained = model("plain conv", opset=6)
    assert_refused(PASS, trained, "the node must use its statistics, by channel")
    for node in trained.graph.node[1:]:
        node.attribute.add(name="is_test", type=onnx.AttributeProto.INT, i=1)
    done = run_pass(PASS, trained)
    assert [node.op_type for node in done.after.graph.node] == ["Conv"]
