"""One operator in forms that are rarely written, each repaired by every pass that matches it.

Passes are named, so that they act where no target would ask for them; opsets are converted up and
down; a few targets are tried. Dimensions are 0, 1 and larger, numbers are ties, extremes and NaN.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import helper

from benchmarks.attack.building import Array, Case, Feed, Job, Net, feeds_in, opset, passes, target
from benchmarks.attack.families.form_list import FORMS, Form
from benchmarks.attack.families.form_list_layers import layer_forms
from graphfix.registry import all_passes

TYPES = {"f": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7, "b": 9, "h": 10, "d": 11,
         "u32": 12, "u64": 13, "s": 8}  # fmt: skip
DTYPES: dict[str, Any] = {
    "f": np.float32, "u8": np.uint8, "i8": np.int8, "u16": np.uint16, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "b": np.bool_, "h": np.float16, "d": np.float64,
    "u32": np.uint32, "u64": np.uint64, "s": object,
}  # fmt: skip
# Sums and products of integers that their type does not hold: ONNX leaves them open.
_OVERFLOWING = frozenset({
    "Pow", "ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceProd", "ReduceMean", "CumSum", "MatMul",
    "ReduceLogSum", "ReduceLogSumExp", "Gemm", "Einsum", "ScatterElements", "ScatterND",
})  # fmt: skip
SIZES = ({"N": 3, "M": 2, "K": 4}, {"N": 1, "M": 1, "K": 1}, {"N": 0, "M": 2, "K": 3},
         {"N": 2, "M": 5, "K": 3}, {"N": 5, "M": 0, "K": 2}, {"N": 1, "M": 7, "K": 8})  # fmt: skip
TARGETS = ("trt8", "ort-1.10", "openvino", "tflite", "trt10", "ncnn", "trt7.0", "ort", "qnn", "rknn",
           "mnn", "opencv", "tract", "tvm", "trt5.1", "trt11")  # fmt: skip
OPSETS = (9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)


def cases() -> Iterator[Case]:
    """Yield each form in its scopes, types and opsets."""
    yield from _all(FORMS, "forms")


def _all(forms: Sequence[Form], family: str) -> Iterator[Case]:
    named: dict[str, list[str]] = {}
    for each in all_passes(()):
        for domain, op in each.matches:
            if domain == "":
                named.setdefault(op, []).append(each.id)
    for place, form in enumerate(forms):
        for kind in form.kinds:
            yield from _cases(f"{place}-{form.op}-{kind}", form, kind, family, named.get(form.op, []))


def _cases(
    name: str, form: Form, kind: str, family: str, named: Sequence[str]
) -> Iterator[Case]:
    draw = random.Random(f"forms {name}")
    for version in form.opsets:
        net = Net(opset=version, by_node=draw.random() < 0.3)
        read: list[str] = []
        fed: dict[str, tuple[str, tuple[Any, ...]]] = {}
        for at, given in enumerate(form.inputs):
            if given is None:
                read.append("")
            elif isinstance(given, tuple):
                typed, dims = given
                typed = kind if typed == "T" else typed
                fed[f"x{at}"] = (typed, dims)
                read.append(net.take(f"x{at}", TYPES[typed], dims))
            else:
                array = np.asarray(given.value)
                typed = kind if given.kind == "T" else given.kind
                read.append(net.hold(array, DTYPES[typed], f"k{at}"))
        outs = net.many(form.op, read, form.outputs, **form.attrs)
        shown = [outs[k] for k in (form.shown or range(form.outputs))]
        for k, out in enumerate(outs):
            if out not in shown:
                net.nodes[-1].output[k] = ""
        for out, typed in zip(shown, form.gives, strict=True):
            net.give(out, TYPES[kind if typed == "T" else typed], None)
        scope = draw.choice(("main", "main", "function", "if", "loop"))
        feeds, special, wide = _feeds(draw, fed)
        if form.op == "Pow" and kind[0] == "i" and "x1" in fed:
            for feed in feeds:
                feed["x1"] = np.abs(feed["x1"])  # a power of 0 below 0 is not defined
        undefined = wide if form.op in _OVERFLOWING and kind[0] in "iu" else frozenset[int]()
        jobs: list[Job] = [passes(each) for each in named]
        jobs = draw.sample(jobs, min(len(jobs), 3))
        jobs += [target(each) for each in draw.sample(TARGETS, 1)]
        jobs += [opset(each) for each in draw.sample([v for v in OPSETS if v != version], 1)]
        yield Case(f"{name}-{version}", family, net.model(scope), feeds_in(scope, feeds), jobs, special, wide, undefined)


def _feeds(draw: random.Random, fed: dict[str, tuple[str, tuple[Any, ...]]]) -> tuple[list[Feed], frozenset[int], frozenset[int]]:
    feeds: list[Feed] = []
    special: set[int] = set()
    wide: set[int] = set()
    symbolic = any(isinstance(d, str) for _, dims in fed.values() for d in dims)
    for sizes in SIZES if symbolic else SIZES[:1]:
        for how in ("normal", "ties", "wide", "special"):
            if how != "normal" and sizes not in (SIZES[0], SIZES[3]):
                continue
            floats = any(kind in "fhd" for kind, _ in fed.values())
            if how == "special" and not floats:
                continue
            if how in ("special", "wide") and floats:
                special.add(len(feeds))
            if how == "wide":
                wide.add(len(feeds))
            feeds.append({
                name: numbers(draw, kind, [sizes.get(d, d) for d in dims], how)
                for name, (kind, dims) in fed.items()
            })  # fmt: skip
    return feeds, frozenset(special), frozenset(wide)


def numbers(draw: random.Random, kind: str, dims: Sequence[int], how: str) -> Array:
    """Draw numbers of a kind."""
    count = int(np.prod(dims, dtype=np.int64))
    random_ = np.random.default_rng(draw.randrange(2**31))
    dtype = DTYPES[kind]
    if kind == "b":
        return (random_.random(dims) < 0.5)
    if kind == "s":
        return random_.choice(np.array(["a", "b", "", "ä"], dtype=object), dims)
    if kind in "fhd":
        made = random_.normal(size=dims) * 2
        if how == "ties":
            made = np.round(made)
        if how == "special" and count:
            flat = made.reshape(-1)
            chosen = random_.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], size=count)
            made = np.where(random_.random(count) < 0.4, chosen, flat).reshape(dims)
        if how == "wide" and count:
            big = {"f": 3e38, "h": 65504.0, "d": 1e308}[kind]
            chosen = random_.choice([big, -big, 1e-45 if kind == "f" else 6e-8, 16777217.0, 0.5, 2.5, -0.5], size=count)
            made = np.where(random_.random(count) < 0.5, chosen, made.reshape(-1)).reshape(dims)
        with np.errstate(all="ignore"):
            return made.astype(dtype)
    info = np.iinfo(dtype)
    made = random_.integers(max(info.min, -3), 4, dims)
    if how == "wide" and count:
        chosen = random_.choice(np.array([info.min, info.max, info.max - 1, 0], dtype=dtype), size=count)
        return np.where(random_.random(count) < 0.6, chosen, made.reshape(-1).astype(dtype)).astype(dtype).reshape(dims)
    return made.astype(dtype)


def layers() -> Iterator[Case]:
    """Yield the forms of layers."""
    yield from _all(layer_forms(), "layers")
