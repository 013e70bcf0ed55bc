"""Subgraphs and functions: no iterations, conditions of sizes, shared names, attributes given.

Each model is text for `onnx.parser`, put together from parts; what differs between them is which
condition, which number of rounds, which names, and what the body does with what is around it.
"""

from __future__ import annotations

import itertools
import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from benchmarks.attack.building import Case, Feed, Job, opset, passes, target

_PARTS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
_HEAD = '<ir_version: {ir}, opset_import: ["" : {opset}{more}]>\n'
TARGETS = (
    *("trt8", "ort-1.10", "openvino", "tflite", "trt10", "ncnn", "trt7.0", "ort", "qnn", "rknn"),
    *("mnn", "opencv", "tract", "tvm", "trt5.1", "trt11"),
)
PASSES = (
    *("inline-functions", "if-elimination", "if-to-where", "loop-unrolling", "loop-to-scan"),
    *("loop-to-rounds", "fold-constants", "common-subexpressions", "loop-counter-to-state"),
    *("loops-named-apart", "constants-named-apart", "repeated-node-names"),
    *("outer-constants-into-bodies", "identity-elimination", "dead-code", "sort-nodes"),
    *("if-branch-by-contradiction", "constant-to-initializer", "loop-state-declaration"),
    *("repeated-constants", "declared-shape-correction", "declared-type-correction"),
    *("unused-opset-imports", "simplify"),
)


def cases() -> Iterator[Case]:
    """Yield Ifs, loops, scans and functions."""
    yield from _ifs()
    yield from _loops()
    yield from _scans()
    yield from _functions()


def _jobs(draw: random.Random, version: int, count: int = 3) -> list[Job]:
    jobs = [target(name) for name in draw.sample(TARGETS, count - 1)]
    jobs.append(passes(draw.choice(PASSES)))
    jobs.append(opset(draw.choice([v for v in (11, 12, 13, 15, 18, 20, 21) if v != version])))
    return jobs


def _xs(*shapes: tuple[int, ...]) -> list[Any]:
    random_ = np.random.default_rng(7)
    return [np.round(random_.normal(size=shape) * 2, 1).astype(np.float32) for shape in shapes]


def _ifs() -> Iterator[Case]:
    kinds = (_PARTS["conditions"], _PARTS["branches"], _PARTS["readers"])
    for place, (cond, branch, reader) in enumerate(itertools.product(*kinds)):
        draw = random.Random(f"if {place}")
        version = draw.choice((13, 16, 18))
        k, op = draw.choice((1, 2, 6, 77, 300)), draw.choice(("Equal", "Less", "Greater"))
        before, name = _PARTS["conditions"][cond]
        one, other = _PARTS["branches"][branch]
        if draw.random() < 0.3:
            one, other = other, one
        dims = draw.choice(("N, 3", "N", "N, M"))
        if reader == "gemm":
            dims = "N, 3"
        inner = _chosen("h", name, one, other)
        if draw.random() < 0.25:
            deep = inner.replace("h = If", "o = If")
            inner = _chosen("h", "cond", deep, "o = Identity(x)", number="2")
        text = _HEAD.format(ir=8, opset=version, more="") + (
            f"g (bool cond, float[{dims}] x) => (float y) <int64[1] ax = {{0}}> "
            f"{{ {before.format(k=k, op=op)} {inner} {_PARTS['readers'][reader]} }}"
        )
        after: tuple[int, ...] = {"N": (), "N, 3": (3,), "N, M": (2,)}[dims]
        sizes = [(n, *after) for n in (3, 1, 2, 5, 6, 7, 77, 300, 0)]
        conditions = itertools.cycle((True, False))
        feeds = [
            {"cond": np.array(c), "x": x} for x, c in zip(_xs(*sizes), conditions, strict=False)
        ]
        yield _case(f"if-{place}", text, feeds, _jobs(draw, version))


def _chosen(result: str, condition: str, one: str, other: str, number: str = "") -> str:
    return (
        f"{result} = If ({condition}) <then_branch = then{number} () => (float o) {{ {one} }}, "
        f"else_branch = else{number} () => (float o) {{ {other} }}>"
    )


def _loops() -> Iterator[Case]:
    kinds = (_PARTS["trips"], _PARTS["starts"], _PARTS["goes"], _PARTS["steps"])
    for place, (trip, start, goes, step) in enumerate(itertools.product(*kinds)):
        draw = random.Random(f"loop {place}")
        if draw.random() > 0.25:
            continue
        version = draw.choice((13, 16, 18))
        if trip == "none" and goes in ("on", "true", "state") and start != "false":
            continue  # it would not end
        a, m = _PARTS["trips"][trip]
        b, st = _PARTS["starts"][start]
        name = draw.choice(("v", "v", "y2", "inner"))
        body = _PARTS["steps"][step]
        scan = draw.random() < 0.7
        outs = "(bool g_, float sn, float v)" if scan else "(bool g_, float sn)"
        results = "y, ys" if scan else "y"
        gives = "(float y, float ys)" if scan else "(float y)"
        text = _HEAD.format(ir=8, opset=version, more="") + (
            f"g (int64 trips, bool cond, float[N] x) => {gives} <float[1] w = {{2.0}}> "
            f"{{ {a} {b} x0 = Abs(x) {results} = Loop ({m}, {st}, x0) <body = body "
            f"(int64 i, bool c, float s_) => {outs} {{ {body} {_PARTS['goes'][goes]} }}> }}"
        )
        if name != "v":
            text = text.replace("float v)", f"float {name})").replace(" v = ", f" {name} = ")
        xs = _xs((3,), (1,), (2,), (5,), (4,))
        given = zip(xs, (2, 1, 3, 1, 2), (True, True, True, False, True), strict=True)
        feeds: list[Feed] = [
            {"x": x, "trips": np.array(t, np.int64), "cond": np.array(c)} for x, t, c in given
        ]
        yield _case(f"loop-{place}", text, feeds, _jobs(draw, version, 2))


