"""Bodies and functions: rounds of 0, conditions of sizes, names shared on purpose, attributes given.

Each model is text for `onnx.parser`, put together from parts; what differs between them is which
condition, which number of rounds, which names, and what the body does with what stands around it.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx

from benchmarks.attack.building import Case, Feed, Job, opset, passes, target

_HEAD = '<ir_version: {ir}, opset_import: ["" : {opset}{more}]>\n'
TARGETS = ("trt8", "ort-1.10", "openvino", "tflite", "trt10", "ncnn", "trt7.0", "ort", "qnn", "rknn",
           "mnn", "opencv", "tract", "tvm", "trt5.1", "trt11")  # fmt: skip
PASSES = (
    "inline-functions", "if-elimination", "if-to-where", "loop-unrolling", "loop-to-scan", "loop-to-rounds",
    "fold-constants", "common-subexpressions", "loop-counter-to-state", "loops-named-apart", "constants-named-apart",
    "repeated-node-names", "outer-constants-into-bodies", "identity-elimination", "dead-code", "sort-nodes",
    "if-branch-by-contradiction", "constant-to-initializer", "loop-state-declaration", "repeated-constants",
    "declared-shape-correction", "declared-type-correction", "unused-opset-imports", "simplify",
)  # fmt: skip
CONDITIONS = {
    "input": ("", "cond"),
    "size": ("s = Shape(x) zi = Constant<value_ints=[0]>() n = Gather(s, zi) k = Constant<value_ints=[{k}]>()"
             " c1 = {op}(n, k) one = Constant<value_ints=[1]>() cond_ = Reshape(c1, one)", "cond_"),
    "scalar": ("s = Shape(x) zi = Constant<value_int=0>() n = Gather(s, zi) k = Constant<value_int={k}>()"
               " cond_ = {op}(n, k)", "cond_"),
    "true": ("cond_ = Constant<value = bool {{1}}>()", "cond_"),
    "rank": ("s = Shape(x) r = Size(s) k = Constant<value_int=2>() cond_ = Equal(r, k)", "cond_"),
    "mod": ("s = Shape(x) zi = Constant<value_int=0>() n = Gather(s, zi) two = Constant<value_int=2>()"
            " m = Mod(n, two) zero = Constant<value_int=0>() cond_ = Equal(m, zero)", "cond_"),
    "any": ("b = Cast<to=9>(x) f = Cast<to=1>(b) mx = ReduceMax<keepdims=0>(f) cond_ = Cast<to=9>(mx)", "cond_"),
}  # fmt: skip
BRANCHES = {
    "shared": ("t = Relu(x) o = Neg(t)", "t = Neg(x) o = Exp(t)"),
    "outer": ("o = Identity(x)", "o = Identity(x)"),
    "same": ("t = Abs(x) o = Add(t, x)", "t = Abs(x) o = Add(t, x)"),
    "shapes": ("o = Unsqueeze(x, ax)", "t = Unsqueeze(x, ax) o = Concat<axis=0>(t, t)"),
    "ranks": ("o = Unsqueeze(x, ax)", "o = Identity(x)"),
    "flat": ("m = Constant<value_ints=[-1]>() o = Reshape(x, m)", "o = Identity(x)"),
    "nan": ("o = Sqrt(x)", "t = Neg(x) o = Log(t)"),
    "const": ("o = Constant<value_floats=[1.0]>()", "o = Constant<value_floats=[2.0, 3.0]>()"),
}  # fmt: skip
READERS = {
    "none": ("y = Identity(h)",), "neg": ("y = Neg(h)",), "add": ("y = Add(h, h)",),
    "x": ("y = Add(h, x)",), "shape": ("hs = Shape(h) y = Cast<to=1>(hs)",), "twice": ("q = Abs(h) y = Mul(q, h)",),
    "gemm": ("w = Constant<value = float[3,2] {1,2,3,4,5,6}>() y = Gemm(h, w)",),
}  # fmt: skip


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
    for place, (cond, branch, reader) in enumerate(itertools.product(CONDITIONS, BRANCHES, READERS)):
        draw = random.Random(f"if {place}")
        version = draw.choice((13, 16, 18))
        k, op = draw.choice((1, 2, 6, 77, 300)), draw.choice(("Equal", "Less", "Greater"))
        before, name = CONDITIONS[cond]
        one, other = BRANCHES[branch]
        if draw.random() < 0.3:
            one, other = other, one
        dims = draw.choice(("N, 3", "N", "N, M"))
        if reader in ("gemm",):
            dims = "N, 3"
        inner = f"h = If ({name}) <then_branch = then () => (float o) {{ {one} }}, else_branch = else () => (float o) {{ {other} }}>"
        if draw.random() < 0.25:
            deep = inner.replace("h = If", "o = If").replace("(float o) {", "(float o) {")
            inner = f"h = If (cond) <then_branch = then2 () => (float o) {{ {deep} }}, else_branch = else2 () => (float o) {{ o = Identity(x) }}>"
        text = _HEAD.format(ir=8, opset=version, more="")
        text += f"g (bool cond, float[{dims}] x) => (float y) <int64[1] ax = {{0}}> {{ {before.format(k=k, op=op)} {inner} {READERS[reader][0]} }}"
        sizes = [(n,) if dims == "N" else (n, 3) if dims == "N, 3" else (n, 2) for n in (3, 1, 2, 5, 6, 7, 77, 300, 0)]
        feeds = [{"cond": np.array(c), "x": x} for x, c in zip(_xs(*sizes), itertools.cycle((True, False)), strict=False)]
        yield from _case(f"if-{place}", text, feeds, _jobs(draw, version))


TRIPS = {
    "input": ("", "trips"), "const0": ("m = Constant<value_int=0>()", "m"), "const2": ("m = Constant<value_int=2>()", "m"),
    "neg": ("m = Constant<value_int=-3>()", "m"), "size": ("s = Shape(x) zi = Constant<value_int=0>() m = Gather(s, zi)", "m"),
    "min": ("three = Constant<value_int=3>() s = Shape(x) zi = Constant<value_int=0>() n = Gather(s, zi) m = Min(n, three)", "m"),
    "none": ("", ""), "vector": ("m = Constant<value_ints=[2]>()", "m"),
}  # fmt: skip
STARTS = {"none": ("", ""), "true": ("st = Constant<value = bool {1}>()", "st"), "false": ("st = Constant<value = bool {0}>()", "st"),
          "input": ("", "cond")}  # fmt: skip
GOES = {
    "on": "g_ = Identity(c)", "true": "g_ = Constant<value = bool {1}>()", "false": "g_ = Constant<value = bool {0}>()",
    "count": "lim = Constant<value_int=2>() g_ = Less(i, lim)", "state": "bb = ReduceMax<keepdims=0>(sn) ten = Constant<value_float=9.0>() g_ = Less(bb, ten)",
    "not": "g_ = Not(c)",
}  # fmt: skip
STEPS = {
    "add": "f = Cast<to=1>(i) t = Add(s_, f) sn = Add(t, x) v = Neg(sn)",
    "grow": "sn = Concat<axis=0>(s_, x) vv = ReduceSum<keepdims=0>(sn) v = Identity(vv)",
    "pass": "sn = Identity(s_) v = Identity(x)",
    "swap": "sn = Neg(s_) v = Identity(s_)",
    "slice": "i1 = Constant<value_ints=[1]>() st_ = Reshape(i, i1) en = Add(st_, i1) ze = Constant<value_ints=[0]>() v = Slice(x, st_, en, ze) sn = Add(s_, s_)",
    "size": "sh = Shape(s_) q = ReduceProd<keepdims=0>(sh) v = Cast<to=1>(q) sn = Concat<axis=0>(s_, s_)",
    "outer": "t = Mul(s_, w) sn = Add(t, x) v = Mul(t, w)",
}  # fmt: skip


def _loops() -> Iterator[Case]:
    for place, (trip, start, goes, step) in enumerate(itertools.product(TRIPS, STARTS, GOES, STEPS)):
        draw = random.Random(f"loop {place}")
        if draw.random() > 0.25:
            continue
        version = draw.choice((13, 16, 18))
        if trip == "none" and goes in ("on", "true", "state") and start != "false":
            continue
        a, m = TRIPS[trip]
        b, st = STARTS[start]
        name = draw.choice(("v", "v", "y2", "inner"))
        body = STEPS[step]
        scan = draw.random() < 0.7
        outs = "(bool g_, float sn, float v)" if scan else "(bool g_, float sn)"
        results = "y, ys" if scan else "y"
        text = _HEAD.format(ir=8, opset=version, more="")
        gives = "(float y, float ys)" if scan else "(float y)"
        text += (
            f"g (int64 trips, bool cond, float[N] x) => {gives} <float[1] w = {{2.0}}> {{ {a} {b} x0 = Abs(x) "
            f"{results} = Loop ({m}, {st}, x0) <body = body (int64 i, bool c, float s_) => {outs} {{ {body} {GOES[goes]} }}> }}"
        )
        if name != "v":
            text = text.replace("float v)", f"float {name})").replace(" v = ", f" {name} = ")
        feeds: list[Feed] = []
        for x, t, c in zip(_xs((3,), (1,), (2,), (5,), (4,)), (2, 1, 3, 1, 2), (True, True, True, False, True), strict=True):
            feeds.append({"x": x, "trips": np.array(t, np.int64), "cond": np.array(c)})
        yield from _case(f"loop-{place}", text, feeds, _jobs(draw, version, 2))


def _scans() -> Iterator[Case]:
    place = 0
    for axis, way, out_axis, out_way, step, dims in itertools.product(
        (0, 1, -1), (0, 1), (0, 1, -1), (0, 1), ("add", "first", "size"), ("N, M", "4, 3")
    ):  # fmt: skip
        place += 1
        draw = random.Random(f"scan {place}")
        if draw.random() > 0.5:
            continue
        version = draw.choice((11, 13, 16, 18))
        body = {
            "add": "sn = Add(s_, e) v = Mul(e, e)", "first": "sn = Identity(s_) v = Add(e, s_)",
            "size": "sh = Shape(e) q = Cast<to=1>(sh) sn = Add(s_, q) v = Identity(e)",
        }[step]  # fmt: skip
        text = _HEAD.format(ir=8, opset=version, more="")
        text += (
            f"g (float[{dims}] x, float[K] s0) => (float y, float ys) {{ y, ys = Scan <num_scan_inputs = 1, scan_input_axes = [{axis}],"
            f" scan_input_directions = [{way}], scan_output_axes = [{out_axis}], scan_output_directions = [{out_way}],"
            f" body = body (float s_, float e) => (float sn, float v) {{ {body} }}> (s0, x) }}"
        )
        sizes = [(4, 3), (2, 2), (1, 1), (5, 2)] if dims == "N, M" else [(4, 3)] * 2
        feeds = []
        for x in _xs(*sizes):
            rest = x.shape[1] if axis == 0 else x.shape[0]
            feeds.append({"x": x, "s0": np.arange(rest if draw.random() < 0.5 else 1).astype(np.float32)})
        yield from _case(f"scan-{place}", text, feeds, _jobs(draw, version, 2))


def _functions() -> Iterator[Case]:
    bodies = {
        "attr": ("F <alpha> (a) => (b)", "b = LeakyRelu<alpha: float = @alpha>(a)", "F<alpha = {v}>({x})"),
        "default": ("F <alpha: float = 0.3> (a) => (b)", "b = LeakyRelu<alpha: float = @alpha>(a)", "F{d}({x})"),
        "axis": ("F <ax> (a) => (b)", "b = Softmax<axis: int = @ax>(a)", "F<ax = {i}>({x})"),
        "const": ("F <k: int = 2> (a) => (b)", "c = Constant<value_int: int = @k>() f = Cast<to = 1>(c) b = Mul(a, f)", "F{k}({x})"),
        "size": ("F (a) => (b)", "s = Shape(a) f = Cast<to = 1>(s) p = ReduceProd<keepdims=0>(f) b = Mul(a, p)", "F({x})"),
        "optional": ("F (a, lo, hi) => (b)", "b = Clip(a, lo, hi)", "F({x}, {lo})"),
        "names": ("F (x) => (y)", "t = Relu(x) y = Neg(t)", "F({x})"),
        "unused": ("F (a) => (b, c)", "b = Abs(a) c = Neg(b)", "F({x})"),
        "through": ("F (a) => (a)", "u = Abs(a)", "F({x})"),
        "shape": ("F (a) => (b)", "n = Shape(a) m = Constant<value_ints=[-1]>() r = Reshape(a, m) e = Expand(r, m1) m1 = Constant<value_ints=[1]>() b = Reshape(e, n)", "F({x})"),
        "if": ("F (a) => (b)", "s = Size(a) k = Constant<value_int = 6>() c = Less(s, k) b = If(c) <then_branch = tb () => (float o) {{ o = Neg(a) }}, else_branch = eb () => (float o) {{ o = Exp(a) }}>", "F({x})"),
        "dropped": ("F (a) => (b)", "b, mask = Dropout(a)", "F({x})"),
    }  # fmt: skip
    for place, (kind, twice, around) in enumerate(itertools.product(bodies, ("once", "twice", "chain", "other"), ("main", "if", "loop"))):
        draw = random.Random(f"function {place}")
        version = draw.choice((13, 16, 18))
        head, body, call = bodies[kind]
        body = body.replace("{{", "{").replace("}}", "}")

        def called(x: str) -> str:
            value = draw.choice(("0.5", "-0.25", "0.0"))
            return "local." + call.format(
                v=value, x=x, i=draw.choice((0, 1, -1)), lo=draw.choice(("lo", "", "lo")),
                d=draw.choice(("", f"<alpha = {value}>")), k=draw.choice(("", "<k = 5>", "<k = 0>")),
            )  # fmt: skip

        if twice == "once":
            nodes = f"y = {called('x')}"
        elif twice == "twice":
            nodes = f"p = {called('x')} q = {called('z')} e = ReduceSum<keepdims=0>(q) y = Add(p, e)"
        elif twice == "chain":
            nodes = f"p = {called('x')} y = {called('p')}"
        else:
            nodes = f"t = Abs(x) b = {called('t')} y = Add(b, t)"
        if around == "if":
            nodes = f"y = If(cond) <then_branch = t1 () => (float y_) {{ {nodes.replace(' y = ', ' y_ = ').replace('y = ', 'y_ = ', 1) if not nodes.startswith('y = ') else 'y_ = ' + nodes[4:]} }}, else_branch = e1 () => (float y_) {{ y_ = Neg(x) }}>"
        elif around == "loop":
            inner = "y_ = " + nodes[4:] if nodes.startswith("y = ") else nodes.replace(" y = ", " y_ = ")
            nodes = f"m = Constant<value_int=2>() tr = Constant<value = bool {{1}}>() y = Loop(m, tr) <body = bo (int64 i, bool c) => (bool g_, float y_) {{ {inner} g_ = Identity(c) }}>"
        text = _HEAD.format(ir=9, opset=version, more=', "local" : 1')
        text += f"g (bool cond, float[N, 2] x, float[K] z, float lo) => (float y) {{ {nodes} }}\n"
        text += f'<domain: "local", opset_import: ["" : {version}]>\n{head} {{ {body} }}'
        xs, zs = _xs((3, 2), (1, 2), (2, 2), (5, 2), (0, 2)), _xs((2,), (4,), (1,), (3,), (6,))
        feeds = [{"x": x, "z": z, "lo": np.array(-0.5, np.float32), "cond": np.array(c)} for x, z, c in zip(xs, zs, (True, False, True, True, True), strict=True)]
        yield from _case(f"function-{place}-{kind}", text, feeds, _jobs(draw, version, 3))


def _case(name: str, text: str, feeds: list[Feed], jobs: list[Job]) -> Iterator[Case]:
    text = re.sub(r"\bfloat (?=[a-z_]+\d*_?[,)])(?!lo\b)", "float[] ", text)
    try:
        model = onnx.parser.parse_model(text)
    except Exception as error:  # the text is ours: say so
        raise ValueError(f"{name}: {error}\n{text}") from None
    taken = {i.name for i in model.graph.input}
    used = {n for node in _nodes(model) for n in node.input}
    for unused in [i for i in model.graph.input if i.name not in used and i.name in ("cond", "trips", "lo", "z")]:
        model.graph.input.remove(unused)
        taken.discard(unused.name)
    fed = [{k: v for k, v in feed.items() if k in taken} for feed in feeds]
    yield Case(name, "control", model, fed, jobs)


def _nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    work = [model.graph]
    while work:
        graph = work.pop()
        yield from graph.node
        for node in graph.node:
            work.extend(a.g for a in node.attribute if a.HasField("g"))
