"""Models written by hand against what the source assumes, each in all of its variants.

A row of `written.toml` is a model in onnx's own text, with ``⟨a|b⟩`` for choices; some ten are
made. What it is fed follows from its inputs: every symbol is drawn at many sizes, what is stored
and an input too is left, overridden in value, and where its declaration allows in shape.
"""

from __future__ import annotations

import itertools
import random
import re
import tomllib
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper, numpy_helper

from benchmarks.attack.building import Array, Case, Feed, Job, opset, passes, target

SIZES = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    16,
    17,
    64,
    100,
    127,
    128,
    129,
    255,
    256,
    257,
    300,
    2049,
    4097,
)
LONG = (32767, 32768, 32769, 65535, 65536, 65537)
TARGETS = ("trt8", "ort-1.16", "openvino", "tflite")
_EACH = 10  # variants of a row
_MOST = 1 << 17  # elements of an input
_OTHERS = (1, 3, 2, 7, 130)  # of the other symbols, in turn


def cases() -> Iterator[Case]:
    """Yield each row in its variants, as many of them as there is time for."""
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    for family, rows in tomllib.loads(text).items():
        for place, row in enumerate(rows):
            numbered = list(enumerate(variants(row)))
            if len(numbered) > _EACH:
                numbered = sorted(random.Random(f"{family} {place}").sample(numbered, _EACH))
            for number, written in numbered:
                yield _case(f"{family}-{place}-{number}", written)


def variants(row: str) -> Iterator[str]:
    """Yield the texts of a row, each choice in each way; choices with equal numbers go together."""
    parts = re.split(r"⟨([^⟩]*)⟩", row)
    chosen: dict[str, int] = {}
    groups: list[tuple[str, list[str]]] = []
    for place, part in enumerate(parts[1::2]):
        key, _, rest = part.rpartition(":") if re.match(r"\d+:", part) else ("", "", part)
        groups.append((key or f"#{place}", rest.split("|")))
        chosen.setdefault(key or f"#{place}", len(groups[-1][1]))
    for picked in itertools.product(*(range(count) for count in chosen.values())):
        at = dict(zip(chosen, picked, strict=True))
        texts = [options[at[key]] for key, options in groups]
        yield "".join(itertools.chain(*itertools.zip_longest(parts[::2], texts, fillvalue="")))


def _case(name: str, text: str) -> Case:
    if not text.startswith("<"):
        text = f'<ir_version: 8, opset_import: ["" : 17]> {text}'
    model = onnx.parser.parse_model(text)
    draw = random.Random(name)
    jobs: list[Job] = [target(each) for each in draw.sample(TARGETS, 2)]
    jobs.append(draw.choice((passes("fold-constants"), opset(20), opset(13), opset(11))))
    return Case(name, "written", model, _feeds(model), jobs)


def _feeds(model: ModelProto) -> list[Feed]:
    stored = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    needed = [i for i in model.graph.input if i.name not in stored]
    symbols = list(
        dict.fromkeys(
            d.dim_param for i in needed for d in i.type.tensor_type.shape.dim if d.dim_param
        )
    )
    feeds: list[Feed] = []
    sizes = (*SIZES, *LONG) if symbols else (3,)
    for place, size in enumerate(sizes):
        for turned in range(min(2, len(symbols)) or 1):
            at = {s: _OTHERS[(place + k) % 5] for k, s in enumerate(symbols)}
            if symbols:
                at[symbols[turned]] = size
            if all(prod(_dims(i, at)) <= _MOST for i in needed):
                feeds.append({i.name: _values(i, at, place) for i in needed})
    first = feeds[min(5, len(feeds) - 1)]
    for info in model.graph.input:
        if info.name in stored:
            for value in _overrides(info, stored[info.name]):
                feeds.append({**first, info.name: value})
    return feeds


def _dims(info: onnx.ValueInfoProto, at: dict[str, int]) -> list[int]:
    dims = info.type.tensor_type.shape.dim
    return [d.dim_value if d.HasField("dim_value") else at[d.dim_param] for d in dims]


def _values(info: onnx.ValueInfoProto, at: dict[str, int], place: int) -> Array:
    kind = info.type.tensor_type
    dims = _dims(info, at)
    draw = np.random.default_rng([len(info.name), *info.name.encode(), place])
    dtype: Any = helper.tensor_dtype_to_np_dtype(kind.elem_type)
    if kind.elem_type == TensorProto.STRING:
        return np.array(draw.integers(0, 9, dims).astype(str), dtype=object).reshape(dims)
    if dtype.kind == "f":
        return np.round(np.asarray(draw.normal(size=dims)) * 4, 2).astype(dtype)
    if dtype.kind == "b":
        return np.asarray(draw.integers(0, 2, dims)).astype(bool)
    low, high = (0, 9) if dtype.kind == "u" else (-4, 9)
    if info.name.startswith("b"):  # big ones, around the ends of narrower types
        ends = [0, 1, 127, 128, 255, 256, 32768, 65536, (1 << 24) + 1, (1 << 31) - 1]
        if dtype.itemsize == 8:
            ends += [1 << 31, (1 << 31) + 1, 1 << 32, (1 << 32) + 3, (1 << 53) + 1]
        found = draw.choice(ends, dims)
        if dtype.kind == "i":
            found = found * draw.choice([1, -1], dims)
        return np.asarray(found).astype(dtype)
    if info.name.startswith("k"):  # counts
        low, high = 0, (3, 9, 40, 300)[place % 4]
    return np.asarray(draw.integers(low, high, dims)).astype(dtype)


def _overrides(info: onnx.ValueInfoProto, value: Array) -> Iterator[Array]:
    flipped = ~value if value.dtype.kind == "b" else value + np.ones((), value.dtype)
    yield flipped.astype(value.dtype)
    if value.dtype.kind != "b":
        yield (value * np.asarray(2, value.dtype)).astype(value.dtype)
        yield np.zeros_like(value)
    if value.ndim and len(value) > 1:
        yield value[::-1].copy()
    kind = info.type.tensor_type
    if not kind.HasField("shape"):
        yield value[None]
        if value.ndim:
            yield value[0].copy() if len(value) else value
    for axis in range(value.ndim):
        if not kind.HasField("shape") or kind.shape.dim[axis].dim_param:
            yield np.concatenate([value, value], axis)
            yield np.take(value, [0], axis)
            yield np.take(value, np.zeros(0, np.int64), axis)
