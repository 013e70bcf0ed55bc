"""Replace what joins tensors and takes them apart: cat, stack, split, chunk, unbind, and such.

What it does: Writes cat, concat, stack, hstack, vstack, dstack, column_stack with Concat; split,
    chunk, tensor_split, hsplit, vsplit, dsplit and unbind with Slice and Gather, a node for each
    result; broadcast_tensors with Expand and meshgrid with Reshape and Expand.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, with lists of tensors that no engine has.
Before:
    all = SequenceConstruct (a, b)
    y = org.pytorch.aten.ATen <operator = "cat"> (all, 1)
After: y = Concat <axis = 1> (a, b)
When it refuses: A list is computed at run time or is the result, a rank or type is unknown, an axis
    or a size is computed at run time, or an open axis is cut at constant places counted from its
    end.
Accuracy: Exact, bit by bit; operands of several types are brought to one as PyTorch does.
References: pytorch/pytorch aten/src/ATen/native/TensorShape.cpp
"""

import itertools
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import FAR, Array, Builder, InferredType, Refuse, Value, needed

from ._arguments import ArrayCall, Call
from ._family import Family, Function, Shape, axis_in, broadcast, ranked
from ._lists import arrays_in, none_is_a_list, tensors_in
from ._promoting import common_dtype, of_one_type

_LEAST = {"hstack": 1, "vstack": 2, "row_stack": 2, "dstack": 3, "column_stack": 2}


def _joined_axis(call: Call, values: Sequence[Value]) -> int:
    rank = max(v.rank or 0 for v in values)
    if "dim" in call.schema:
        new = call.operator in ("stack", "_stack")
        return axis_in(call, "dim", rank + new, 0)
    if call.operator == "hstack":
        return 0 if rank <= 1 else 1
    return {"vstack": 0, "row_stack": 0, "dstack": 2, "column_stack": 1}[call.operator]


def _new_axes(call: Call, rank: int, axis: int) -> list[int]:
    """Return where an operand of a rank gets axes of size one, in the result."""
    if call.operator in ("stack", "_stack"):
        return [axis]
    least = _LEAST.get(call.operator, 0)
    if rank >= least:
        return []
    if call.operator == "column_stack":
        return [0, 1] if rank == 0 else [1]
    return {1: [0], 2: [[0, 1], [0]][rank] if rank < 2 else [],
            3: [[0, 1, 2], [0, 2], [2]][rank] if rank < 3 else []}[least]  # fmt: skip


def _operands(call: Call) -> list[Value]:
    values = tensors_in(call)
    if call.operator in ("cat", "concat", "concatenate"):
        # PyTorch skips an empty vector next to anything.
        values = [v for v in values if v.static_shape != (0,)] or values[:1]
    return values


def _cat(build: Builder, call: Call) -> Value:
    values = _operands(call)
    axis = _joined_axis(call, values)
    parts = of_one_type(build, values, common_dtype(values))
    found: list[Value] = []
    for part in parts:
        assert part is not None  # none of them is None
        assert part.rank is not None
        axes = _new_axes(call, part.rank, axis)
        found.append(build.Unsqueeze(part, axes=axes) if axes else part)
    if len({v.rank for v in found}) != 1 or not found[0].rank:
        raise Refuse("the tensors must have one rank, and axes")
    return (
        found[0] if len(found) == 1 and found[0] not in parts else build.Concat(*found, axis=axis)
    )


def _cat_model(call: ArrayCall) -> Any:
    arrays = arrays_in(call)
    dtype = common_dtype(arrays)
    arrays = [a.astype(dtype) for a in arrays if a.shape != (0,)] or arrays[:1]
    return np.concatenate(arrays, int(call.number("dim", 0)))


def _stack_model(function: Callable[..., Any]) -> Callable[[ArrayCall], Any]:
    def model(call: ArrayCall) -> Any:
        arrays = arrays_in(call)
        dtype = common_dtype(arrays)
        further = (int(call.number("dim", 0)),) if "dim" in call.schema else ()
        return function([a.astype(dtype) for a in arrays], *further)

    return model


def _joining(schema: tuple[str, ...], model: Callable[[ArrayCall], Any]) -> Function:
    return Function(schema, _cat, model)


Bound = int | Value
Cuts = list[tuple[Bound, Bound]]


def _axis(call: Call) -> tuple[Value, int]:
    """Return what is taken apart, and along which axis."""
    x, rank = ranked(call, least=1)
    fixed = {"hsplit": 0 if rank == 1 else 1, "vsplit": 0, "dsplit": 2}.get(call.operator)
    axis = fixed if fixed is not None else axis_in(call, "dim", rank, 0)
    if axis >= rank:
        raise Refuse(f"the rank of {x.name} must be more than {axis}; it is {rank}")
    return x, axis


