"""Replace what writes to places of a tensor: scatter, scatter_add, put, index_copy, and such.

What it does: Writes scatter, scatter_add and scatter_reduce with ScatterElements; index_fill,
    index_copy, index_add and index_reduce with ScatterElements of indices that are spread over the
    other axes; put with ScatterElements of what is flat.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "scatter_add"> (x, 0, places, source)
After: y = ScatterElements <axis = 0, reduction = "add"> (x, places, source)
When it refuses: A rank is unknown, an axis or a reduction is computed at run time, values are added
    up below opset 16 (the largest or smallest taken below 18), or a mean of integers is taken.
Accuracy: Exact; sums of several values at one place come in any order, as in PyTorch.
References: pytorch/pytorch aten/src/ATen/native/TensorAdvancedIndexing.cpp (scatter, index_add)
"""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._arithmetic import held, is_float
from ._family import Family, Function, axis_in, index_vector, ranked
from ._promoting import of_one_type

_REDUCTIONS = {
    "sum": "add", "prod": "mul", "amax": "max", "amin": "min", "add": "add", "multiply": "mul",
    "mean": "add",
}  # fmt: skip
_SINCE = {"none": 11, "add": 16, "mul": 16, "max": 18, "min": 18}


def _reduction(call: Call) -> str:
    if call.operator in ("scatter_add", "index_add"):
        name = "sum"
    elif "reduce" in call.schema:
        name = call.text("reduce", "")
    else:
        return "none"
    if name not in _REDUCTIONS:
        raise Refuse(f"the reduction must be of one step; it is {name}")
    return _REDUCTIONS[name]


def _scattering(build: Builder, x: Value, places: Value, source: Value, axis: int,
                reduction: str) -> Value:  # fmt: skip
    if build.opset < _SINCE[reduction]:
        raise Refuse(f"the opset must be at least {_SINCE[reduction]}; it is {build.opset}")
    further = {} if reduction == "none" else {"reduction": reduction}
    return build.ScatterElements(x, places, source, axis=axis, **further)


def _scatter(build: Builder, call: Call) -> Value:
    x, rank = ranked(call, least=1)
    places, own = ranked(call, "index")
    axis = axis_in(call, "dim", rank)
    if own != rank:
        raise Refuse(f"the ranks must be equal; they are {rank} and {own}")
    value = call.need(call.schema[3])
    if call.schema[3] == "value" or not value.rank:
        value = _typed_like(build, value, x)
        source = build.Expand(value, build.Shape(places))
    else:
        source = _as_large(build, value, places)
    return _reduced(build, call, x, places, source, axis)


def _typed_like(build: Builder, value: Value, x: Value) -> Value:
    if x.dtype is None:
        raise Refuse(f"the dtype of {x.name} must be one that numpy has; it is {x.type_name}")
    (found,) = of_one_type(build, [value], x.dtype)
    assert found is not None  # what goes in comes out
    return found


def _as_large(build: Builder, source: Value, places: Value) -> Value:
    """Return the corner of a source that has the size of the indices."""
    own, wanted = source.shape, places.shape
    if own == wanted and own is not None and None not in own:
        return source
    return build.Slice(
        source, starts=[0] * (source.rank or 0), ends=build.Shape(places),
        axes=list(range(source.rank or 0)),
    )  # fmt: skip


def _reduced(
    build: Builder, call: Call, x: Value, places: Value, source: Value, axis: int
) -> Value:
    reduction = _reduction(call)
    mean = "reduce" in call.schema and call.text("reduce", "") == "mean"
    cleared = _cleared(build, call, x, places, axis)
    total = _scattering(build, cleared, places, source, axis, reduction)
    if not mean:
        return total
    ones = build.Expand(held(build, x, 1), build.Shape(x))
    every = build.Expand(held(build, x, 1), build.Shape(places))
    counts = _cleared(build, call, ones, places, axis)
    number = _scattering(build, counts, places, every, axis, "add")
    if not is_float(x):  # rounded down, as PyTorch does
        total = build.Sub(total, build.Mod(total, number))
    return build.Div(total, number)


def _cleared(build: Builder, call: Call, x: Value, places: Value, axis: int) -> Value:
    """Return a tensor without what is at places, where that does not count."""
    if "include_self" not in call.schema or bool(call.number("include_self", 1)):
        return x
    nothing = build.constant(np.array(_nothing(call.text("reduce", ""), x.dtype), x.dtype))
    return build.ScatterElements(x, places, build.Expand(nothing, build.Shape(places)), axis=axis)


def _nothing(name: str, dtype: Any) -> Any:
    """Return what changes nothing in a reduction."""
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else None
    if name in ("amax", "amin"):
        lowest = -np.inf if limits is None else limits.min
        highest = np.inf if limits is None else limits.max
        return lowest if name == "amax" else highest
    return 1 if name in ("prod", "multiply") else 0


def _scatter_model(call: ArrayCall) -> Any:
    found, where, values = _set_apart(call)
    _accumulate(call, found, where, values)
    return found


def _put(build: Builder, call: Call) -> Value:
    x, rank = ranked(call)
    reduction = "add" if call.number("accumulate", 0) else "none"
    source = _typed_like(build, call.need("source"), x)
    flat, places, values = (
        one if one.rank == 1 else build.Reshape(one, [-1])
        for one in (x, index_vector(build, call), source)
    )
    found = _scattering(build, flat, places, values, 0, reduction)
    if rank == 1:
        return found
    if x.static_shape is not None:
        return build.Reshape(found, list(x.static_shape))
    if build.opset < 14:
        raise Refuse(f"the sizes of {x.name} must be known below opset 14; one is open")
    return build.Reshape(found, build.Shape(x), allowzero=1)  # there may be no elements