def _scans() -> Iterator[Case]:
    place = 0
    for axis, way, out_axis, out_way, step, dims in itertools.product(
        (0, 1, -1), (0, 1), (0, 1, -1), (0, 1), ("add", "first", "size"), ("N, M", "4, 3")
    ):
        place += 1
        draw = random.Random(f"scan {place}")
        if draw.random() > 0.5:
            continue
        version = draw.choice((11, 13, 16, 18))
        body = {
            "add": "sn = Add(s_, e) v = Mul(e, e)",
            "first": "sn = Identity(s_) v = Add(e, s_)",
            "size": "sh = Shape(e) q = Cast<to=1>(sh) sn = Add(s_, q) v = Identity(e)",
        }[step]
        text = _HEAD.format(ir=8, opset=version, more="") + (
            f"g (float[{dims}] x, float[K] s0) => (float y, float ys) {{ y, ys = Scan "
            f"<num_scan_inputs = 1, scan_input_axes = [{axis}], scan_input_directions = [{way}], "
            f"scan_output_axes = [{out_axis}], scan_output_directions = [{out_way}], body = body "
            f"(float s_, float e) => (float sn, float v) {{ {body} }}> (s0, x) }}"
        )
        sizes = [(4, 3), (2, 2), (1, 1), (5, 2)] if dims == "N, M" else [(4, 3)] * 2
        feeds: list[Feed] = []
        for x in _xs(*sizes):
            rest = x.shape[1] if axis == 0 else x.shape[0]
            feeds.append(
                {"x": x, "s0": np.arange(rest if draw.random() < 0.5 else 1).astype(np.float32)}
            )
        yield _case(f"scan-{place}", text, feeds, _jobs(draw, version, 2))


def _functions() -> Iterator[Case]:
    ways = (("once", "twice", "chain", "other"), ("main", "if", "loop"))
    for place, (kind, how, around) in enumerate(itertools.product(_PARTS["functions"], *ways)):
        draw = random.Random(f"function {place}")
        version = draw.choice((13, 16, 18))
        head, body, call = _PARTS["functions"][kind]
        if how == "once":
            nodes = [f"y = {_called(draw, call, 'x')}"]
        elif how == "twice":
            nodes = [f"p = {_called(draw, call, 'x')}", f"q = {_called(draw, call, 'z')}"]
            nodes += ["e = ReduceSum<keepdims=0>(q)", "y = Add(p, e)"]
        elif how == "chain":
            nodes = [f"p = {_called(draw, call, 'x')}", f"y = {_called(draw, call, 'p')}"]
        else:
            nodes = ["t = Abs(x)", f"b = {_called(draw, call, 't')}", "y = Add(b, t)"]
        inner = " ".join([*nodes[:-1], nodes[-1].replace("y = ", "y_ = ", 1)])
        text = " ".join(nodes)
        if around == "if":
            text = (
                f"y = If(cond) <then_branch = t1 () => (float y_) {{ {inner} }}, "
                "else_branch = e1 () => (float y_) { y_ = Neg(x) }>"
            )
        elif around == "loop":
            text = (
                "m = Constant<value_int=2>() tr = Constant<value = bool {1}>() y = Loop(m, tr) "
                f"<body = bo (int64 i, bool c) => (bool g_, float y_) {{ {inner} "
                "g_ = Identity(c) }>"
            )
        text = _HEAD.format(ir=9, opset=version, more=', "local" : 1') + (
            f"g (bool cond, float[N, 2] x, float[K] z, float lo) => (float y) {{ {text} }}\n"
            f'<domain: "local", opset_import: ["" : {version}]>\n{head} {{ {body} }}'
        )
        xs, zs = _xs((3, 2), (1, 2), (2, 2), (5, 2), (0, 2)), _xs((2,), (4,), (1,), (3,), (6,))
        feeds = [
            {"x": x, "z": z, "lo": np.array(-0.5, np.float32), "cond": np.array(c)}
            for x, z, c in zip(xs, zs, (True, False, True, True, True), strict=True)
        ]
        yield _case(f"function-{place}-{kind}", text, feeds, _jobs(draw, version, 3))


def _called(draw: random.Random, call: str, x: str) -> str:
    value = draw.choice(("0.5", "-0.25", "0.0"))
    return "local." + call.format(
        v=value,
        x=x,
        i=draw.choice((0, 1, -1)),
        lo=draw.choice(("lo", "", "lo")),
        d=draw.choice(("", f"<alpha = {value}>")),
        k=draw.choice(("", "<k = 5>", "<k = 0>")),
    )


def _case(name: str, text: str, feeds: list[Feed], jobs: list[Job]) -> Case:
    text = re.sub(r"\bfloat (?=[a-z_]+\d*_?[,)])(?!lo\b)", "float[] ", text)
    model = onnx.parser.parse_model(text)
    used = {n for node in _nodes(model) for n in node.input}
    spare = {"cond", "trips", "lo", "z"} - used
    for unused in [i for i in model.graph.input if i.name in spare]:
        model.graph.input.remove(unused)
    taken = {i.name for i in model.graph.input}
    fed = [{k: v for k, v in feed.items() if k in taken} for feed in feeds]
    return Case(name, "control", model, fed, jobs)


def _nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    work = [model.graph]
    while work:
        graph = work.pop()
        yield from graph.node
        for node in graph.node:
            work.extend(a.g for a in node.attribute if a.HasField("g"))
