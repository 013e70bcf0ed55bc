"""Replace _unsafe_masked_index by Gather on flat data, after which the other number is.

What it does: Adds the indices up to places in the flat data, picks the place after the last one
    where the mask is not set, and gathers from the data with the number for such places put after
    it.
Why engines need it: No engine has an importer for it, and what PyTorch's exporter makes of it does
    not run.
Before:
    i = SequenceConstruct (rows, columns)
    y = org.pytorch.aten.ATen <operator = "_unsafe_masked_index"> (x, mask, i, 0)
After:
    flat = Concat (Reshape (x, [-1]), 0)
    place = Add (Mul (rows, width), columns)
    y = Gather (flat, Where (mask, place, size))
When it refuses: There is not one index for each axis, an index is not int32 or int64, the mask is
    no boolean, a rank or type is unknown, the list or the number is computed at run time, or the
    opset is below 9.
Accuracy: Exact, bit by bit. What an index beyond the data gives where the mask is set PyTorch
    leaves open.
References: pytorch/pytorch aten/src/ATen/native/TensorAdvancedIndexing.cpp (_unsafe_masked_index)
"""

from typing import Any, cast

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import INT64, Family, Function, ranked
from ._lists import arrays_in, tensors_in

_INTEGERS = (TensorProto.INT32, TensorProto.INT64)


def _indices(call: Call) -> list[Value]:
    _, rank = ranked(call)
    found = tensors_in(call, "indices")
    if len(found) != rank:
        raise Refuse(f"there must be an index for each of {rank} axes; there are {len(found)}")
    for value in found:
        if value.elem_type not in _INTEGERS or value.rank is None:
            raise Refuse(f"{value.name} must be int32 or int64 of a known rank")
    mask, _ = ranked(call, "mask")
    if mask.elem_type != TensorProto.BOOL:
        raise Refuse(f"{mask.name} must be a boolean; it is {mask.type_name}")
    return found


def _write(build: Builder, call: Call) -> Value:
    indices = _indices(call)
    x, _ = ranked(call)
    if build.opset < 9 or x.dtype is None:
        raise Refuse(f"the opset must be at least 9, which has Where; it is {build.opset}")
    place: Value | None = None
    for axis, value in enumerate(indices):
        size = x.dim(axis)
        reach = build.constant(np.array(size or 0, np.int64))
        if size is None:
            reach = build.Gather(build.Shape(x), axis, axis=0)
        index = value if value.elem_type == INT64 else build.Cast(value, to=INT64)
        index = build.Where(build.Less(index, np.int64(0)), build.Add(index, reach), index)
        place = index if place is None else build.Add(build.Mul(place, reach), index)
    if place is None:
        raise Refuse("the data must have an axis; they have none")
    flat = build.Reshape(x, [-1])
    after = build.Reshape(build.Shape(flat), np.zeros(0, np.int64))
    fill = build.constant(np.array([call.number("fill")]).astype(x.dtype))
    return build.Gather(
        build.Concat(flat, fill, axis=0), build.Where(call.need("mask"), place, after), axis=0
    )


def _model(call: ArrayCall) -> Any:
    x, mask = call.need("self"), call.need("mask")
    indices = np.broadcast_arrays(*arrays_in(call, "indices"), mask)[:-1]
    mask = np.broadcast_to(mask, indices[0].shape)
    found = np.full(mask.shape, np.asarray(call.number("fill")).astype(x.dtype), x.dtype)
    found[mask] = x[cast("Any", tuple(index[mask] for index in indices))]
    return found


FAMILY = Family({
    "_unsafe_masked_index": Function(("self", "mask", "indices", "fill"), _write, _model),
})  # fmt: skip


aten_unsafe_masked_index = FAMILY.replaced(
    __name__, emits="Add Cast Concat Gather Less Mul Reshape Shape Where"
)
