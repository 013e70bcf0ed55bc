"""One operator in forms that are rarely written, each repaired by every pass that matches it.

Passes are named, so that they act where no target would ask for them; opsets are converted up and
down; a few targets are tried. Dimensions are 0, 1 and larger, numbers are ties, extremes and NaN.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.attack.building import Array, Case, Feed, Job, Net, feeds_in, opset, passes, target
from benchmarks.attack.families.form import Fed, Form
from benchmarks.attack.families.form_list import moving_forms
from benchmarks.attack.families.form_list_elements import element_forms
from benchmarks.attack.families.form_list_layers import layer_forms
from benchmarks.attack.families.form_list_shapes import shape_forms
from graphfix.authoring.registry import all_passes

TYPES = {
    "f": 1,
    "u8": 2,
    "i8": 3,
    "u16": 4,
    "i16": 5,
    "i32": 6,
    "i64": 7,
    "b": 9,
    "h": 10,
    "d": 11,
    "u32": 12,
    "u64": 13,
    "s": 8,
}
DTYPES: dict[str, Any] = {
    "f": np.float32,
    "u8": np.uint8,
    "i8": np.int8,
    "u16": np.uint16,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "b": np.bool_,
    "h": np.float16,
    "d": np.float64,
    "u32": np.uint32,
    "u64": np.uint64,
    "s": object,
}
FORMS = (*moving_forms(), *element_forms(), *shape_forms())
# Sums and products of integers that their type does not hold: ONNX leaves them open.
_OVERFLOWING = frozenset(
    {
        "Pow",
        "ReduceSum",
        "ReduceSumSquare",
        "ReduceL1",
        "ReduceL2",
        "ReduceProd",
        "ReduceMean",
        "CumSum",
        "MatMul",
        "ReduceLogSum",
        "ReduceLogSumExp",
        "Gemm",
        "Einsum",
        "ScatterElements",
        "ScatterND",
    }
)
SIZES = (
    {"N": 3, "M": 2, "K": 4},
    {"N": 1, "M": 1, "K": 1},
    {"N": 0, "M": 2, "K": 3},
    {"N": 2, "M": 5, "K": 3},
    {"N": 5, "M": 0, "K": 2},
    {"N": 1, "M": 7, "K": 8},
)
TARGETS = (
    "trt8",
    "ort-1.10",
    "openvino",
    "tflite",
    "trt10",
    "ncnn",
    "trt7.0",
    "ort",
    "qnn",
    "rknn",
    "mnn",
    "opencv",
    "tract",
    "tvm",
    "trt5.1",
    "trt11",
)
OPSETS = (9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)


def cases() -> Iterator[Case]:
    """Yield each form in its scopes, types and opsets."""
    yield from _all(FORMS, "forms")


def _all(forms: Sequence[Form], family: str) -> Iterator[Case]:
    named = passes_by_operator()
    for place, form in enumerate(forms):
        for kind in form.kinds:
            yield from _cases(
                f"{place}-{form.op}-{kind}", form, kind, family, named.get(form.op, [])
            )


def passes_by_operator() -> dict[str, list[str]]:
    """Return the passes that match each operator."""
    named: dict[str, list[str]] = {}
    for each in all_passes(()):
        for domain, op in each.matches:
            if domain == "":
                named.setdefault(op, []).append(each.id)
    return named


def _cases(name: str, form: Form, kind: str, family: str, named: Sequence[str]) -> Iterator[Case]:
    draw = random.Random(f"forms {name}")
    for version in form.opsets:
        net = Net(opset=version, by_node=draw.random() < 0.3)
        fed = _written(net, form, kind, any_rank=False)
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
        yield Case(
            f"{name}-{version}",
            family,
            net.model(scope),
            feeds_in(scope, feeds),
            jobs,
            special,
            wide,
            undefined,
        )


def _written(net: Net, form: Form, kind: str, *, any_rank: bool) -> dict[str, Fed]:
    """Write the node of a form; return the inputs that are fed.

    Args:
        net: Where it goes.
        form: The form.
        kind: The type that it is tried in.
        any_rank: Whether data is declared without rank; sizes and places are vectors as before.
    """
    read: list[str] = []
    fed: dict[str, Fed] = {}
    for at, given in enumerate(form.inputs):
        if given is None:
            read.append("")
        elif isinstance(given, tuple):
            typed = kind if given[0] == "T" else given[0]
            fed[f"x{at}"] = (typed, given[1])
            open_rank = any_rank and given[0] == "T"
            read.append(net.take(f"x{at}", TYPES[typed], None if open_rank else given[1]))
        else:
            typed = kind if given.kind == "T" else given.kind
            read.append(net.hold(np.asarray(given.value), DTYPES[typed], f"k{at}"))
    outs = net.many(form.op, read, form.outputs, **form.attrs)
    shown = [outs[k] for k in (form.shown or range(form.outputs))]
    for k, out in enumerate(outs):
        if out not in shown and not any_rank:
            net.nodes[-1].output[k] = ""
    for out, typed in zip(shown, form.gives, strict=True):
        net.give(out, TYPES[kind if typed == "T" else typed], None)
    return fed


def sized(sizes: Mapping[str, int], dims: Sequence[Any]) -> list[int]:
    """Return sizes with numbers for the symbols."""
    return [sizes[each] if isinstance(each, str) else int(each) for each in dims]


def _feeds(
    draw: random.Random, fed: Mapping[str, Fed]
) -> tuple[list[Feed], frozenset[int], frozenset[int]]:
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
            feeds.append(
                {
                    name: numbers(draw, kind, sized(sizes, dims), how)
                    for name, (kind, dims) in fed.items()
                }
            )
    return feeds, frozenset(special), frozenset(wide)


def numbers(draw: random.Random, kind: str, dims: Sequence[int], how: str) -> Array:
    """Draw numbers of a kind."""
    count = int(np.prod(dims, dtype=np.int64))
    random_ = np.random.default_rng(draw.randrange(2**31))
    dtype = DTYPES[kind]
    if kind == "b":
        return random_.random(dims) < 0.5
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
            chosen = random_.choice(
                [big, -big, 1e-45 if kind == "f" else 6e-8, 16777217.0, 0.5, 2.5, -0.5], size=count
            )
            made = np.where(random_.random(count) < 0.5, chosen, made.reshape(-1)).reshape(dims)
        with np.errstate(all="ignore"):
            return made.astype(dtype)
    info = np.iinfo(dtype)
    whole: Array = random_.integers(max(info.min, -3), 4, dims)
    if how == "wide" and count:
        chosen = random_.choice(
            np.array([info.min, info.max, info.max - 1, 0], dtype=dtype), size=count
        )
        return (
            np.where(random_.random(count) < 0.6, chosen, whole.reshape(-1).astype(dtype))
            .astype(dtype)
            .reshape(dims)
        )
    return whole.astype(dtype)


def layers() -> Iterator[Case]:
    """Yield the forms of layers."""
    yield from _all(layer_forms(), "layers")


def ranks() -> Iterator[Case]:
    """Yield forms whose inputs are declared without rank, and fed tensors of several ranks."""
    named = passes_by_operator()
    for place, form in enumerate(FORMS):
        draw = random.Random(f"ranks {place}")
        if (
            not any(isinstance(each, tuple) for each in form.inputs)
            or form.op in ("GatherND", "ScatterND", "ScatterElements", "GatherElements")
            or not form.opsets
        ):
            continue
        kind, version = form.kinds[0], form.opsets[-1]
        net = Net(opset=version)
        fed = _written(net, form, kind, any_rank=True)
        feeds: list[Feed] = []
        for extra in ((), (2,), (1,), (2, 3), (0,)):
            for sizes in SIZES[:2]:
                feed: Feed = {}
                for name, (kind_of, dims) in fed.items():
                    more = extra if net_is_data(form, name) else ()
                    feed[name] = numbers(draw, kind_of, [*more, *sized(sizes, dims)], "normal")
                feeds.append(feed)
        shorter = {
            name: numbers(draw, kind_of, sized(SIZES[0], dims[1:]), "normal")
            for name, (kind_of, dims) in fed.items()
        }
        feeds.append(shorter)
        jobs = [passes(each) for each in named.get(form.op, [])]
        jobs = [
            *draw.sample(jobs, min(len(jobs), 2)),
            target(draw.choice(TARGETS)),
            opset(draw.choice([v for v in OPSETS if v != version])),
        ]
        yield Case(f"{place}-{form.op}", "ranks", net.model(), feeds, jobs)


def net_is_data(form: Form, name: str) -> bool:
    """Say whether an input of a form is data, which may have any rank."""
    given = form.inputs[int(name[1:])]
    return isinstance(given, tuple) and given[0] == "T"