def _put_model(call: ArrayCall) -> Any:
    x = call.need("self")
    flat: Array = x.copy().reshape(-1)
    places = call.need("index").reshape(-1)
    values = call.need("source").reshape(-1).astype(x.dtype)
    if call.number("accumulate", 0):
        np.add.at(flat, places, values)
    else:
        flat[places] = values
    return flat.reshape(x.shape)


def _set_model(call: ArrayCall) -> Any:
    found, where, values = _set_apart(call)
    found[where] = values
    return found


def _set_apart(call: ArrayCall) -> tuple[Array, tuple[Any, ...], Array]:
    """Return (a copy of the tensor, the places that are written to, what is written there)."""
    found, places = call.need("self").copy(), call.need("index")
    source: Any = call.need(call.schema[3])
    cut = tuple(slice(size) for size in places.shape)
    values = np.broadcast_to(source, places.shape) if not source.ndim else source[cut]
    where: list[Any] = [*np.indices(places.shape)]
    where[int(call.number("dim"))] = places
    return found, tuple(where), values.astype(found.dtype)


def _accumulate(call: ArrayCall, found: Any, where: Any, values: Any) -> None:
    name = str(call.array("reduce")) if "reduce" in call.schema else "sum"
    if "include_self" in call.schema and not call.number("include_self", 1):
        found[where] = _nothing(name, found.dtype)
    functions: dict[str, Any] = {
        "sum": np.add, "add": np.add, "prod": np.multiply, "multiply": np.multiply,
        "amax": np.maximum, "amin": np.minimum,
    }  # fmt: skip
    functions.get(name, np.add).at(found, where, values)
    if name == "mean":
        counts = np.ones_like(found)
        if "include_self" in call.schema and not call.number("include_self", 1):
            counts[where] = 0
        np.add.at(counts, where, 1)
        counts = np.maximum(counts, 1)
        found[...] = found // counts if found.dtype.kind in "iu" else found / counts


def _spread(build: Builder, call: Call) -> tuple[Value, Value, int]:
    """Return (the tensor, indices spread over its other axes, the axis)."""
    x, rank = ranked(call)
    axis = axis_in(call, "dim", rank)
    places = index_vector(build, call)
    if not rank:
        return build.Unsqueeze(x, axes=[0]), places, 0
    lined = build.Reshape(places, [-1 if a == axis else 1 for a in range(rank)])
    count = build.Shape(places)
    sizes = build.Shape(x)
    parts = [build.Slice(sizes, starts=[0], ends=[axis], axes=[0])] if axis else []
    parts.append(count)
    if axis < rank - 1:
        parts.append(build.Slice(sizes, starts=[axis + 1], ends=[rank], axes=[0]))
    whole = build.Concat(*parts, axis=0) if len(parts) > 1 else count
    return x, build.Expand(lined, whole), axis


def _index_write(build: Builder, call: Call) -> Value:
    x, places, axis = _spread(build, call)
    value = call.need(call.schema[3])
    value = _typed_like(build, value, x)
    factor = call.number("alpha", 1) if "alpha" in call.schema else 1
    if factor != 1:
        value = build.Mul(value, factor)
    if value.rank != x.rank or call.operator == "index_fill":
        value = build.Expand(value, build.Shape(places))
    found = _reduced(build, call, x, places, value, axis)
    return found if call.need("self").rank else build.Squeeze(found, axes=[0])


def _index_model(call: ArrayCall) -> Any:
    own, axis = call.need("self"), int(call.number("dim"))
    found = np.atleast_1d(own.copy())
    axis %= found.ndim
    places = call.need("index").reshape(-1)
    values = call.need(call.schema[3]).astype(found.dtype)
    if "alpha" in call.schema:
        values = values * found.dtype.type(call.number("alpha", 1))
    where: Any = (slice(None),) * axis + (places,)
    plain = {"reduce", "alpha"}.isdisjoint(call.schema)
    if plain:
        found[where] = values
    else:
        _accumulate(call, found, where, values)
    return np.reshape(found, own.shape)


_AT = ("self", "dim", "index")
FAMILY = Family({
    "scatter": Function((*_AT, "src"), _scatter, _set_model),
    "scatter.value": Function((*_AT, "value"), _scatter, _set_model),
    "scatter.reduce": Function((*_AT, "src", "reduce"), _scatter, _scatter_model),
    "scatter.value_reduce": Function((*_AT, "value", "reduce"), _scatter, _scatter_model),
    "scatter_add": Function((*_AT, "src"), _scatter, _scatter_model),
    "scatter_reduce": Function((*_AT, "src", "reduce", "include_self"), _scatter, _scatter_model),
    "put": Function(("self", "index", "source", "accumulate"), _put, _put_model),
    "index_fill": Function((*_AT, "value"), _index_write, _index_model),
    "index_copy": Function((*_AT, "source"), _index_write, _index_model),
    "index_add": Function((*_AT, "source", "alpha"), _index_write, _index_model),
    "index_reduce": Function((*_AT, "source", "reduce", "include_self"), _index_write,
                              _index_model),
})  # fmt: skip


aten_scatter = FAMILY.replaced(
    __name__,
    emits=(
        "Cast Concat Div Expand Mod Mul Reshape ScatterElements Shape Slice Squeeze Sub Unsqueeze"
    ),
)
