"""Replace moves whose places are known from the sizes: diag, unfold, as_strided, pixel_shuffle, ...

What it does: Computes from where each element comes, where all sizes are known, and gathers it:
    diag, diagflat, block_diag, diagonal_scatter, unfold, as_strided, as_strided_scatter,
    pixel_shuffle, pixel_unshuffle, repeat_interleave, cartesian_prod, combinations and pads that
    wrap around. Other pads become Pad, at any size.
Why engines need it: ONNX has no such operators, or no such forms of them, and PyTorch's exporters
    have written ATen nodes.
Before: y = org.pytorch.aten.ATen <operator = "unfold"> (x, 0, 2, 1)        # x: float[3]
After: y = Gather (x, [[0, 1], [1, 2]])
When it refuses: A size is open (but for as_strided and pads), an argument is computed at run time,
    the result has more than 2^20 elements, or tensors that are joined have several types.
Accuracy: Exact, bit by bit. as_strided takes its tensor for contiguous, as an exported one is.
References: pytorch/pytorch aten/src/ATen/native/TensorShape.cpp (unfold, as_strided, block_diag),
    Repeat.cpp, PixelShuffle.cpp, PadNd.cpp, Itertools.cpp (combinations)
"""

import itertools
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, Written, ranked
from ._lists import arrays_in, tensors_in

_MOST = 1 << 20
_ENDLESS = 1 << 62  # elements, where it is not known how many there are
_MODES: dict[str, Any] = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
Move = Callable[[ArrayCall, list[Array], Any], Any]


def _tensors(call: Call, names: tuple[str, ...]) -> list[Value]:
    found: list[Value] = []
    for name in names:
        found += tensors_in(call, name) if name == "tensors" else [call.need(name)]
    for value in found:
        if value.static_shape is None or not value.elem_type:
            raise Refuse(f"the sizes and the dtype of {value.name} must be known")
    kinds = sorted({value.type_name for value in found})
    if len(kinds) > 1:
        raise Refuse(f"the tensors must have one dtype; they are {', '.join(kinds)}")
    return found


def _constants(call: Call, names: tuple[str, ...]) -> ArrayCall:
    """Return the call with its values, and nothing in the place of tensors."""
    inputs: list[Any] = [None] * len(call.schema)
    for at, name in enumerate(call.schema):
        if name in names:
            continue
        if name == "mode":
            inputs[at] = np.array(call.text(name, "constant"))
        elif call.tensor(name) is not None or call.node.has(name):
            entries = call.entries(name)
            inputs[at] = None if entries is None or None in entries else np.asarray(entries)
    return ArrayCall(inputs, {}, call.schema)


def _place_numbers(call: Call, names: tuple[str, ...], move: Move) -> tuple[list[Value], Array]:
    """Return the tensors, and for each element of the result where it is in all of them."""
    values = _tensors(call, names)
    arrays: list[Array] = []
    count = 0
    for value in values:
        size = prod(value.static_shape or ())
        if size > _MOST:
            raise Refuse(f"{value.name} must have at most {_MOST} elements; it has {size}")
        arrays.append(np.arange(count, count + size).reshape(value.static_shape or ()))
        count += size
    with np.errstate(all="ignore"):
        places = np.asarray(move(_constants(call, names), arrays, count))
    if places.size > _MOST:
        raise Refuse(f"the result must have at most {_MOST} elements; it has {places.size}")
    return values, places.astype(np.int64)


def _placed(names: tuple[str, ...], move: Move) -> Callable[[Builder, Call], Value]:
    def write(build: Builder, call: Call) -> Value:
        values, places = _place_numbers(call, names, move)
        count = sum(prod(value.static_shape or ()) for value in values)
        flat = [build.Reshape(value, [-1]) for value in values]
        if (places == count).any():
            fill = np.zeros(1, values[0].dtype) + _fill(call, values[0])
            flat.append(build.constant(fill.astype(values[0].dtype)))
        joined = build.Concat(*flat, axis=0) if len(flat) > 1 else flat[0]
        return build.Gather(joined, places, axis=0)

    return write


def _fill(call: Call, x: Value) -> Any:
    return call.number("value", 0) if "value" in call.schema else 0


def _modelled(names: tuple[str, ...], move: Move) -> Callable[[ArrayCall], Any]:
    def model(call: ArrayCall) -> Any:
        arrays: list[Array] = []
        for name in names:
            arrays += arrays_in(call, name) if name == "tensors" else [call.need(name)]
        value = call.number("value", 0) if "value" in call.schema else 0
        return np.asarray(move(call, arrays, value)).astype(arrays[0].dtype)

    return model


def _function(move: Move, *schema: str, tensors: tuple[str, ...] = ("self",)) -> Function:
    return Function(schema, _placed(tensors, move), _modelled(tensors, move))


def _numbers(call: ArrayCall, name: str) -> list[int]:
    return [int(entry) for entry in call.entries(name) or ()]


