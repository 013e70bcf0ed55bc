"""Replace softmax, cumsum, topk and others that work along one axis.

What it does: Writes softmax, log_softmax and _safe_softmax with Softmax and LogSoftmax, glu with
    Sigmoid, cumsum with CumSum, topk with TopK, trapezoid, cumulative_trapezoid and
    cosine_similarity with sums, in the type that PyTorch computes in.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "softmax"> (x, 1)             # x: float[2, 3, 4]
After: y = Softmax <axis = 1> (x)                                          # opset 13 and newer
When it refuses: A rank or type is unknown, an axis or a number is computed at run time, the opset
    is below 11 for CumSum, the indices that topk has of integers are used (which of equal ones
    PyTorch takes is not specified), or the points of a trapezoid have another rank or type than its
    heights.
Accuracy: Exact up to the order of sums. Which of equal floats topk takes is not specified.
References: pytorch/pytorch aten/src/ATen/native/SoftMax.cpp, Integration.cpp (trapezoid),
    Distance.cpp (cosine_similarity), GatedLinearUnit.cpp
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from graphfix.authoring import FAR, Builder, InferredType, Refuse, Value

from ._arguments import ArrayCall, Call
from ._arithmetic import held, larger
from ._family import Family, Function, axis_in, broadcast, ranked, unused
from ._promoting import common_dtype, of_one_type
from ._reductions import Rule, dtype_in, over


def _typed(build: Builder, call: Call, rule: Rule = "same") -> tuple[Value, int, int]:
    """Return (the tensor in the type that is computed in, its rank, the axis)."""
    x, rank = ranked(call)
    if x.dtype is None:
        raise Refuse(f"the dtype of {x.name} must be one that numpy has; it is {x.type_name}")
    kind = helper.np_dtype_to_tensor_dtype(dtype_in(call, x.dtype, rule))
    value = x if x.elem_type == kind else build.Cast(x, to=kind)
    return value, rank, axis_in(call, "dim", rank)


def _softmax(op: str) -> Callable[[Builder, Call], Value]:
    def write(build: Builder, call: Call) -> Value:
        x, rank, axis = _typed(build, call)
        if x.dtype is None or x.dtype.kind != "f":
            raise Refuse(f"{call.operator} must be of floats; it is of {x.type_name}")
        if not rank:
            zeros = build.Sub(x, x)
            return zeros if op == "LogSoftmax" else build.Add(zeros, 1.0)
        if build.opset >= 13 or axis == rank - 1:
            return build.node(op, x, axis=axis)
        order = list(range(rank))
        order[axis], order[-1] = order[-1], order[axis]
        turned = build.node(op, build.Transpose(x, perm=order), axis=rank - 1)
        return build.Transpose(turned, perm=order)

    return write


def _safe_softmax(build: Builder, call: Call) -> Value:
    found = _softmax("Softmax")(build, call)
    x, _, axis = _typed(build, call)
    if not x.rank:
        raise Refuse(f"{x.name} must have axes; it has none")
    top = over(build, "ReduceMax", x, (axis,), keep=True)
    nothing = build.Less(top, held(build, x, float(np.finfo(np.float32).min)))
    return build.Where(nothing, held(build, x, 0.0), found)


def _softmax_model(call: ArrayCall) -> Any:
    x = call.need("self")
    dtype = dtype_in(call, x.dtype, "same")
    wide = x.astype(dtype).astype(np.float64)
    dim = int(call.number("dim"))
    axis = dim if wide.ndim else None
    top = np.max(wide, axis=axis, keepdims=True)
    e = np.exp(wide - np.where(np.isfinite(top), top, 0))
    return (e / np.sum(e, axis=axis, keepdims=True)).astype(dtype)


def _log_softmax_model(call: ArrayCall) -> Any:
    x = call.need("self")
    dtype = dtype_in(call, x.dtype, "same")
    wide = x.astype(dtype).astype(np.float64)
    dim = int(call.number("dim"))
    axis = dim if wide.ndim else None
    away = wide - np.max(wide, axis=axis, keepdims=True)
    return (away - np.log(np.sum(np.exp(away), axis=axis, keepdims=True))).astype(dtype)


def _safe_model(call: ArrayCall) -> Any:
    return np.nan_to_num(_softmax_model(call), nan=0.0)


def _cumsum(build: Builder, call: Call) -> Value:
    x, rank, axis = _typed(build, call, "sum")
    return build.CumSum(x, np.array(axis, np.int64)) if rank else build.Identity(x)


def _cumsum_model(call: ArrayCall) -> Any:
    x = call.need("self")
    x, axis = x.astype(dtype_in(call, x.dtype, "sum")), int(call.number("dim"))
    return np.cumsum(x, axis, dtype=x.dtype) if x.ndim else x


def _glu(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, least=1)
    axis = axis_in(call, "dim", rank, -1)
    if x.dtype is None or x.dtype.kind != "f":
        raise Refuse(f"glu must be of floats; it is of {x.type_name}")
    size = x.dim(axis)
    if size is None:
        halves = build.multi("Split", x, outputs=2, axis=axis)
    else:
        half = size // 2
        halves = tuple(
            build.Slice(x, starts=[at], ends=[at + half], axes=[axis]) for at in (0, half)
        )
    return build.Mul(halves[0], build.Sigmoid(halves[1]))


def _glu_model(call: ArrayCall) -> Any:
    x = call.need("self")
    a, b = np.split(x, 2, int(call.number("dim", -1)))
    return (a / (1 + np.exp(-b.astype(np.float64)))).astype(x.dtype)


def _topk(build: Builder, call: Call) -> tuple[Value, ...]:
    x, rank = ranked(call)
    axis, k = axis_in(call, "dim", rank, -1), int(call.number("k"))
    largest, ordered = int(call.number("largest", 1)), int(call.number("sorted", 1))
    if x.dtype is None or x.dtype.kind != "f":
        unused(
            call,
            1,
            "the place of each number",
            "of equal integers PyTorch gives any place, so that no other formula gives the same",
        )
    line = x if rank else build.Unsqueeze(x, axes=[0])
    how: dict[str, Any] = {"largest": largest, "sorted": ordered} if build.opset >= 11 else {}
    if not largest and not how:
        raise Refuse(f"the opset must be at least 11 for the smallest; it is {build.opset}")
    found = build.multi("TopK", line, np.array([k], np.int64), outputs=2, axis=axis, **how)
    return found if rank else tuple(build.Squeeze(v, axes=[0]) for v in found)


def _topk_type(call: Call) -> Sequence[InferredType | None]:
    x, rank = ranked(call)
    shape = list(x.shape or ())
    if rank:
        shape[axis_in(call, "dim", rank, -1)] = int(call.number("k"))
    kinds = (x.elem_type, TensorProto.INT64)
    return [InferredType(kind, tuple(shape)) for kind in kinds]


def _topk_model(call: ArrayCall) -> Any:
    x, k, axis = call.need("self"), int(call.number("k")), int(call.number("dim", -1))
    sign = -1 if bool(call.number("largest", 1)) else 1
    if not x.ndim:
        return x, np.zeros((), np.int64)
    order = np.argsort(sign * x.astype(np.float64), axis, kind="stable")
    places = np.take(order, range(k), axis)
    return np.take_along_axis(x, places, axis), places


def _areas(build: Builder, call: Call) -> tuple[Value, int]:
    """Return twice the areas between the points (of points one apart), and the axis."""
    y, rank = ranked(call, "y", least=1)
    axis = axis_in(call, "dim", rank, -1)
    both = build.Add(*_neighbours(build, y, axis))
    if "x" not in call.schema:
        return both, axis
    x, own = ranked(call, "x", least=1)
    if x.elem_type != y.elem_type:
        raise Refuse(f"the points must be {y.type_name}; they are {x.type_name}")
    if own not in (1, rank):
        raise Refuse(f"the rank of {x.name} must be 1 or {rank}; it is {own}")
    left, right = _neighbours(build, x, 0 if own == 1 else axis)
    widths = build.Sub(right, left)
    if own == 1:
        widths = build.Reshape(widths, [-1 if at == axis else 1 for at in range(rank)])
    return build.Mul(both, widths), axis


def _neighbours(build: Builder, x: Value, axis: int) -> tuple[Value, Value]:
    return (
        build.Slice(x, starts=[0], ends=[-1], axes=[axis]),
        build.Slice(x, starts=[1], ends=[FAR], axes=[axis]),
    )


def _integral(*, every: bool) -> Callable[[Builder, Call], Value]:
    def write(build: Builder, call: Call) -> Value:
        areas, axis = _areas(build, call)
        if every:
            total = build.CumSum(areas, np.array(axis, np.int64))
        else:
            total = over(build, "ReduceSum", areas, (axis,), keep=False)
        if total.dtype is None or total.dtype.kind != "f":
            total = build.Cast(total, to=TensorProto.FLOAT)
        return build.Mul(total, _width(call) / 2)

    return write


def _width(call: Call | ArrayCall) -> float:
    return float(call.number("dx", 1)) if "dx" in call.schema else 1.0


def _integral_model(*, every: bool) -> Callable[[ArrayCall], Any]:
    def model(call: ArrayCall) -> Any:
        y, axis = call.need("y"), int(call.number("dim", -1))
        axis %= y.ndim
        head = (slice(None),) * axis
        areas = y[(*head, slice(None, -1))] + y[(*head, slice(1, None))]
        if "x" in call.schema:
            x = call.need("x")
            lined = [-1 if at == axis else 1 for at in range(y.ndim)]
            areas = areas * (np.diff(x).reshape(lined) if x.ndim == 1 else np.diff(x, axis=axis))
        total = np.cumsum(areas, axis) if every else np.sum(areas, axis)
        return (total * (_width(call) / 2)).astype(y.dtype if y.dtype.kind == "f" else np.float32)

    return model


def _integrating(every: bool, *schema: str) -> Function:
    return Function(schema, _integral(every=every), _integral_model(every=every))


def _cosine(build: Builder, call: Call) -> Value:
    given = [call.need(name) for name in ("x1", "x2")]
    a, b = (v for v in of_one_type(build, given, common_dtype(given, to_float=True)) if v)
    shape = broadcast(tuple(a.shape or ()), tuple(b.shape or ()))
    if a.rank is None or b.rank is None or not shape:
        raise Refuse("the ranks must be known, and one axis there")
    axis, eps = axis_in(call, "dim", len(shape), 1), float(call.number("eps", 1e-8))
    a, b = (
        build.Unsqueeze(v, axes=list(range(len(shape) - (v.rank or 0))))
        if (v.rank or 0) < len(shape)
        else v
        for v in (a, b)
    )
    sides = [
        build.Div(v, larger(build, over(build, "ReduceL2", v, (axis,), keep=True),
                            held(build, v, eps)))
        for v in (a, b)
    ]  # fmt: skip
    return over(build, "ReduceSum", build.Mul(*sides), (axis,), keep=False)


def _cosine_model(call: ArrayCall) -> Any:
    given = [call.need("x1"), call.need("x2")]
    dtype = common_dtype(given, to_float=True)
    a, b = np.broadcast_arrays(*(x.astype(np.float64) for x in given))
    axis, eps = int(call.number("dim", 1)), float(call.number("eps", 1e-8))
    sides = [np.maximum(np.sqrt(np.sum(x * x, axis)), eps) for x in (a, b)]
    return (np.sum(a * b, axis) / sides[0] / sides[1]).astype(dtype)


_SOFTMAX = Function(("self", "dim", "dtype"), _softmax("Softmax"), _softmax_model)
_LOG = Function(("self", "dim", "dtype"), _softmax("LogSoftmax"), _log_softmax_model)
_HALF = ("self", "dim", "half_to_float")


_EVEN, _AT_POINTS = ("y", "dx", "dim"), ("y", "x", "dim")
FAMILY = Family(
    {
        "softmax": _SOFTMAX,
        "special_softmax": _SOFTMAX,
        "log_softmax": _LOG,
        "special_log_softmax": _LOG,
        "_softmax": Function(_HALF, _softmax("Softmax"), _softmax_model),
        "_log_softmax": Function(_HALF, _softmax("LogSoftmax"), _log_softmax_model),
        "_safe_softmax": Function(("self", "dim", "dtype"), _safe_softmax, _safe_model),
        "cumsum": Function(("self", "dim", "dtype"), _cumsum, _cumsum_model),
        "glu": Function(("self", "dim"), _glu, _glu_model),
        "topk": Function(
            ("self", "k", "dim", "largest", "sorted"), _topk, _topk_model, infer=_topk_type
        ),
        "trapezoid": _integrating(False, *_EVEN),
        "trapezoid.x": _integrating(False, *_AT_POINTS),
        "trapz": _integrating(False, *_AT_POINTS),
        "trapz.dx": _integrating(False, *_EVEN),
        "cumulative_trapezoid": _integrating(True, *_EVEN),
        "cumulative_trapezoid.x": _integrating(True, *_AT_POINTS),
        "cosine_similarity": Function(("x1", "x2", "dim", "eps"), _cosine, _cosine_model),
    }
)


aten_softmax = FAMILY.replaced(
    __name__,
    emits=(
        "Add Cast CumSum Div Identity Less LogSoftmax Max Mul ReduceL2 ReduceMax "
        "ReduceSum Reshape Sigmoid Slice Softmax Split Squeeze Sub TopK Transpose Unsqueeze Where"
    ),
)
