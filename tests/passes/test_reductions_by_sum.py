"""reductions-by-sum: float64 and int64, held to numpy."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of

PASS = "reductions-by-sum"
Array = np.ndarray[Any, Any]
_NUMPY: dict[str, Callable[[Array], Array]] = {
    "ReduceL1": lambda x: np.abs(x).sum(1),
    "ReduceL2": lambda x: np.sqrt((x * x).sum(1)),
    "ReduceLogSum": lambda x: np.log(x.sum(1)),
    "ReduceProd": lambda x: x.prod(1),
    "ReduceSumSquare": lambda x: (x * x).sum(1),
    "ReduceMean": lambda x: np.trunc(x.sum(1) / x.shape[1]).astype(x.dtype),
}


def _model(op: str, kind: str, opset: int, shape: str = "[2, 5, 3]", keep: int = 1) -> str:
    head = f'<ir_version: 8, opset_import: ["" : {opset}]> g ({kind}{shape} x) => '
    result = "[a, b, c]" if keep else "[a, b]"
    if opset >= 18:
        return (
            f"{head}({kind}{result} y) <int64[1] i = {{-2}}> "
            f"{{ y = {op} <keepdims = {keep}> (x, i) }}"
        )
    return f"{head}({kind}{result} y) {{ y = {op} <axes = [-2], keepdims = {keep}> (x) }}"


@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize("opset", [7, 11, 13, 18])
@pytest.mark.parametrize(
    ("op", "kind"),
    [
        *((op, "double") for op in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceProd")),
        *((op, "int64") for op in ("ReduceL1", "ReduceSumSquare", "ReduceMean")),
    ],
)
def test_each_is_what_numpy_gives(op: str, kind: str, opset: int, keep: int) -> None:
    rng = np.random.default_rng(0)
    x: Array = rng.integers(-9, 10, (2, 5, 3)).astype(np.int64)
    if kind == "double":
        x = rng.random((2, 5, 3)) + 0.5
    done = assert_rewrite(PASS, _model(op, kind, opset, keep=keep), feeds=[{"x": x}], rtol=1e-12)
    given = outputs_of(done.after, {"x": x})["y"].reshape(2, 3)
    np.testing.assert_allclose(given, _NUMPY[op](x), rtol=1e-12)


@pytest.mark.parametrize("op", ["ReduceL1", "ReduceL2", "ReduceSumSquare"])
def test_sums_of_open_sizes(op: str) -> None:
    x = {"x": np.array([[[1.5], [-2.0]]])}
    assert_rewrite(PASS, _model(op, "double", 13, "[N, K, 1]"), feeds=[x], rtol=1e-12)


def test_refusals() -> None:
    assert_refused(PASS, _model("ReduceL2", "int64", 13), "must be floating point; it is int64")
    assert_refused(PASS, _model("ReduceMean", "double", 13), "must be integers; it is float64")
    for op, kind in (("ReduceMean", "int64"), ("ReduceProd", "double")):
        for shape in ("[2, N, 3]", "[2, 0, 3]"):
            assert_refused(PASS, _model(op, kind, 13, shape), "must be known and above 0")
    assert_untouched(PASS, _model("ReduceSum", "double", 11))
