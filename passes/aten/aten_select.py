"""Replace what reads and writes one part of a tensor: select, narrow, slice, gather, take, ...

What it does: Writes select, narrow, slice, index_select, gather and take with Gather, Slice and
    GatherElements; select_scatter and slice_scatter with Slice and Concat.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "narrow"> (x, 1, 2, 3)
After: y = Slice (x, [2], [5], [1])
When it refuses: A rank is unknown, an axis, a bound or a step is computed at run time, or an open
    axis is written to at a place counted from its end.
Accuracy: Exact, bit by bit.
References: pytorch/pytorch aten/src/ATen/native/TensorShape.cpp (narrow, slice),
    TensorAdvancedIndexing.cpp (gather, take)
"""

from typing import Any

import numpy as np

from graphfix.authoring import FAR, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, axis_in, by_sizes, index_vector, like, ranked


def _select(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, least=1)
    axis, index = axis_in(call, "dim", rank), int(call.number("index"))
    size = x.dim(axis)
    if index < 0 and size is None and build.opset < 11:
        raise Refuse(f"the size of axis {axis} of {x.name} must be known; it is open")
    place = index + size if index < 0 and size is not None else index
    return build.Gather(x, np.array(place, np.int64), axis=axis)


def _bounds(call: Call, size: int | None) -> tuple[int, int, int]:
    """Return (start, end, step); counted from the front where the size is known."""
    start = int(call.number("start", 0))
    step = int(call.number("step", 1)) if "step" in call.schema else 1
    if "length" in call.schema:
        end = start + int(call.number("length"))
        end = end or FAR if start < 0 else end
    else:
        end = int(call.number("end", FAR))
    if step < 1:
        raise Refuse(f"the step must be positive; it is {step}")
    if size is None:
        return start, min(end, FAR), step
    first, last, _ = slice(start, end, step).indices(size)
    return first, max(last, first), step


def _slice(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, least=1)
    axis = axis_in(call, "dim", rank, 0)
    start, end, step = _bounds(call, x.dim(axis))
    steps = {} if step == 1 else {"steps": [step]}
    return build.Slice(x, starts=[start], ends=[end], axes=[axis], **steps)


def _slice_model(call: ArrayCall) -> Any:
    x, axis = call.need("self"), int(call.number("dim", 0))
    start, step = int(call.number("start", 0)), 1
    end: int | None = None
    if "length" in call.schema:
        start %= max(x.shape[axis], 1)
        end = start + int(call.number("length"))
    else:
        last, step = call.number("end"), int(call.number("step", 1))
        end = None if last is None else int(last)
    return x[(slice(None),) * (axis % x.ndim) + (slice(start, end, step),)].copy()


