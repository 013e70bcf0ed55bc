"""Random programs on sequences and optionals: places from either end, splits of any size."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import onnx

from benchmarks.attack.building import Case, Feed, Job, opset, passes, target

TARGETS = ("trt8", "ort-1.10", "openvino", "tflite", "trt10", "ncnn", "trt7.0", "qnn", "mnn", "tvm")
PASSES = (
    "concat-from-sequence-to-concat",
    "sequence-at-to-slice",
    "sequence-length-to-shape",
    "loop-unrolling",
    "sequence-output-to-stack",
    "loop-sequence-to-scan-output",
    "optional-get-element-to-value",
    "optional-has-element-to-constant",
)
COUNT = 320


def cases() -> Iterator[Case]:
    """Yield the programs."""
    for place in range(COUNT):
        made = _program(place)
        if made is not None:
            yield made


def _program(place: int) -> Case | None:
    draw = random.Random(f"sequence {place}")
    dims = draw.choice(("4, 3", "N, 3", "N, M"))
    lines: list[str] = []
    count: int | None = None
    start = draw.choice(("construct", "split", "splits", "empty", "loop"))

    def number(value: int) -> str:
        name = f"n{len(lines)}"
        if draw.random() < 0.15:
            lines.append(f"{name} = Identity(p)")
        else:
            lines.append(f"{name} = Constant<value_int={value}>()")
        return name

    if start == "construct":
        lines.append("s0 = SequenceConstruct(x, z, x)")
        count = 3
    elif start == "split":
        keep = draw.choice((0, 1))
        axis = draw.choice((0, 1, -1))
        lines.append(f"s0 = SplitToSequence<axis={axis}, keepdims={keep}>(x)")
        count = 3 if axis != 0 and "3" in dims else None
    elif start == "splits":
        axis = draw.choice((1, -1))
        how = draw.choice(("value_int=2", "value_int=1", "value_ints=[1,2]", "value_ints=[0,3]"))
        lines.append(f"k0 = Constant<{how}>() s0 = SplitToSequence<axis={axis}>(x, k0)")
        count = 2
    elif start == "empty":
        lines.append("e0 = SequenceEmpty() s0 = SequenceInsert(e0, x)")
        count = 1
    else:
        lines.append(
            "e0 = SequenceEmpty() m = Constant<value_int=3>() tr = Constant<value = bool {1}>() "
            "s0 = Loop(m, tr, e0) "
            "<body = b (int64 i, bool c, seq(float[]) q) => (bool g, seq(float[]) r) "
            "{ g = Identity(c) f = Cast<to=1>(i) v = Add(x, f) r = SequenceInsert(q, v) }>"
        )
        count = 3
    current = "s0"
    for step in range(draw.randint(0, 3)):
        how = draw.choice(("insert", "erase", "end"))
        known = count or 2
        if how == "insert":
            at = number(draw.randint(-known, known))
            lines.append(f"s{step + 1} = SequenceInsert({current}, z, {at})")
            count = None if count is None else count + 1
        elif how == "erase" and known > 1:
            at = number(draw.randint(-known, known - 1))
            lines.append(f"s{step + 1} = SequenceErase({current}, {at})")
            count = None if count is None else count - 1
        else:
            lines.append(f"s{step + 1} = SequenceInsert({current}, x)")
            count = None if count is None else count + 1
        current = f"s{step + 1}"
    use = draw.choice(("at", "at", "length", "concat", "concat", "stack", "optional", "map"))
    if use == "at":
        at = number(draw.randint(-(count or 1), (count or 1) - 1))
        lines.append(f"y = SequenceAt({current}, {at})")
    elif use == "length":
        lines.append(f"l = SequenceLength({current}) y = Cast<to=1>(l)")
    elif use == "concat":
        lines.append(f"y = ConcatFromSequence<axis={draw.choice((0, 1, -1, -2))}>({current})")
    elif use == "stack":
        lines.append(
            f"y = ConcatFromSequence<axis={draw.choice((0, 1, -1, 2))}, new_axis=1>({current})"
        )
    elif use == "map":
        lines.append(
            f"t = SequenceMap({current}) <body = mb (float[] a) => (float[] b) {{ b = Neg(a) }}> "
            "y = ConcatFromSequence<axis=0>(t)"
        )
    else:
        lines.append(
            f"w = SequenceAt({current}, zero) o = Optional(w) h = OptionalHasElement(o) "
            "g0 = OptionalGetElement(o) f0 = Cast<to=1>(h) y = Mul(g0, f0)"
        )
    if use in ("concat", "stack", "map") and any("[0,3]" in line for line in lines):
        return None  # onnxruntime leaves memory as it was where one of the parts is empty
    version = draw.choice((13, 16, 17, 18) if use not in ("map", "optional") else (17, 18))
    text = (
        f'<ir_version: 8, opset_import: ["" : {version}]> '
        f"g (float[{dims}] x, float[{dims}] z, int64 p) => (float[] y) "
        f"<int64 zero = {{0}}> {{ {' '.join(lines)} }}"
    )
    model = onnx.parser.parse_model(text)
    used = {n for node in model.graph.node for n in node.input}
    for info in [i for i in model.graph.input if i.name == "p" and "p" not in used]:
        model.graph.input.remove(info)
    feeds: list[Feed] = []
    random_ = np.random.default_rng(place)
    for turn, sizes in enumerate(
        ((4, 3), (4, 3), (4, 3)) if dims == "4, 3" else ((4, 3), (2, 3), (1, 3), (5, 3))
    ):
        x, z = (np.round(random_.normal(size=sizes), 1).astype(np.float32) for _ in range(2))
        feed: Feed = {"x": x, "z": z}
        if "p" in used:
            feed["p"] = np.array((0, -1, 1, 0)[turn], np.int64)
        feeds.append(feed)
    jobs: list[Job] = [target(name) for name in draw.sample(TARGETS, 2)]
    jobs.append(draw.choice((passes(draw.choice(PASSES)), opset(draw.choice((12, 13, 20))))))
    return Case(f"{place}", "sequences", model, feeds, jobs)
