"""Replace index_put by ScatterND, or by Where where a mask picks what one number replaces.

What it does: Joins the indices of the first axes into rows for ScatterND; axes in front that none
    of them picks are moved after, and back. A mask with one value becomes Where, with several
    NonZero says the places.
Why engines need it: PyTorch's exporter writes index_put as an ATen node where it cannot tell what
    its list of indices holds, and below opset 11.
Before:
    i = SequenceConstruct (rows, columns)
    y = org.pytorch.aten.ATen <operator = "index_put"> (x, i, v, False)
After:
    places = Concat <axis = -1> (Unsqueeze (rows), Unsqueeze (columns))
    y = ScatterND (x, places, v)
When it refuses: The list is computed at run time, indices lie on both sides of an axis that none
    picks, a mask is not alone, ranks or types are unknown, values are added below opset 16, or the
    opset is below 11.
Accuracy: Exact, bit by bit, where no place is given twice (then PyTorch leaves open which value
    wins, as ONNX does). Where values are added, up to their order.
References: pytorch/pytorch aten/src/ATen/native/TensorAdvancedIndexing.cpp (index_put);
    https://onnx.ai/onnx/operators/onnx__ScatterND.html
"""

from typing import Any, cast

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    NodeView,
    Refuse,
    Value,
    from_front,
    is_none,
)

from ._arguments import LISTS, Call, call_of, replacing
from ._family import broadcast, ranked
from ._pytorch import tensors_of

NAMES = ("index_put", "_index_put_impl", "_unsafe_index_put")
_SCHEMA = ("self", "indices", "values", "accumulate", "unsafe")
SCHEMAS: dict[str, tuple[str, ...]] = dict.fromkeys(NAMES, _SCHEMA)
_INTEGERS = (TensorProto.INT32, TensorProto.INT64)
_MASKS = (TensorProto.BOOL, TensorProto.UINT8)


def _read(call: Call) -> tuple[list[Value | None], Value]:
    """Return the indices, None where an axis is taken whole, and the values.

    With attributes tensors alone are inputs, so that a list is in them one by one.
    """
    inputs = list(call.node.inputs)
    if call.node.has("accumulate"):
        if len(inputs) < 3 or inputs[-1] is None:
            raise Refuse("index_put must have indices and values")
        given = inputs[1:-1]
        if len(given) > 1 or not _is_list(given[0]):
            return [None if v is None or is_none(v) else v for v in given], inputs[-1]
    return _entries(call.need("indices")), call.need("values")


def _is_list(value: Value | None) -> bool:
    return value is not None and value.producer is not None and value.producer.op in LISTS


def _entries(value: Value) -> list[Value | None]:
    if value.tensor.opaque is None and value.is_tensor and value.elem_type and not _is_list(value):
        return [value]
    entries = tensors_of(value)
    if entries is None:
        raise Refuse("the list of indices must be written in the graph; it is computed at run time")
    return [*entries]