def _index_select(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    axis = axis_in(call, "dim", rank)
    if not rank:
        return build.Identity(x)
    return build.Gather(x, index_vector(build, call), axis=axis)


def _gather(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    places, own = ranked(call, "index")
    axis = axis_in(call, "dim", rank)
    if not rank or not own:
        flat = build.Reshape(x, [-1]) if not rank else x
        return build.Gather(flat, places, axis=0)
    return build.GatherElements(x, places, axis=axis)


def _gather_model(call: ArrayCall) -> Any:
    x, places, axis = call.need("self"), call.need("index"), int(call.number("dim"))
    if not x.ndim or not places.ndim:
        return np.take(x.reshape(-1) if not x.ndim else x, places, 0)
    axis %= x.ndim
    cut = tuple(slice(None) if a == axis else slice(places.shape[a]) for a in range(x.ndim))
    return np.take_along_axis(x[cut], places, axis)


def _take(build: Builder, call: Call) -> Value:
    return build.Gather(build.Reshape(call.need("self"), [-1]), ranked(call, "index")[0], axis=0)


def _written(build: Builder, call: Call) -> Value:
    """Put a tensor in the place of a part."""
    x, rank = ranked(call, least=1)
    source = call.need("src")
    axis = axis_in(call, "dim", rank, 0)
    size = x.dim(axis)
    if source.elem_type != x.elem_type:
        raise Refuse(f"{source.name} must be {x.type_name}; it is {source.type_name}")
    if call.operator == "select_scatter":
        index = int(call.number("index"))
        start, end, step = index + (size or 0) if index < 0 else index, 0, 1
        end, source = start + 1, build.Unsqueeze(source, axes=[axis])
    else:
        start, end, step = _bounds(call, size)
    if size is None and (start < 0 or end < 0):
        raise Refuse(f"the size of axis {axis} of {x.name} must be known; it is open")
    if step != 1:
        if size is None:
            raise Refuse(f"the size of axis {axis} of {x.name} must be known; it is open")
        places = np.arange(size, dtype=np.int64)
        places[start:end:step] = size + np.arange(len(places[start:end:step]))
        return build.Gather(build.Concat(x, source, axis=axis), places, axis=axis)
    before = build.Slice(x, starts=[0], ends=[start], axes=[axis]) if start else None
    after = build.Slice(x, starts=[end], ends=[FAR], axes=[axis]) if end != size else None
    parts = [part for part in (before, source, after) if part is not None]
    return build.Concat(*parts, axis=axis) if len(parts) > 1 else build.Identity(source)


def _written_model(call: ArrayCall) -> Any:
    found, axis = call.need("self").copy(), int(call.number("dim", 0))
    head: tuple[Any, ...] = (slice(None),) * (axis % found.ndim)
    if "index" in call.schema:
        found[(*head, int(call.number("index")))] = call.need("src")
    else:
        end = call.number("end")
        part = slice(call.number("start"), None if end is None else int(end), call.number("step"))
        found[(*head, part)] = call.need("src")
    return found


_SLICE = Function(("self", "dim", "start", "end", "step"), _slice, _slice_model)


def _embedded(build: Builder, call: Call) -> Value:
    return build.Gather(call.need("weight"), call.need("indices"), axis=0)


def _narrowed(sizes: Any, call: Call) -> Any:
    axis = axis_in(call, "dim", len(sizes), 0)
    return [*sizes[:axis], int(call.number("length")), *sizes[axis + 1 :]]


_NARROW = Function(
    ("self", "dim", "start", "length"), _slice, _slice_model, infer=by_sizes(_narrowed)
)
_SELECT = Function(
    ("self", "dim", "index"), _select,
    lambda c: np.take(c.need("self"), int(c.number("index")), int(c.number("dim"))),
)  # fmt: skip
_AT = ("self", "dim", "index")
_FUNCTIONS = {
    "slice": _SLICE, "slice_copy": _SLICE, "narrow": _NARROW, "narrow_copy": _NARROW,
    "select": _SELECT, "select_copy": _SELECT,
    "index_select": Function(
        _AT, _index_select,
        lambda c: np.take(c.need("self"), c.need("index").reshape(-1), int(c.number("dim")))
        if c.need("self").ndim else c.need("self")),
    "gather": Function((*_AT, "sparse_grad"), _gather, _gather_model),
    "take": Function(("self", "index"), _take,
                     lambda c: c.need("self").reshape(-1)[c.need("index")]),
    "embedding": Function(
        ("weight", "indices", "padding_idx", "scale_grad_by_freq", "sparse"), _embedded,
        lambda c: c.need("weight")[c.need("indices")],
    ),
    "select_scatter": Function(("self", "src", "dim", "index"), _written, _written_model,
                               infer=like()),
    "slice_scatter": Function(("self", "src", "dim", "start", "end", "step"), _written,
                              _written_model, infer=like()),
}  # fmt: skip
FAMILY = Family(_FUNCTIONS)


aten_select = FAMILY.replaced(
    __name__, emits="Concat Gather GatherElements Identity Reshape Slice Unsqueeze"
)
