"""Inputs for the judge of the mutants: ordinary numbers and edge values, by dtype and domain.

The domain of an input is a word of its example: ``any`` (the default), ``nonzero``, ``positive``,
``unit`` (from -1 to 1), ``regular`` (matrices far from singular), ``index LOW HIGH`` (HIGH is not
one of them), ``pairs LOW HIGH`` (each once along the last axis), ``mild`` (no large number), or
``above`` (not the smallest integer, which engines cannot divide by -1),
``places COUNT`` (each flat place at most once), ``tuples A:B,C:D`` (rows of indices, no row twice
modulo the sizes), ``distinct`` (no number twice).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx

Array = np.ndarray[Any, Any]
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 2.0, 3.0, -3.0, 6.0, 0.999, 1e-6)
LARGE = {"float16": 60.0, "bfloat16": 1e4, "float32": 1e5, "float64": 1e8}


def draw(
    model: onnx.ModelProto,
    domains: Mapping[str, str],
    sizes: Mapping[str, int],
    number: int,
    rng: np.random.Generator,
    *,
    special: bool,
) -> dict[str, Array]:
    """Return one input set; its number says in which style."""
    feed: dict[str, Array] = {}
    for info in model.graph.input:
        kind = info.type.tensor_type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
        shape = tuple(sizes[d.dim_param] if d.dim_param else d.dim_value for d in kind.shape.dim)
        words = domains.get(info.name, "any").split()
        feed[info.name] = _array(shape, dtype, words, number, rng, special)
    return feed


def _array(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    words: list[str],
    number: int,
    rng: np.random.Generator,
    special: bool,
) -> Array:
    if words[0] in ("index", "pairs"):
        low, high = int(words[1]), int(words[2])
        if words[0] == "index":
            return rng.integers(low, high, shape).astype(dtype)
        order = np.argsort(rng.random((*shape[:-1], high - low)), axis=-1)
        return (order[..., : shape[-1]] + low).astype(dtype)
    if words[0] == "places":
        return rng.permutation(int(words[1]))[: int(np.prod(shape))].reshape(shape).astype(dtype)
    if words[0] == "tuples":
        return _tuples(shape, words[1], rng).astype(dtype)
    if words[0] == "distinct":
        spread = rng.permutation(int(np.prod(shape))).reshape(shape)
        return (spread * 0.25 - spread.size / 8).astype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < (0.5, 0.9, 0.1)[number % 3]
    if dtype.kind in "iu":
        return _integers(shape, dtype, words[0], number, rng)
    return _floats(shape, dtype, words[0], number, rng, special)


def _tuples(shape: tuple[int, ...], bounds: str, rng: np.random.Generator) -> Array:
    """Return rows of indices that name different places; negative ones count from the end."""
    pairs = [tuple(map(int, text.split(":"))) for text in bounds.split(",")]
    sizes = [high for _, high in pairs]
    flat = rng.permutation(int(np.prod(sizes)))[: int(np.prod(shape[:-1]))]
    rows = np.stack(np.unravel_index(flat, sizes), axis=-1)
    for column, (low, high) in enumerate(pairs):
        back = (rng.random(len(rows)) < 0.5) & (rows[:, column] - high >= low)
        rows[:, column] -= np.where(back, high, 0)
    return rows.reshape(shape)


def _integers(
    shape: tuple[int, ...], dtype: np.dtype[Any], word: str, number: int, rng: np.random.Generator
) -> Array:
    limits = np.iinfo(dtype)
    low, high = int(limits.min), int(limits.max)
    style = number % 6
    if word == "mild":
        values = rng.integers(max(low, -9), 10, shape)
    elif style in (0, 1):
        values = rng.integers(max(low, -20 - 80 * style), 21 + 80 * style, shape)
    elif style == 2:
        return _inside(rng.integers(low, high, shape, dtype, endpoint=True), word)
    elif style == 3:
        edges = np.array([low, low + 1, high, high - 1, 0, 1, 2, high // 2, high // 3], dtype)
        return _inside(edges[rng.integers(0, len(edges), shape)], word)
    elif style == 4:
        values = rng.integers(max(low, -3), 4, shape)
    else:
        values = rng.integers(max(low, -1), 2, shape)
    if word == "positive":
        values = np.abs(values) + 1
    return _inside(values.astype(dtype), word)


def _inside(values: Array, word: str) -> Array:
    if word == "nonzero":
        return np.asarray(np.where(values == 0, np.asarray(3, values.dtype), values))
    if word == "above":
        least = np.asarray(np.iinfo(values.dtype).min + 1, values.dtype)
        return np.asarray(np.maximum(values, least))
    if word == "positive":
        return np.asarray(np.where(values <= 0, np.asarray(7, values.dtype), values))
    return values


def _floats(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    word: str,
    number: int,
    rng: np.random.Generator,
    special: bool,
) -> Array:
    if word == "unit":
        values = rng.uniform(-1, 1, shape)
        if number % 3 == 1:
            values = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0, 0.25, -0.75], shape)
        return values.astype(dtype)
    if word == "regular":
        size = shape[-1]
        places = np.argsort(rng.random((*shape[:-2], size)), axis=-1)
        values = rng.standard_normal(shape) + 3.0 * np.sqrt(size) * np.eye(size)[places]
        return np.asarray(values.astype(dtype))
    style = number % (9 if word == "mild" else 10)
    if style in (0, 1):
        values = rng.standard_normal(shape) * (1.0, 3.0)[style]
    elif style == 2:
        values = rng.uniform(-10, 10, shape)
    elif style == 3:
        values = rng.integers(-12, 13, shape) / 2
    elif style == 4:
        values = -np.abs(rng.standard_normal(shape)) - 1e-3
    elif style == 5:
        values = rng.standard_normal(shape) * 1e-3
    elif style == 6:
        values = np.array(EDGES)[rng.integers(0, len(EDGES), shape)]
    elif style == 7:
        values = np.full(shape, rng.choice([0.0, 1.0, -1.0, 0.5]))
    elif style == 8:
        values = np.abs(rng.standard_normal(shape)) + 0.5
    else:
        values = rng.uniform(-1, 1, shape) * LARGE[dtype.name]
    if word == "positive":
        values = np.abs(values) + 1e-2
    elif word == "nonzero":
        values = np.where(np.abs(values) < 1e-3, 0.75, values)
    if special and number % 2:
        odd = rng.choice([np.nan, np.inf, -np.inf], shape)
        values = np.where(rng.random(shape) < 0.02, odd, values)
    return values.astype(dtype)