def _lengths(call: Call) -> tuple[str, Sequence[int]]:
    """Return (step, chunks, sizes, sections, places or computed; the numbers)."""
    name = call.schema[1]
    if call.node.has(name) and name in ("indices", "sections"):
        places = isinstance(call.node.attr(name), list | tuple)
        return ("places" if places else "sections"), call.integers(name) or ()
    value = None if call.node.has(name) else call.tensor(name)
    if name == "sections" and value is not None and not value.is_constant:
        return ("computed", []) if value.rank != 0 else (name, [len(call.node.outputs)])
    numbers = needed(call.integers(name), f"{name} must be given")
    if name in ("chunks", "split_sizes"):
        return name.removeprefix("split_"), numbers
    if name == "split_size":
        return (
            "step" if call.overload in ("", "Tensor") and len(numbers) == 1 else "sizes"
        ), numbers
    return ("sections" if value is not None and value.rank == 0 else "places"), numbers


def _cuts(call: Call, size: int | None) -> Cuts | None:
    """Return from where to where each result goes; None where an open size decides it."""
    rule, numbers = _lengths(call)
    count = len(call.node.outputs)
    whole = FAR if size is None else size
    if rule == "sizes":
        ends = np.cumsum(numbers).tolist()
        return list(zip([0, *ends[:-1]], ends, strict=True))
    if rule == "step" or (rule == "chunks" and size is not None):
        step = numbers[0] if rule == "step" else -(-whole // numbers[0])
        return [(min(at * step, whole), min((at + 1) * step, whole)) for at in range(count)]
    if rule == "computed" or (size is None and (rule != "places" or any(n < 0 for n in numbers))):
        return None
    if rule == "places":
        places = [n + whole if n < 0 else min(n, whole) for n in numbers]
    else:
        parts = [len(part) for part in np.array_split(range(whole), numbers[0])]
        places = np.cumsum(parts).tolist()[:-1]
    return list(zip([0, *places], [*places, whole], strict=True))


def _computed_cuts(build: Builder, call: Call, x: Value, axis: int) -> Cuts:
    """Return the same where the size is known at run time alone."""
    rule, numbers = _lengths(call)
    if rule == "computed":
        return _read_cuts(build, call.need("sections"), len(call.node.outputs))
    if rule == "places":
        raise Refuse(f"the size of axis {axis} of {x.name} must be known; it is open")
    size = build.Slice(build.Shape(x), starts=[axis], ends=[axis + 1], axes=[0])
    ends = range(len(call.node.outputs) + 1)
    parts = numbers[0]
    if rule == "chunks":
        step = build.Div(build.Add(size, parts - 1), parts)
        places = [build.Mul(step, at) for at in ends]
    else:
        least = build.Div(size, parts)
        more = build.Sub(size, build.Mul(least, parts))  # so many have one more
        first = [build.Where(build.Less(more, at), more, np.array([at], np.int64)) for at in ends]
        places = [build.Add(build.Mul(least, at), one) for at, one in zip(ends, first, strict=True)]
    return list(itertools.pairwise(places))


def _read_cuts(build: Builder, places: Value, count: int) -> Cuts:
    """Return them where the places are computed: one fewer than there are results."""
    if places.rank != 1 or places.dim(0) not in (None, count - 1):
        raise Refuse(f"sections must be {count - 1} places; they are {places.shape}")
    bounds = build.Concat(places, np.array([FAR]), axis=0)
    ends = [build.Slice(bounds, starts=[n], ends=[n + 1], axes=[0]) for n in range(count)]
    return list(zip([0, *ends[:-1]], ends, strict=True))


def _split(build: Builder, call: Call) -> tuple[Value | None, ...]:
    none_is_a_list(call)
    x, axis = _axis(call)
    cuts = _cuts(call, x.dim(axis))
    if cuts is None:
        cuts = _computed_cuts(build, call, x, axis)
    if len(cuts) < len(call.node.outputs):
        raise Refuse(f"there must be {len(call.node.outputs)} parts; there are {len(cuts)}")
    return tuple(_between(build, x, axis, start, end) for start, end in cuts)


def _between(build: Builder, x: Value, axis: int, start: Bound, end: Bound) -> Value:
    bounds = [[b] if isinstance(b, int) else b for b in (start, end)]
    return build.Slice(x, starts=bounds[0], ends=bounds[1], axes=[axis])


def _split_model(call: ArrayCall, rule: str) -> Any:
    x = call.need("self")
    fixed = {"hsplit": 0 if x.ndim == 1 else 1, "vsplit": 0, "dsplit": 2}.get(rule)
    axis = fixed if fixed is not None else int(call.number("dim", 0)) % x.ndim
    given = [int(e) for e in call.entries(call.schema[1]) or ()]
    if rule == "sizes" or (rule == "split" and len(given) > 1):
        return tuple(np.split(x, np.cumsum(given)[:-1], axis))
    if rule in ("split", "chunk"):
        step = given[0] if rule == "split" else -(-x.shape[axis] // given[0])
        return tuple(np.split(x, range(step, x.shape[axis], step), axis))
    single = call.array(call.schema[1])
    whole = single is not None and single.ndim == 0
    return tuple(np.array_split(x, given[0] if whole else given, axis))


def _unbind(build: Builder, call: Call) -> tuple[Value | None, ...]:
    none_is_a_list(call)
    x, rank = ranked(call, least=1)
    axis = axis_in(call, "dim", rank, 0)
    return tuple(
        build.Gather(x, np.array(at, np.int64), axis=axis) for at in range(len(call.node.outputs))
    )


def _unbind_model(call: ArrayCall) -> Any:
    x, axis = call.need("self"), int(call.number("dim", 0))
    return tuple(np.take(x, at, axis) for at in range(x.shape[axis]))


def _broadcast(build: Builder, call: Call) -> tuple[Value | None, ...]:
    none_is_a_list(call)
    values = tensors_in(call)
    shape = _common(values)
    if not all(isinstance(size, int) for size in shape):
        whole = reduce(build.Add, [build.Cast(v, to=TensorProto.FLOAT) for v in values])
        sizes = build.Shape(whole)
        return tuple(build.Expand(v, sizes) for v in values)
    return tuple(build.Expand(v, np.array(shape, np.int64)) for v in values)


def _common(values: Sequence[Value]) -> Shape:
    shapes: list[Shape] = [tuple(v.shape or ()) for v in values]
    return reduce(broadcast, shapes)


def _grid_shape(call: Call) -> tuple[list[Value], list[int]]:
    values = tensors_in(call)
    if any((v.rank or 0) > 1 for v in values):
        raise Refuse("the tensors of meshgrid must be vectors")
    order = list(range(len(values)))
    if len(values) > 1 and _indexing(call) == "xy":
        order[:2] = [1, 0]
    return values, order


def _indexing(call: Call) -> str:
    return call.text("indexing", "ij") if "indexing" in call.schema else "ij"


def _meshgrid(build: Builder, call: Call) -> tuple[Value | None, ...]:
    none_is_a_list(call)
    values, order = _grid_shape(call)
    flat = [build.Reshape(v, [-1]) for v in values]
    sizes = [build.Shape(v) for v in flat]
    shape = build.Concat(*(sizes[order[at]] for at in range(len(flat))), axis=0)
    found: list[Value] = []
    for at, value in enumerate(flat):
        lined = build.Reshape(value, [-1 if order[a] == at else 1 for a in range(len(flat))])
        found.append(build.Expand(lined, shape))
    return tuple(found)


def _meshgrid_type(call: Call) -> Sequence[InferredType | None]:
    values, order = _grid_shape(call)
    sizes = [(v.shape or (1,))[0] for v in values]
    return [InferredType(v.elem_type, tuple(sizes[a] for a in order)) for v in values]


def _meshgrid_model(call: ArrayCall) -> Any:
    text = str(call.array("indexing")) if "indexing" in call.schema else "ij"
    arrays: list[Array] = [a.reshape(-1) for a in arrays_in(call)]
    return tuple(np.meshgrid(*arrays, indexing="xy" if text == "xy" else "ij"))


def _splitting(rule: str, *schema: str) -> Function:
    return Function(("self", *schema), _split, lambda c: _split_model(c, rule))


_CAT = _joining(("tensors", "dim"), _cat_model)
_STACK = _joining(("tensors", "dim"), _stack_model(np.stack))
_SPLIT = _splitting("split", "split_size", "dim")
_SIZES = _splitting("sizes", "split_sizes", "dim")
_CHUNK = _splitting("chunk", "chunks", "dim")
_UNBIND = Function(("self", "dim"), _unbind, _unbind_model)
_MESHGRID = Function(("tensors",), _meshgrid, _meshgrid_model, infer=_meshgrid_type)
_FUNCTIONS = {
    "cat": _CAT, "concat": _CAT, "concatenate": _CAT, "stack": _STACK, "_stack": _STACK,
    **{name: _joining(("tensors",), _stack_model(function))
       for name, function in (("hstack", np.hstack), ("vstack", np.vstack),
                              ("row_stack", np.vstack), ("dstack", np.dstack),
                              ("column_stack", np.column_stack))},
    "split": _SPLIT, "unsafe_split": _SPLIT, "split_copy": _SPLIT,
    **dict.fromkeys(("split_with_sizes", "split_with_sizes_copy", "unsafe_split_with_sizes"),
                    _SIZES),
    "chunk": _CHUNK, "unsafe_chunk": _CHUNK,
    "tensor_split": _splitting("tensor_split", "sections", "dim"),
    **{name: _splitting(name, "sections") for name in ("hsplit", "vsplit", "dsplit")},
    "unbind": _UNBIND, "unbind_copy": _UNBIND,
    "broadcast_tensors": Function(
        ("tensors",), _broadcast, lambda c: tuple(np.broadcast_arrays(*arrays_in(c)))),
    "meshgrid": _MESHGRID,
    "meshgrid.indexing": Function(("tensors", "indexing"), _meshgrid, _meshgrid_model,
                                  infer=_meshgrid_type),
}  # fmt: skip
FAMILY = Family(_FUNCTIONS)


aten_cat = FAMILY.replaced(
    __name__,
    emits="Add Cast Concat Div Expand Gather Less Mul Reshape Shape Slice Sub Unsqueeze Where",
)