def _wide(x: Array, fill: Any) -> np.dtype[Any]:
    return np.result_type(x.dtype, np.asarray(fill).dtype)


def _diag(call: ArrayCall, given: list[Array], fill: Any) -> Any:
    x, offset = given[0], int(call.number(call.schema[1], 0))
    if x.ndim == 2 and "diagonal" in call.schema:
        return np.diagonal(x, offset)
    flat = x.reshape(-1)
    size = len(flat) + abs(offset)
    found = np.full((size, size), fill, dtype=_wide(flat, fill))
    at = np.arange(len(flat))
    found[at + max(-offset, 0), at + max(offset, 0)] = flat
    return found


def _block_diag(_: ArrayCall, given: list[Array], fill: Any) -> Any:
    blocks = [np.atleast_2d(x) for x in given]
    shape = (sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks))
    found = np.full(shape, fill, dtype=np.result_type(*blocks))
    row = column = 0
    for block in blocks:
        found[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]
    return found


def _unfold(call: ArrayCall, given: list[Array], _: Any) -> Any:
    x, axis, size = given[0], int(call.number("dimension")), int(call.number("size"))
    step = int(call.number("step"))
    if not x.ndim:
        return x.reshape(1)[:size]
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis)
    every = (slice(None),) * (axis % x.ndim) + (slice(None, None, step),)
    return windows[every]


def _strided_places(call: ArrayCall, count: int) -> Array:
    sizes, strides = _numbers(call, "size"), _numbers(call, "stride")
    at: Array = np.full(sizes, int(call.number("storage_offset", 0)), np.int64)
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        at = at + (np.arange(size) * stride).reshape(
            [-1 if a == axis else 1 for a in range(len(sizes))]
        )
    if at.size and not (at.min() >= 0 and at.max() < count):
        raise Refuse(f"the places must lie in the {count} elements; they do not")
    return at


def _strided(call: ArrayCall, given: list[Array], _: Any) -> Any:
    return np.take(given[0], _strided_places(call, given[0].size))


def _strided_scatter(call: ArrayCall, given: list[Array], _: Any) -> Any:
    found: Array = given[0].reshape(-1).copy()
    found[_strided_places(call, len(found))] = given[1]
    return np.reshape(found, given[0].shape)


def _diagonal_scatter(call: ArrayCall, given: list[Array], _: Any) -> Any:
    found: Array = given[0].copy()
    first, second = int(call.number("dim1", 0)), int(call.number("dim2", 1))
    places = np.diagonal(
        np.reshape(np.arange(found.size), found.shape), int(call.number("offset", 0)), first, second
    )
    found.reshape(-1)[places] = given[1]
    return found


