"""Replace embedding_bag by Gather and a sum for each bag.

What it does: Gathers the rows of all indices, cuts them into bags where the offsets say, and sums
    each bag, takes its mean or its largest elements. Where the offsets are computed, or a row is
    left out, the rows of each bag are picked by a mask.
Why engines need it: ONNX has no embedding_bag, and exporters wrote an ATen node.
Before: y = ATen <operator = "embedding_bag", mode = 0> (weight, indices, offsets)
After:
    rows = Gather (weight, indices)
    y = Concat <axis = 0> (ReduceSum <axes = {0}> (Slice (rows, 0, 2)), ...)
When it refuses: Constant offsets are more than `max_bags` or do not follow one another, the width
    of the table or the number of constant bags' indices is unknown, rows are weighed that are not
    summed, a mask is needed below opset 11 or of other types than float32 and float64, or another
    output than the first is used.
Accuracy: Exact up to the order of summation. An empty bag gives zeros.
References: pytorch/pytorch aten/src/ATen/native/EmbeddingBag.cpp
"""

import itertools
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import FAR, Array, Builder, NodeView, Option, Refuse, Value

from ._arguments import ArrayCall, Call, call_of, replacing
from ._bags import EMITS, last_end, members, spread

NAMES = ("embedding_bag",)
SCHEMA = (
    "weight",
    "indices",
    "offsets",
    "scale_grad_by_freq",
    "mode",
    "sparse",
    "per_sample_weights",
    "include_last_offset",
    "padding_idx",
)
_SUM, _MEAN, _MAX = range(3)


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Reduce each bag with numpy."""
    call = ArrayCall(inputs, attributes, SCHEMA)
    weight, offsets = call.need("weight"), call.need("offsets")
    indices = call.need("indices")
    rows = weight[indices]
    scale = call.array("per_sample_weights")
    rows = rows if scale is None else rows * scale[:, None]
    ends = [*offsets.tolist(), len(rows)]
    if call.number("include_last_offset", 0):
        ends = ends[:-1]
    reduce = (np.sum, np.mean, np.max)[int(call.number("mode", 0))]
    left = indices != _left_out(call, len(weight))
    cut = [rows[low:high][left[low:high]] for low, high in itertools.pairwise(ends)]
    nothing = np.zeros(weight.shape[1], weight.dtype)
    bags = [reduce(bag, axis=0) if len(bag) else nothing for bag in cut]
    return (np.stack(bags).astype(weight.dtype),)


@replacing(
    NAMES,
    emits=f"{EMITS} Cast Concat Div Equal Max Mul ReduceMax ReduceSum Slice",
    evaluate=evaluate,
    options={"max_bags": Option(int, 64, "More bags are refused.")},
)
def aten_embedding_bag(node: NodeView, build: Builder) -> Value:
    """Reduce bags, see the module."""
    call = call_of(node, {"embedding_bag": SCHEMA})
    weight, indices = call.need("weight"), call.need("indices")
    mode = int(call.number("mode", 0))
    if mode not in (_SUM, _MEAN, _MAX):
        raise Refuse(f"the mode must be 0, 1 or 2 for sum, mean or max; it is {mode}")
    if any(value is not None and value.is_used for value in node.outputs[1:]):
        raise Refuse("only the first output may be used; another one is")
    scale, given = call.tensor("per_sample_weights"), call.tensor("offsets")
    if scale is not None and mode != _SUM:
        raise Refuse(f"rows with weights of their own must be summed; the mode is {mode}")
    known = given is None or build.const(given) is not None
    if not known or call.number("padding_idx") is not None or scale is not None:
        return _masked(build, call, mode)
    offsets = call.entries("offsets")
    width, count = weight.dim(1), indices.dim(0)
    if offsets is None or indices.rank != 1 or count is None or not width or weight.dtype is None:
        raise Refuse("the offsets, the number of indices and the width of the table must be known")
    ends = [int(offset) for offset in offsets]
    if not call.number("include_last_offset", 0):
        ends.append(count)
    if len(ends) - 1 > build.option("max_bags") or ends != sorted(ends) or ends[-1] > count:
        raise Refuse(
            f"there must be at most max_bags bags, one after the other; there are {len(ends) - 1}"
        )
    rows = build.Gather(weight, indices, axis=0)
    sizes = [high - low for low, high in itertools.pairwise(ends)]
    if sizes == [1] * count and ends[0] == 0:
        return rows
    bags = [
        _bag(build, rows, low, size, mode, np.zeros((1, width), weight.dtype))
        for low, size in zip(ends[:-1], sizes, strict=True)
    ]
    return bags[0] if len(bags) == 1 else build.Concat(*bags, axis=0)


def _left_out(call: Call | ArrayCall, rows: int | None) -> int | None:
    """Return the row of the table that no bag has, counted from the front.

    Raises:
        Refuse: It is counted from the back of a table whose size is open.
    """
    given = call.number("padding_idx")
    if given is None or given >= 0:
        return None if given is None else int(given)
    if rows is None:
        raise Refuse("the number of rows must be known where padding_idx is negative; it is open")
    return int(given) + rows


def _masked(build: Builder, call: Call, mode: int) -> Value:
    """Pick the rows of each bag by a mask, [bags, rows, width]."""
    weight, offsets, indices = (call.need(n) for n in ("weight", "offsets", "indices"))
    if weight.type_name not in ("float32", "float64") or weight.rank != 2 or build.opset < 11:
        raise Refuse(
            f"{weight.name} must be a matrix of float32 or float64 and the opset at least 11; it "
            f"is {weight.type_name} at opset {build.opset}"
        )
    if indices.rank != 1 or offsets.rank != 1:
        raise Refuse("the indices and the offsets must be vectors")
    rows = build.Gather(weight, indices, axis=0)
    scale = call.tensor("per_sample_weights")
    rows = rows if scale is None else build.Mul(rows, build.Unsqueeze(scale, axes=[1]))
    starts = build.Cast(offsets, to=TensorProto.INT64)
    if call.number("include_last_offset", 0):
        ends = build.Slice(starts, starts=[1], ends=[FAR], axes=[0])
        starts = build.Slice(starts, starts=[0], ends=[-1], axes=[0])
    else:
        after = build.Slice(starts, starts=[1], ends=[FAR], axes=[0])
        ends = build.Concat(after, last_end(build, rows), axis=0)
    inside, left = members(build, starts, ends, rows), _left_out(call, weight.dim(0))
    if left is not None:
        which = build.Cast(indices, to=TensorProto.INT64)
        inside = build.And(inside, build.Not(build.Equal(which, np.int64(left))))
    if mode == _SUM:
        return build.ReduceSum(spread(build, inside, rows, 0), axes=[1], keepdims=0)
    numbers = build.Cast(inside, to=weight.elem_type)
    counts = build.ReduceSum(numbers, axes=[1], keepdims=1)
    if mode == _MEAN:
        total = build.ReduceSum(spread(build, inside, rows, 0), axes=[1], keepdims=0)
        return build.Div(total, build.Max(counts, build.constant(np.ones((), weight.dtype))))
    zero = build.constant(np.zeros((), weight.dtype))
    largest = build.ReduceMax(spread(build, inside, rows, -np.inf), axes=[1], keepdims=0)
    return build.Where(build.Less(zero, counts), largest, zero)


def _bag(build: Builder, rows: Value, low: int, size: int, mode: int, nothing: Array) -> Value:
    if not size:
        return build.constant(nothing)
    bag = build.Slice(rows, starts=[low], ends=[low + size], axes=[0])
    if size == 1:
        return bag
    if mode == _MAX:
        return build.ReduceMax(bag, axes=[0], keepdims=1)
    total = build.ReduceSum(bag, axes=[0], keepdims=1)
    return build.Div(total, float(size)) if mode == _MEAN else total