def evaluate(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Use numpy."""
    x = inputs[0]
    assert x is not None
    flat = "accumulate" in attributes and not isinstance(inputs[1], list)
    entries: Any = inputs[1:-1] if flat else inputs[1]
    values = inputs[-1] if flat else inputs[2]
    added = attributes.get("accumulate", 0) if flat else (inputs[3] if len(inputs) > 3 else 0)
    if isinstance(entries, np.ndarray):
        entries = [entries]
    place = tuple(slice(None) if entry is None else entry for entry in entries)
    result = x.copy()
    if added is not None and bool(added):
        np.add.at(result, cast("Any", place), cast("Any", values))
    else:
        result[place] = values
    return (result,)


@replacing(
    NAMES,
    emits=(
        "Add Cast Concat Expand Gather Less NonZero Reshape ScatterND Shape Slice Transpose "
        "Unsqueeze Where"
    ),
    evaluate=evaluate,
)
def aten_index_put(node: NodeView, build: Builder) -> Value:
    """Scatter, see the module."""
    call = call_of(node, SCHEMAS)
    x, rank = ranked(call)
    entries, values = _read(call)
    build.need_opset(11, ", which has ScatterND")
    if values.elem_type != x.elem_type or values.rank is None:
        raise Refuse(
            f"{values.name} must be {x.type_name} of a known rank; it is {values.type_name}"
        )
    added = bool(call.number("accumulate", 0))
    while entries and entries[-1] is None:
        entries.pop()
    given = [entry for entry in entries if entry is not None]
    if not given or len(entries) > rank or any(e.rank is None for e in given):
        raise Refuse(f"there must be 1 to {rank} indices of known ranks")
    if added and build.opset < 16:
        raise Refuse(f"the opset must be at least 16 to add values; it is {build.opset}")
    if any(e.elem_type in _MASKS for e in given):
        return _masked(build, x, entries, values, added=added)
    if any(e.elem_type not in _INTEGERS for e in given):
        raise Refuse("the indices must be int32 or int64")
    return _scattered(build, x, entries, values, added=added)


def _masked(
    build: Builder, x: Value, entries: list[Value | None], values: Value, *, added: bool
) -> Value:
    mask = entries[0]
    if len(entries) != 1 or mask is None:
        raise Refuse("a mask must be the only index")
    if mask.elem_type != TensorProto.BOOL:
        mask = build.Cast(mask, to=TensorProto.BOOL)
    rank, own = x.rank or 0, mask.rank or 0
    size = values.static_shape
    if not added and size is not None and np.prod(size, dtype=np.int64) == 1:
        wide = build.Unsqueeze(mask, axes=list(range(own, rank))) if own < rank else mask
        return build.Where(wide, build.Reshape(values, [1] * max(rank, 1)), x)
    if not own:
        raise Refuse("a mask must have axes where it does not pick for one number; it has none")
    rows = build.Transpose(build.NonZero(mask), perm=[1, 0])
    updates = _spread(build, values, x, rows, 1, own, 0)
    return build.ScatterND(x, rows, updates, **({"reduction": "add"} if added else {}))


def _scattered(
    build: Builder, x: Value, entries: list[Value | None], values: Value, *, added: bool
) -> Value:
    rank = x.rank or 0
    axes = [axis for axis, entry in enumerate(entries) if entry is not None]
    if axes != list(range(axes[0], axes[0] + len(axes))):
        raise Refuse("indices must be of axes next to each other; an axis between is taken whole")
    front = axes[0]
    places = [
        from_front(entry, x, axis, build) for axis, entry in enumerate(entries) if entry is not None
    ]
    rows, wide = _joined(build, places)
    # [front, picked, rest] -> [picked, front, rest]; the values are as [front, places, rest].
    order = [*axes, *range(front), *range(axes[-1] + 1, rank)]
    moved = build.Transpose(x, perm=order) if front else x
    updates = _spread(build, values, moved, rows, wide, len(axes), front)
    reduction = {"reduction": "add"} if added else {}
    found = build.ScatterND(moved, rows, updates, **reduction)
    if not front:
        return found
    return build.Transpose(found, perm=[order.index(axis) for axis in range(rank)])


def _joined(build: Builder, places: list[Value]) -> tuple[Value, int]:
    """Return indices as rows [..., count], and the rank of their places."""
    wide = max(place.rank or 0 for place in places)
    shape: tuple[Any, ...] = ()
    for place in places:
        shape = broadcast(shape, tuple(place.shape or ()))
    known = all(isinstance(size, int) for size in shape)
    columns: list[Value] = []
    for place in places:
        if tuple(place.shape or ()) != shape or None in shape:
            if not known:
                raise Refuse("the indices must have one shape, or known ones")
            place = build.Expand(place, np.array(shape, np.int64))
        columns.append(build.Unsqueeze(place, axes=[wide]))
    return (columns[0] if len(columns) == 1 else build.Concat(*columns, axis=wide)), wide


def _spread(
    build: Builder, values: Value, moved: Value, rows: Value, wide: int, count: int, front: int
) -> Value:
    """Return the values as ScatterND takes them: a slice of the data for each row."""
    rank = moved.rank or 0
    parts = [
        build.Slice(build.Shape(rows), starts=[0], ends=[wide], axes=[0]) if wide else None,
        build.Slice(build.Shape(moved), starts=[count], ends=[rank], axes=[0])
        if rank > count
        else None,
    ]
    if front:
        if (values.rank or 0) != wide + rank - count:
            raise Refuse(
                "values must be written out where an axis in front is taken whole; their rank is "
                f"{values.rank}"
            )
        order = [*range(front, front + wide), *range(front)]
        values = build.Transpose(values, perm=[*order, *range(front + wide, values.rank or 0)])
    there = [part for part in parts if part is not None]
    if not there:
        return build.Reshape(values, np.zeros(0, np.int64)) if values.rank else values
    shape = there[0] if len(there) == 1 else build.Concat(*there, axis=0)
    return build.Expand(values, shape)