def _shuffle(call: ArrayCall, given: list[Array], _: Any) -> Any:
    x, r = given[0], int(call.number("upscale_factor"))
    *batch, channels, height, width = x.shape
    parts = x.reshape(*batch, channels // (r * r), r, r, height, width)
    n = len(batch)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return parts.transpose(order).reshape(*batch, channels // (r * r), height * r, width * r)


def _unshuffle(call: ArrayCall, given: list[Array], _: Any) -> Any:
    x, r = given[0], int(call.number("downscale_factor"))
    *batch, channels, height, width = x.shape
    parts = x.reshape(*batch, channels, height // r, r, width // r, r)
    n = len(batch)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return parts.transpose(order).reshape(*batch, channels * r * r, height // r, width // r)


def _interleave(call: ArrayCall, given: list[Array], _: Any) -> Any:
    axis, counts = call.number("dim"), _numbers(call, "repeats")
    repeats: Any = counts[0] if len(counts) == 1 else counts
    return np.repeat(given[0], repeats, None if axis is None else int(axis))


def _product(_: ArrayCall, given: list[Array], __: Any) -> Any:
    if len(given) == 1:
        return given[0]
    return np.stack([g.reshape(-1) for g in np.meshgrid(*given, indexing="ij")], -1)


def _combinations(call: ArrayCall, given: list[Array], _: Any) -> Any:
    r = int(call.number("r", 2))
    again = bool(call.number("with_replacement", 0))
    ways = itertools.combinations_with_replacement if again else itertools.combinations
    rows = list(itertools.islice(ways(range(len(given[0])), r), _MOST))
    return given[0][np.array(rows, np.int64).reshape(-1, r)]


def _pad(mode: str) -> Move:
    def move(call: ArrayCall, given: list[Array], fill: Any) -> Any:
        x, pads = given[0], _numbers(call, call.schema[1])
        chosen = str(call.array("mode")) if "mode" in call.schema else mode
        pairs = list(zip(pads[::2], pads[1::2], strict=True))[::-1]
        every = [(0, 0)] * (x.ndim - len(pairs)) + pairs
        cut = tuple(
            slice(max(-a, 0), size - max(-b, 0))
            for (a, b), size in zip(every, x.shape, strict=True)
        )
        grown: Any = [(max(a, 0), max(b, 0)) for a, b in every]
        if chosen == "constant":
            wide = x[cut].astype(_wide(x, fill))
            return np.pad(wide, grown, constant_values=fill)
        if any(a < 0 or b < 0 for a, b in every):
            raise Refuse(f"pads of mode {chosen} must not be negative")
        return np.pad(x, grown, mode=_MODES[chosen])

    return move


def _padding(mode: str, *further: str) -> Function:
    moved = _function(_pad(mode), "self", *(further or ("padding",)))
    return Function(moved.schema, _pad_written(mode, moved), moved.model)


def _pad_written(mode: str, moved: Function) -> Callable[[Builder, Call], Any]:
    def write(build: Builder, call: Call) -> Any:
        x, rank = ranked(call)
        pads = call.integers(call.schema[1]) or ()
        chosen = _MODES.get(call.text("mode", mode) if "mode" in call.schema else mode)
        if chosen == "wrap" or (min(pads, default=0) < 0 and chosen):
            return moved.write(build, call)
        if not any(pads):
            return build.Identity(x)
        free = [0] * (rank - len(pads) // 2)
        each = [*free, *pads[-2::-2], *free, *pads[::-2]]
        if chosen:
            return build.Pad(x, each, mode=chosen)
        value = call.number("value", 0) if "value" in call.schema else 0
        return build.Pad(x, each, np.array(value, x.dtype))

    return write


def _strided_written(build: Builder, call: Call) -> Value:
    """Gather from the flat tensor, whose size is of no matter."""
    x = call.need("self")
    size = x.static_shape
    count = prod(size) if size is not None else 1 << 62
    places = _strided_places(_constants(call, ("self",)), count)
    if places.size > _MOST:
        raise Refuse(f"the result must have at most {_MOST} elements; it has {places.size}")
    return build.Gather(build.Reshape(x, [-1]), places, axis=0)


_STRIDED = Function(
    ("self", "size", "stride", "storage_offset"),
    _strided_written,
    _modelled(("self",), _strided),
)


def _scatter_written(build: Builder, call: Call) -> Written:
    x, source = call.need("self"), call.need("src")
    if x.static_shape is not None:
        return _SCATTERED.write(build, call)
    places = _strided_places(_constants(call, _BOTH), _ENDLESS).reshape(-1)
    if len(np.unique(places)) < places.size:
        raise Refuse("no place must be written to twice; one is")
    if places.size > _MOST:
        raise Refuse(f"at most {_MOST} places must be written to; there are {places.size}")
    if x.elem_type != source.elem_type:
        raise Refuse(f"the types must be one; they are {x.type_name} and {source.type_name}")
    flat, values = (build.Reshape(value, [-1]) for value in (x, source))
    found = build.ScatterElements(flat, places.astype(np.int64), values, axis=0)
    return build.Reshape(found, build.Shape(x))


_BOTH = ("self", "src")
_SCATTERED = _function(_strided_scatter, *_BOTH, "size", "stride", "storage_offset", tensors=_BOTH)
_STRIDED_SCATTER = Function(_SCATTERED.schema, _scatter_written, _SCATTERED.model)
_FUNCTIONS = {
    "diag": _function(_diag, "self", "diagonal"),
    "diagflat": _function(_diag, "self", "offset"),
    "block_diag": _function(_block_diag, "tensors", tensors=("tensors",)),
    "unfold": _function(_unfold, "self", "dimension", "size", "step"),
    "unfold_copy": _function(_unfold, "self", "dimension", "size", "step"),
    "as_strided": _STRIDED, "as_strided_copy": _STRIDED,
    "as_strided_scatter": _STRIDED_SCATTER,
    "diagonal_scatter": _function(
        _diagonal_scatter, "self", "src", "offset", "dim1", "dim2", tensors=("self", "src")),
    "pixel_shuffle": _function(_shuffle, "self", "upscale_factor"),
    "pixel_unshuffle": _function(_unshuffle, "self", "downscale_factor"),
    "repeat_interleave": _function(_interleave, "self", "repeats", "dim"),
    "cartesian_prod": _function(_product, "tensors", tensors=("tensors",)),
    "combinations": _function(_combinations, "self", "r", "with_replacement"),
    "constant_pad_nd": _padding("constant", "pad", "value"),
    "pad": _padding("constant", "pad", "mode", "value"),
    **{f"{kind}_pad{n}d": _padding(mode) for n in (1, 2, 3)
       for kind, mode in (("reflection", "reflect"), ("replication", "replicate"))},
}  # fmt: skip
FAMILY = Family(_FUNCTIONS, frozenset({"repeat_interleave.Tensor"}))


aten_places = FAMILY.replaced(
    __name__, emits="Concat Gather Identity Pad Reshape ScatterElements Shape"
)
