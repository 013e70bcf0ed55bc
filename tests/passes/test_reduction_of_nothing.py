"""reduction-of-nothing: the constant that an empty tensor is reduced to."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass

PASS = "reduction-of-nothing"
TYPES = {"float": np.float32, "int32": np.int32, "int8": np.int8, "bool": np.bool_}


def _model(
    op: str, kind: str = "float", *, axis: int = 1, keep: int = 1, shape: str = "2,0,4"
) -> str:
    return (
        f'<ir_version: 9, opset_import: ["" : 20]> g ({kind}[{shape}] x) => '
        f"({kind}[{'a, b, c' if keep else 'a, b'}] y) <int64[1] i = {{{axis}}}> "
        f"{{ y = {op} <keepdims = {keep}> (x, i) }}"
    )


def _given(model: str, kind: str = "float") -> np.ndarray[Any, Any]:
    done = run_pass(PASS, model)
    assert done.ops == ["Identity"]
    y: np.ndarray[Any, Any] = outputs_of(done.after, {"x": np.zeros((2, 0, 4), TYPES[kind])})["y"]
    return y


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize(
    ("op", "kind", "wanted"),
    [
        *((op, "float", 0) for op in ("ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare")),
        *((op, "float", -np.inf) for op in ("ReduceLogSum", "ReduceLogSumExp", "ReduceMax")),
        *(("ReduceProd", "float", 1), ("ReduceMin", "float", np.inf)),
        *(("ReduceMax", "int32", -(2**31)), ("ReduceMin", "int8", 127)),
        *(("ReduceMax", "bool", False), ("ReduceMin", "bool", True)),
    ],
)
def test_what_is_left_of_no_numbers(op: str, kind: str, wanted: Any, keep: int) -> None:
    given = _given(_model(op, kind, keep=keep), kind)
    assert given.shape == ((2, 1, 4) if keep else (2, 4))
    assert given.dtype == TYPES[kind]
    assert set(given.reshape(-1).tolist()) == {wanted}


def test_an_axis_next_to_the_empty_one_is_reduced_to_1() -> None:
    assert _given(_model("ReduceMean", axis=-1)).shape == (2, 0, 1)
    assert _given(_model("ReduceMax", axis=0, keep=0)).shape == (0, 4)


def test_computed_axes_are_reported_by_a_result_of_known_size() -> None:
    late = '<ir_version: 9, opset_import: ["" : 20]> g (float[2,0] x, int64[1] i) '
    late += "=> (float[2,1] y) "
    done = run_pass(PASS, late + "{ y = ReduceMax (x, i) }")
    feed = {"x": np.zeros((2, 0), np.float32), "i": np.array([1])}
    assert outputs_of(done.after, feed)["y"].tolist() == [[-np.inf], [-np.inf]]
