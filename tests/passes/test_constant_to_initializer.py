"""constant-to-initializer: every form of Constant, with its value."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from graphfix.testing import assert_rewrite, assert_untouched, outputs_of
from tests.passes.shape_models import in_branch

PASS = "constant-to-initializer"


def of(
    opset: int = 17, ir: int = 8, shape: tuple[int, ...] = (), **attributes: Any
) -> onnx.ModelProto:
    kind = TensorProto.FLOAT if any("float" in name for name in attributes) else TensorProto.INT64
    graph = helper.make_graph(
        [
            helper.make_node("Constant", [], ["k"], **attributes),
            helper.make_node("Identity", ["k"], ["y"]),
        ],
        "g",
        [],
        [helper.make_tensor_value_info("y", kind, shape)],
    )
    return helper.make_model(graph, ir_version=ir, opset_imports=[helper.make_opsetid("", opset)])


@pytest.mark.parametrize("opset", [12, 13, 17, 21])
@pytest.mark.parametrize(
    ("attributes", "wanted"),
    [
        ({"value_int": 3}, np.array(3)),
        ({"value_ints": [1, -2]}, np.array([1, -2])),
        ({"value_float": 0.5}, np.array(0.5, np.float32)),
        ({"value_floats": [0.5, 2.0]}, np.array([0.5, 2], np.float32)),
    ],
)
def test_the_short_forms(opset: int, attributes: dict[str, Any], wanted: Any) -> None:
    model = of(opset, shape=wanted.shape, **attributes)
    done = assert_rewrite(PASS, model, feeds=[{}], after=["Identity"])
    stored = done.after.graph.initializer[0]
    assert stored.name == "k"
    np.testing.assert_array_equal(numpy_helper.to_array(stored), wanted)
    assert numpy_helper.to_array(stored).dtype == wanted.dtype


@pytest.mark.parametrize("opset", [7, 9, 13])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "int8", "bool", "uint64"])
def test_a_tensor(opset: int, dtype: str) -> None:
    values = np.array([[0, 1], [1, 0]]).astype(dtype)
    model = of(opset, shape=(2, 2), value=numpy_helper.from_array(values))
    model.graph.output[0].type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(values.dtype)
    done = assert_rewrite(PASS, model, feeds=[{}], after=["Identity"])
    np.testing.assert_array_equal(outputs_of(done.after, {})["y"], values)


def test_a_sparse_value_becomes_dense() -> None:
    values = helper.make_tensor("v", TensorProto.INT64, [2], [5, 7])
    indices = helper.make_tensor("i", TensorProto.INT64, [2], [1, 3])
    model = of(shape=(4,), sparse_value=helper.make_sparse_tensor(values, indices, [4]))
    done = assert_rewrite(PASS, model, feeds=[{}], after=["Identity"])
    assert numpy_helper.to_array(done.after.graph.initializer[0]).tolist() == [0, 5, 0, 7]


def test_ir_3_keeps_nodes_in_the_long_form() -> None:
    assert_untouched(PASS, of(8, ir=3, value=numpy_helper.from_array(np.array(4))))
    model = of(12, ir=3, value_int=4)
    done = assert_rewrite(PASS, model, feeds=[{}], after=["Constant", "Identity"])
    node = done.after.graph.node[0]
    assert [(a.name, numpy_helper.to_array(a.t).tolist()) for a in node.attribute] == [("value", 4)]
    assert node.output[0] == "k"


def test_in_branches() -> None:
    line = "LOCALk = Constant <value = float {2.0}> () LOCALr = Mul (x, LOCALk)"
    one = {"x": np.array([1, 2], np.float32), "c": np.array(True)}
    done = assert_rewrite(PASS, in_branch(line, "float[2]", "float[2]"), feeds=[one])
    for attribute in done.after.graph.node[0].attribute:
        assert [t.float_data[:] or numpy_helper.to_array(t) for t in attribute.g.initializer] == [
            2.0
        ]


@given(values=st.lists(st.integers(-(2**40), 2**40), max_size=6))
def test_any_integers(values: list[int]) -> None:
    model = of(shape=(len(values),), value=numpy_helper.from_array(np.array(values, np.int64)))
    done = assert_rewrite(PASS, model, feeds=[{}], after=["Identity"])
    assert outputs_of(done.after, {})["y"].tolist() == values
