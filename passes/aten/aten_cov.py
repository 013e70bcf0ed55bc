"""Replace covariance and correlation matrices by products of what is left of means.

What it does: Takes the mean of each row away, by the weights where there are any, multiplies the
    rows with one another and divides by their number less the correction, at least 0. corrcoef
    divides by the roots of the diagonal and holds the result between -1 and 1. One row gives one
    number.
Why engines need it: PyTorch's exporter translates neither.
Before: y = org.pytorch.aten.ATen <operator = "cov"> (x, 1, , )
After:
    d = Sub (x, ReduceMean <axes = [1]> (x))
    y = Div (MatMul (d, Transpose (d)), Max (Sub (number, 1), 0))
When it refuses: A rank or type is unknown, or of no float32 (integers become float32), the rank is
    more than 2, the number of rows is unknown (that of one row is no matrix), or the correction is
    computed at run time.
Accuracy: Exact up to rounding and the order of sums; a sum of integers that int64 cannot hold is
    not looked at.
References: pytorch/pytorch aten/src/ATen/native/Correlation.cpp
"""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._emitting import clipped
from ._family import Family, Function, ranked
from ._promoting import to_float

_COUNTS, _SHARES = "fweights", "aweights"
_LARGEST = float(np.finfo(np.float32).max)


def _correction(call: Call | ArrayCall) -> int:
    return int(call.number("correction", 1)) if "correction" in call.schema else 1


def _number_of_rows(call: Call) -> int:
    x, rank = ranked(call)
    rows = x.dim(0) if rank == 2 else 1
    if rank > 2 or rows is None:
        raise Refuse(f"{x.name} must have at most two axes and a known number of rows")
    return rows


def _floats(build: Builder, call: Call, name: str) -> Value:
    """Return an argument as rows of float32."""
    x, rank = ranked(call, name)
    x = to_float(build, x)
    if x.elem_type != TensorProto.FLOAT:
        raise Refuse(f"{x.name} must be float32 or integers; it is {x.type_name}")
    return x if rank == 2 else build.Reshape(x, [1, -1])


def _given(build: Builder, call: Call, name: str) -> Value | None:
    here = name in call.schema and call.tensor(name) is not None
    return _floats(build, call, name) if here else None


def _along(build: Builder, x: Value) -> Value:
    return build.ReduceSum(x, axes=[1], keepdims=1)


def _matrix(build: Builder, call: Call) -> Value:
    """Return the covariance of the rows, with two axes."""
    x = _floats(build, call, "self")
    counts, shares = (_given(build, call, name) for name in (_COUNTS, _SHARES))
    correction = float(_correction(call))
    weights = counts if shares is None else shares
    if counts is not None and shares is not None:
        weights = build.Mul(counts, shares)
    if weights is None:
        size = build.Gather(build.Shape(x), np.array([1]), axis=0)
        total = build.Cast(size, to=TensorProto.FLOAT)
        away = build.Sub(x, build.ReduceMean(x, axes=[1], keepdims=1))
        heavy, lost = away, build.constant(np.array(correction, np.float32))
    else:
        total = _along(build, weights)
        away = build.Sub(x, build.Div(_along(build, build.Mul(x, weights)), total))
        heavy, lost = build.Mul(away, weights), build.constant(np.array(correction, np.float32))
        if shares is not None and correction:
            squares = build.Mul(_along(build, build.Mul(weights, shares)), correction)
            lost = build.Div(squares, total)
    left = clipped(build, build.Sub(total, lost), 0.0, _LARGEST)
    return build.Div(build.MatMul(away, build.Transpose(heavy, perm=[1, 0])), left)


def _shaped(build: Builder, call: Call, matrix: Value) -> Value:
    return build.Squeeze(matrix, axes=[0, 1]) if _number_of_rows(call) == 1 else matrix


def _cov(build: Builder, call: Call) -> Value:
    _number_of_rows(call)
    return _shaped(build, call, _matrix(build, call))


def _corrcoef(build: Builder, call: Call) -> Value:
    rows = _number_of_rows(call)
    matrix = _matrix(build, call)
    if rows == 1:
        return _shaped(build, call, build.Div(matrix, matrix))
    same = build.constant(np.eye(rows, dtype=np.bool_))
    diagonal = build.Where(same, matrix, np.float32(0))
    across = build.Sqrt(build.ReduceSum(diagonal, axes=[0], keepdims=1))
    down = build.Transpose(across, perm=[1, 0])
    return clipped(build, build.Div(build.Div(matrix, down), across), -1.0, 1.0)


def _model(call: ArrayCall) -> Any:
    x = call.need("self")
    rows = x.astype(np.float64).reshape(x.shape if x.ndim == 2 else (1, -1))
    given = [call.array(name) if name in call.schema else None for name in (_COUNTS, _SHARES)]
    counts, shares = (np.ones(rows.shape[1]) if one is None else one for one in given)
    weights, correction = counts * shares, _correction(call)
    total = weights.sum()
    away = rows - (rows * weights).sum(axis=1, keepdims=True) / total
    lost = correction if given[1] is None else correction * (weights * shares).sum() / total
    kind = x.dtype if x.dtype.kind == "f" else np.dtype(np.float32)
    # The product is infinite where the type at hand cannot hold it.
    product = (away @ (away * weights).T).astype(kind)
    return np.asarray(product / max(total - lost, 0.0)).astype(kind).squeeze()


def _corrcoef_model(call: ArrayCall) -> Any:
    matrix = np.asarray(_model(call), np.float64)
    kind = call.need("self").dtype
    if matrix.ndim:
        deviation = np.sqrt(np.diag(matrix))
        matrix = np.clip(matrix / deviation[:, None] / deviation, -1, 1)
    else:
        matrix = matrix / matrix
    return np.asarray(matrix).astype(kind if kind.kind == "f" else np.float32)


FAMILY = Family({
    "cov": Function(("self", "correction", _COUNTS, _SHARES), _cov, _model),
    "corrcoef": Function(("self",), _corrcoef, _corrcoef_model),
})  # fmt: skip


aten_cov = FAMILY.replaced(
    __name__,
    emits=(
        "Cast Clip Div Gather MatMul Mul ReduceMean ReduceSum Reshape Shape Sqrt Squeeze Sub "
        "Transpose Where"
    ),
)
