"""Replace searchsorted, bucketize and bincount by comparing and counting.

What it does: The place of a value in a sorted sequence is how many of its entries are below it (not
    above it for the right side): each value is compared with each entry, and the comparisons that
    hold are counted. bincount counts the numbers that are equal to 0, 1, 2, ...
Why engines need it: ONNX has none of them, and PyTorch's exporter writes ATen nodes.
Before:
    i = org.pytorch.aten.ATen <operator = "bucketize"> (x, limits)   # x: float[N], limits: float[4]
After:
    past = Not (GreaterOrEqual (limits, Unsqueeze <axes = [1]> (x)))
    i = Cast (ReduceSum <axes = [1]> (Cast (past)))
When it refuses: A rank or type is unknown, a sorter is given, the types differ, the opset is below
    12 (for GreaterOrEqual; 11 for Range in bincount), or more than 2^28 comparisons would be made.
Accuracy: Exact for sequences that are sorted, as PyTorch asks for; NaN is sorted after everything.
    bincount is exact for counts, and for weights up to the order of the sum; PyTorch raises an
    error at a negative number, which is not counted here.
References: pytorch/pytorch aten/src/ATen/native/Bucketization.cpp (`!(mid_val >= val)`),
    aten/src/ATen/native/SummaryOps.cpp (bincount)
"""

from math import prod
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._axes import FLOATS
from ._family import INT64, Family, Function, ranked

_MOST = 1 << 28
_SORTED = ("sorted_sequence", "self", "out_int32", "right", "side", "sorter")
_BUCKETS = ("self", "boundaries", "out_int32", "right")


def _right(call: Call) -> bool:
    right = bool(call.number("right", 0))
    if "side" not in call.schema:
        return right
    side = call.text("side", "right" if right else "left")
    if side not in ("left", "right"):
        raise Refuse(f"the side must be left or right; it is {side}")
    return side == "right"


def _searched(build: Builder, call: Call, entries: Value, values: Value) -> Value:
    build.need_opset(12, " for GreaterOrEqual")
    if "sorter" in call.schema and call.tensor("sorter") is not None:
        raise Refuse("the sequence must be sorted by itself; a sorter is given")
    rank, own = values.rank, entries.rank
    if rank is None or own is None or not own:
        raise Refuse(f"the ranks of {values.name} and {entries.name} must be known, and not 0")
    if own > 1 and own != rank:
        raise Refuse(f"the ranks must be equal, or that of the sequence 1; they are {own}, {rank}")
    if values.elem_type != entries.elem_type:
        raise Refuse(f"the types must be one; they are {values.type_name} and {entries.type_name}")
    sizes = (*(values.shape or ()), entries.dim(-1))
    if prod(s if isinstance(s, int) else 1 for s in sizes) > _MOST:
        raise Refuse(f"at most {_MOST} comparisons must be made; there would be more")
    if own > 1:
        entries = build.Unsqueeze(entries, axes=[own - 1])
    lone = build.Unsqueeze(values, axes=[rank])
    if _right(call):
        past = build.Not(build.Greater(entries, lone))
    else:
        past = build.Not(build.GreaterOrEqual(entries, lone))
    counts = build.ReduceSum(build.Cast(past, to=TensorProto.INT32), axes=[rank], keepdims=0)
    return counts if call.number("out_int32", 0) else build.Cast(counts, to=INT64)


def _search(build: Builder, call: Call) -> Value:
    return _searched(build, call, ranked(call, "sorted_sequence")[0], ranked(call)[0])


def _bucketize(build: Builder, call: Call) -> Value:
    return _searched(build, call, ranked(call, "boundaries", 1)[0], ranked(call)[0])


def _bincount(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    if rank != 1 or x.elem_type in (*FLOATS, TensorProto.BOOL):
        raise Refuse(f"{x.name} must be a vector of integers; it is {x.type_name} of rank {rank}")
    build.need_opset(11, ", which has Range")
    weights = call.tensor("weights")
    least = int(call.number("minlength", 0))
    wide = x if x.elem_type == INT64 else build.Cast(x, to=INT64)
    # An empty vector has no maximum, and the result is never shorter than minlength.
    last = build.ReduceMax(build.Concat(wide, [least - 1], axis=0), axes=[0], keepdims=0)
    numbers = build.Range(np.int64(0), build.Add(last, 1), np.int64(1))
    here = build.Equal(build.Unsqueeze(numbers, axes=[1]), build.Unsqueeze(wide, axes=[0]))
    if weights is None:
        return build.ReduceSum(build.Cast(here, to=INT64), axes=[1], keepdims=0)
    if weights.elem_type != TensorProto.FLOAT:
        if not weights.elem_type:
            raise Refuse(f"the dtype of {weights.name} must be known")
        weights = build.Cast(weights, to=TensorProto.DOUBLE)
    nothing = build.constant(np.zeros((), weights.dtype))
    return build.ReduceSum(build.Where(here, weights, nothing), axes=[1], keepdims=0)


def _search_model(call: ArrayCall) -> Any:
    entries = call.need("sorted_sequence" if "sorter" in call.schema else "boundaries")
    values = call.need("self")
    if (entries[..., 1:] < entries[..., :-1]).any():
        raise Refuse("the entries must be sorted; they are not")  # what PyTorch gives is undefined
    text = call.array("side") if "side" in call.schema else None
    right = bool(call.number("right", 0)) or (text is not None and "right" in str(text))
    kind = np.int32 if call.number("out_int32", 0) else np.int64
    side: Any = "right" if right else "left"
    if entries.ndim == 1:
        return np.asarray(np.searchsorted(entries, values, side)).astype(kind)
    found: Array = np.empty(values.shape, kind)
    for place in np.ndindex(values.shape[:-1]):
        found[place] = np.searchsorted(entries[place], values[place], side)
    return found


def _bincount_model(call: ArrayCall) -> Any:
    x, weights = call.need("self"), call.array("weights")
    counts = np.bincount(x, weights, int(call.number("minlength", 0)))
    if weights is None:
        return counts.astype(np.int64)
    return counts.astype(np.float32 if weights.dtype == np.float32 else np.float64)


FAMILY = Family(
    {
        "searchsorted": Function(_SORTED, _search, _search_model),
        "bucketize": Function(_BUCKETS, _bucketize, _search_model),
        "bincount": Function(("self", "weights", "minlength"), _bincount, _bincount_model),
    }
)


aten_searchsorted = FAMILY.replaced(
    __name__,
    emits=(
        "Add Cast Concat Equal Greater GreaterOrEqual Not Range ReduceMax ReduceSum Unsqueeze Where"
    ),
)
