"""Inputs for a file of an exporter, drawn by names, types and declared sizes.

Reads no module of graphfix, so that tools can draw calibration data with it in their own
environments, and the judge shares nothing with what it judges.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

_TYPES: dict[str, Any] = {
    "float": np.float32,
    "float16": np.float16,
    "double": np.float64,
    "bool": np.bool_,
    "string": np.str_,
} | {
    f"{sign}int{bits}": np.dtype(f"{sign}int{bits}")
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}
# The size of a head where a file leaves it free, as exporters/genai_models.py makes them.
HEAD = 16
# Sizes to try, for (batch, sequence, past, side of an image, what has no telling name): what a
# network takes of free sizes is known only once it runs.
SIZES: tuple[tuple[int, int, int, int, int], ...] = (
    (2, 6, 4, 32, 4),
    (1, 16, 16, 64, 1),
    (1, 8, 8, 96, 8),
    (2, 64, 1, 160, 2),
    (1, 400, 4, 224, 400),
    (1, 2000, 4, 320, 2000),
)


def size_of(symbol: object, place: int, rank: int, sizes: Sequence[int]) -> int:
    """Return the size of a dimension.

    Args:
        symbol: As onnxruntime gives it: an integer, a text, or None.
        place: Its axis.
        rank: How many axes there are.
        sizes: One of `SIZES`.
    """
    batch, sequence, past, side, other = sizes
    if isinstance(symbol, int):
        return symbol
    name = str(symbol or "").lower()
    if "+" in name:
        return sum(size_of(part.strip(), -1, 0, sizes) for part in name.split("+"))
    if name.isdigit():
        return int(name)
    if "batch" in name or (place == 0 and "past" not in name):
        return batch
    if "channel" in name and rank == 4:
        return 3
    if "cache_dim" in name:
        return HEAD
    if "total" in name:
        return past + sequence
    if "past" in name:
        return past
    if "seq" in name or "len" in name:
        return sequence
    if "height" in name or "width" in name or (rank == 4 and place > 1):
        return side
    return other


def drawn(name: str, kind: str, shape: Sequence[int], rng: np.random.Generator) -> Any:
    """Draw the values of an input.

    Args:
        name: Of the input: masks are ones, positions count, types of tokens are 0.
        kind: As onnxruntime gives it, such as `tensor(float)`.
        shape: Its sizes.
        rng: What to draw with.

    Raises:
        KeyError: No values are known for the type.
    """
    dtype = np.dtype(_TYPES[kind.removeprefix("tensor(").removesuffix(")")])
    lower = name.lower()
    if dtype.kind == "U":
        return np.full(shape, "a", dtype=object)
    if dtype.kind == "b" or (dtype.kind in "iu" and "mask" in lower):
        return np.ones(shape, dtype)
    if dtype.kind == "f":
        values = rng.random(shape) if re.search("image|pixel", lower) else rng.normal(size=shape)
        return np.ones(shape, dtype) if "mask" in lower else values.astype(dtype)
    if "position" in lower and shape:
        return np.broadcast_to(np.arange(shape[-1], dtype=dtype), shape).copy()
    if "type_id" in lower or "token_type" in lower:
        return np.zeros(shape, dtype)
    top = 256 if dtype == np.uint8 else 100 if dtype == np.int8 else 20 if "id" in lower else 3
    return rng.integers(0, top, shape).astype(dtype)


def feeds(inputs: Sequence[Any], sizes: Sequence[int], count: int, seed: int) -> Iterator[Any]:
    """Yield inputs for a session's `get_inputs()` at some sizes."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        feed: dict[str, Any] = {}
        for one in inputs:
            shape = [size_of(d, i, len(one.shape), sizes) for i, d in enumerate(one.shape)]
            feed[one.name] = drawn(one.name, one.type, shape, rng)
        yield feed


def session_of(path: str, *, optimized: bool = True) -> Any:
    """Load a file in onnxruntime, with one thread."""
    ort: Any = import_module("onnxruntime")
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def alike(one: Any, other: Any) -> bool:
    """Say whether two outputs of a session are the same: tensors, sequences or maps."""
    kind = one.__class__
    if kind is dict:
        same = other.__class__ is dict and one.keys() == other.keys()
        return same and alike(list(one.values()), list(other.values()))
    if kind is list:
        return len(one) == len(other) and all(map(alike, one, other))
    left, right = np.asarray(one), np.asarray(other)
    return np.array_equal(left, right, equal_nan=left.dtype.kind == "f")


def repeats(session: Any, sizes: Sequence[int]) -> bool:
    """Say whether a session computes the same again, after it ran on other values.

    At sizes that do not fit, onnxruntime's Concat leaves parts of its output as the memory was
    where an operand is empty. What a network draws at random does not repeat either.

    Raises:
        Exception: What onnxruntime says where it does not run at these sizes.
    """
    first, other = feeds(session.get_inputs(), sizes, 2, 0)
    found = session.run(None, first)
    session.run(None, other)
    return alike(found, session.run(None, first))


def running_sizes(
    session: Any, fits: Callable[[Sequence[int]], bool] | None = None
) -> tuple[int, ...]:
    """Return the first of `SIZES` at which a session runs and repeats what it computes.

    Where it repeats nothing, they are the first at which it runs.

    Args:
        session: Of onnxruntime.
        fits: Whether sizes have a meaning at all; those that have none are taken last.

    Raises:
        Exception: What onnxruntime says at the first of them, where it runs at none.
    """
    inputs, first = session.get_inputs(), None
    ran: tuple[int, ...] | None = None
    free = any(not isinstance(d, int) for one in inputs for d in one.shape)
    for sizes in SIZES if free else SIZES[:1]:
        try:
            again = repeats(session, sizes)
        except Exception as error:  # of onnxruntime's own classes, which share no base
            first = first or error
        else:
            ran = ran or sizes
            if again and (fits is None or fits(sizes)):
                return sizes
    if ran is not None:
        return ran
    raise first or AssertionError("SIZES is empty")
