"""sparse-initializer-to-dense: every layout of places and every type, held to numpy."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, helper, numpy_helper, parser

from graphfix.testing import assert_rewrite, outputs_of

PASS = "sparse-initializer-to-dense"
Array = np.ndarray[Any, Any]
PLAIN = '<ir_version: 8, opset_import: ["" : 17]> g (%s[2,3] x) => (%s[2,3] y) { y = Add (x, k) }'


def _sparse(dense: Array, *, flat: bool) -> onnx.SparseTensorProto:
    places = np.flatnonzero(dense) if flat else np.argwhere(dense)
    values = numpy_helper.from_array(dense[dense != 0], "k")
    stored = numpy_helper.from_array(places.astype(np.int64), "places")
    return helper.make_sparse_tensor(values, stored, list(dense.shape))


def _model(dense: Array, *, flat: bool = True, kind: str = "float") -> ModelProto:
    model = parser.parse_model(PLAIN % (kind, kind))
    model.graph.sparse_initializer.append(_sparse(dense, flat=flat))
    return model


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize(
    ("kind", "dtype"),
    [("float", "float32"), ("double", "float64"), ("int32", "int32"), ("int64", "int64")],
)
def test_values(kind: str, dtype: str, *, flat: bool) -> None:
    dense: Array = np.array([[0, 2, 0], [-3, 0, 5]]).astype(dtype)
    x: Array = np.arange(6).reshape(2, 3).astype(dtype)
    done = assert_rewrite(PASS, _model(dense, flat=flat, kind=kind), feeds=[{"x": x}])
    graph = done.after.graph
    assert not graph.sparse_initializer
    (stored,) = graph.initializer
    np.testing.assert_array_equal(numpy_helper.to_array(stored), dense)
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["y"], x + dense)


def test_a_single_number() -> None:
    model = _model(np.array([[0, 0, 1], [0, 0, 0]], np.float32))
    done = assert_rewrite(PASS, model, feeds=[{"x": np.ones((2, 3), np.float32)}])
    assert numpy_helper.to_array(done.after.graph.initializer[0]).sum() == 1


def test_what_may_be_fed_stays_so() -> None:
    model = _model(np.array([[0, 2, 0], [-3, 0, 5]], np.float32))
    model.graph.input.append(helper.make_tensor_value_info("k", 1, [2, 3]))
    x = np.ones((2, 3), np.float32)
    done = assert_rewrite(PASS, model, feeds=[{"x": x}])
    assert [info.name for info in done.after.graph.input] == ["x", "k"]
    given = outputs_of(done.after, {"x": x, "k": x})["y"]
    assert given.tolist() == [[2, 2, 2], [2, 2, 2]]
