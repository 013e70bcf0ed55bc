"""Replace what gives as many elements as there are that count: nonzero, masked_select, and others.

What it does: nonzero and argwhere become the transposed NonZero, of which nonzero_static keeps or
    fills as many rows as it is asked for, masked_select Compress of what is flat, and
    unique_consecutive keeps the elements that differ from the one before.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "masked_select"> (x, mask)    # of one shape
After: y = Compress (Reshape (x, [-1]), Reshape (mask, [-1]))
When it refuses: A rank or type is unknown, unique_consecutive is along an axis, its flags are
    computed at run time, nonzero_static has more than 2^20 rows, or the opset is below 11.
Accuracy: Exact, bit by bit.
References: pytorch/pytorch aten/src/ATen/native/TensorAdvancedIndexing.cpp (nonzero,
    masked_select), Unique.cpp (unique_consecutive)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import FAR, Builder, InferredType, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, ranked

_INT64 = TensorProto.INT64
_MOST_ROWS = 1 << 20


def _nonzero(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    if rank:
        return build.Transpose(build.NonZero(x), perm=[1, 0])
    # One row without columns, or none.
    found = build.Transpose(build.NonZero(build.Unsqueeze(x, axes=[0])), perm=[1, 0])
    return build.Slice(found, starts=[0], ends=[0], axes=[1])


def _rows(call: Call | ArrayCall) -> tuple[int, int]:
    """Return how many rows nonzero_static gives, and what fills those that are missing.

    Raises:
        Refuse: Less than none, or very many.
    """
    count, fill = int(call.number("size", 0)), int(call.number("fill_value", -1))
    if not 0 <= count <= _MOST_ROWS:
        raise Refuse(f"there must be 0 to {_MOST_ROWS} rows; there are {count}")
    return count, fill


def _static(build: Builder, call: Call) -> Value:
    (count, fill), (_, rank) = _rows(call), ranked(call)
    filled = np.full((count, rank), fill, np.int64)
    if not filled.size:
        return build.constant(filled)
    found = build.Concat(_nonzero(build, call), filled, axis=0)
    return build.Slice(found, starts=[0], ends=[count], axes=[0])


def _static_type(call: Call) -> Sequence[InferredType | None]:
    return (InferredType(_INT64, (_rows(call)[0], ranked(call)[1])),)


def _static_model(call: ArrayCall) -> Any:
    (count, fill), x = _rows(call), call.need("self")
    found = np.argwhere(x)
    return np.concatenate([found, np.full((count, x.ndim), fill, np.int64)])[:count]


def _select(build: Builder, call: Call) -> Value:
    (x, _), (mask, _) = ranked(call), ranked(call, "mask")
    if mask.elem_type != TensorProto.BOOL:
        raise Refuse(f"{mask.name} must be bool; it is {mask.type_name}")
    if x.static_shape is None or x.static_shape != mask.static_shape:
        x = build.Expand(x, build.Shape(mask))
        mask = build.Expand(mask, build.Shape(x))
    return build.Compress(build.Reshape(x, [-1]), build.Reshape(mask, [-1]))


def _select_model(call: ArrayCall) -> Any:
    x, mask = np.broadcast_arrays(call.need("self"), call.need("mask"))
    return x[mask]


def _whole(call: Call | ArrayCall) -> None:
    if call.number("dim") is not None:
        raise Refuse("all elements must be compared; those along an axis are")


def _runs(build: Builder, call: Call) -> tuple[Value, ...]:
    """Return the first element of each run, the run of each element, and how long runs are."""
    x, _ = ranked(call)
    _whole(call)
    if x.dtype is None or x.dtype.kind not in "if":
        raise Refuse(f"{x.name} must be numbers; it is {x.type_name}")
    flat = build.Reshape(x, [-1])
    head = build.Slice(flat, starts=[0], ends=[1], axes=[0])
    same = build.Equal(head, head)
    before = build.Slice(flat, starts=[0], ends=[-1], axes=[0])
    after = build.Slice(flat, starts=[1], ends=[FAR], axes=[0])
    starts = build.Concat(
        build.Or(same, build.Not(same)), build.Not(build.Equal(after, before)), axis=0
    )
    nothing = build.constant(np.zeros(0, np.int64))
    inverse = counts = nothing
    if bool(call.number("return_inverse", 0)):
        numbers = build.CumSum(build.Cast(starts, to=_INT64), np.array(0, np.int64))
        inverse = build.Reshape(build.Sub(numbers, np.array(1)), build.Shape(x))
    if bool(call.number("return_counts", 0)):
        places = build.Reshape(build.NonZero(starts), [-1])
        ends = build.Concat(
            build.Slice(places, starts=[1], ends=[FAR], axes=[0]), build.Shape(flat), axis=0
        )
        counts = build.Sub(ends, places)
    return build.Compress(flat, starts, axis=0), inverse, counts


def _runs_model(call: ArrayCall) -> Any:
    _whole(call)
    x = call.need("self")
    flat = x.reshape(-1)
    starts = np.concatenate([np.ones(min(1, len(flat)), np.bool_), flat[1:] != flat[:-1]])
    inverse = counts = np.zeros(0, np.int64)
    if bool(call.number("return_inverse", 0)):
        inverse = (np.cumsum(starts) - 1).reshape(x.shape)
    if bool(call.number("return_counts", 0)):
        counts = np.diff(np.append(np.flatnonzero(starts), len(flat)))
    return flat[starts], inverse, counts


_NONZERO = Function(("self",), _nonzero, lambda call: np.argwhere(call.need("self")))
FAMILY = Family({
    "nonzero": _NONZERO,
    "argwhere": _NONZERO,
    "nonzero_static": Function(
        ("self", "size", "fill_value"), _static, _static_model, infer=_static_type
    ),
    "masked_select": Function(("self", "mask"), _select, _select_model),
    "unique_consecutive": Function(
        ("self", "return_inverse", "return_counts", "dim"), _runs, _runs_model
    ),
})  # fmt: skip


aten_nonzero = FAMILY.replaced(
    __name__,
    emits=(
        "Cast Compress Concat CumSum Equal Expand NonZero Not Or Reshape Shape Slice Sub Transpose "
        "Unsqueeze"
    ),
    opset=11,
)
