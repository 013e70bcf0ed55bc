"""Stored values that a caller overrides, in value and in shape, in every role that they can have.

The initializer `w` is an input too. Its declaration gives no shape, symbols or the stored one; it
is read as it is, after a node, or only its shape is; at the top, in a body, by a function.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from benchmarks.attack.building import Case, Feed, Job, Net, feeds_in, opset, passes, target
from benchmarks.attack.families.forms import TARGETS

PASSES = (
    "fold-constants",
    "simplify",
    "dead-code",
    "if-elimination",
    "repeated-constants",
    "identity-elimination",
    "conv-bias-fusion",
    "gemm-fusion",
    "batch-normalization-folding",
    "common-subexpressions",
    "constant-to-initializer",
    "reshape-shape-to-constant",
    "expand-shape-to-constant",
    "loop-unrolling",
    "filled-weights-to-constant",
)
X1, X2 = (4,), (3, 4)


@dataclass(frozen=True)
class Role:
    """What reads `w`: the operator, where it is, the other inputs, and what is fed for it."""

    op: str
    inputs: tuple[Any, ...]  # "x", "w", or (value, dtype)
    kind: Any
    values: tuple[Any, ...]
    attrs: tuple[tuple[str, Any], ...] = ()
    x: tuple[int, ...] = (3, 4)
    outputs: int = 1
    gives: int = 1


_I, _F, _B = np.int64, np.float32, np.bool_
ROLES = (
    Role("Reshape", ("x", "w"), _I, ([4, 3], [2, 6], [-1], [2, 3, 2])),
    Role("Slice", ("x", "w", ([9], _I)), _I, ([1], [0], [-1])),
    Role("Slice", ("x", ([0], _I), "w"), _I, ([2], [1], [-1])),
    Role("Slice", ("x", ([1], _I), ([3], _I), "w"), _I, ([0], [1], [-1])),
    Role("Slice", ("x", ([2], _I), ([0], _I), ([1], _I), "w"), _I, ([-1], [-2])),
    Role("Pad", ("x", "w"), _I, ([0, 1, 0, 1], [1, 0, 0, 0], [-1, 0, 0, 0])),
    Role("Pad", ("x", ([0, 1, 0, 1], _I), "w"), _F, (0.0, 1.5, -3.0)),
    Role("Expand", ("x", "w"), _I, ([3, 4], [2, 3, 4], [1])),
    Role("Tile", ("x", "w"), _I, ([1, 1], [2, 1], [0, 3])),
    Role("ConstantOfShape", ("w",), _I, ([2], [3, 2], [0])),
    Role("Range", ("w", (5, _I), (1, _I)), _I, (0, 3, 5), gives=7),
    Role("TopK", ("x", "w"), _I, ([1], [3], [4]), outputs=2),
    Role("Unsqueeze", ("x", "w"), _I, ([0], [1, 2], [-1])),
    Role("Squeeze", ("x", "w"), _I, ([0], [0, 2], [-1]), x=(1, 3, 1)),
    Role("ReduceSum", ("x", "w"), _I, ([0], [1], [0, 1])),
    Role("Split", ("x", "w"), _I, ([1, 2], [2, 1], [0, 3]), outputs=2),
    Role("CumSum", ("x", "w"), _I, (0, 1, -1)),
    Role("OneHot", (([0, 1, 2], _I), "w", ([0.5, 2.0], _F)), _I, (3, 4, 2)),
    Role("OneHot", (([0, 1, 2], _I), (3, _I), "w"), _F, ([0.0, 1.0], [1.0, 0.0], [0.5, -1.0])),
    Role("Gather", ("x", "w"), _I, ([0, 2], [1], [[0, -1], [1, 1]], 2)),
    Role("Gather", ("w", ([0, 0], _I)), _F, ([1.0, 2.0], [[1.0, 2.0, 3.0]], [5.0, 6.0, 7.0])),
    Role("GatherND", ("x", "w"), _I, ([[0, 1]], [[2], [0]], [[-1, -1], [0, 0]])),
    Role("ScatterND", ("x", "w", ([9.0], _F)), _I, ([[0, 1]], [[2, 3]])),
    Role("ScatterElements", ("x", "w", ([[9.0, 8.0]], _F)), _I, ([[0, 1]], [[2, 0]])),
    Role("Clip", ("x", "w"), _F, (-1.0, 0.5)),
    Role("Clip", ("x", (-1.0, _F), "w"), _F, (1.0, 0.0)),
    Role(
        "Where",
        ("w", "x", (0.0, _F)),
        _B,
        ([True, False, True, True], [[False]], [[True], [False], [True]]),
    ),
    Role(
        "Where",
        (([True, False, True, True], _B), "x", "w"),
        _F,
        (0.0, [1.0, 2.0, 3.0, 4.0], [[[1.0]]]),
    ),
    Role("Add", ("x", "w"), _F, (0.0, [1.0, 2.0, 3.0, 4.0], [[[1.0]], [[2.0]]])),
    Role("Mul", ("w", "x"), _F, (1.0, [0.0], [[[1.0]], [[2.0]]])),
    Role("Sub", ("x", "w"), _F, ([0.0], [[1.0], [2.0], [3.0]])),
    Role("Div", ("x", "w"), _F, ([1.0], [[2.0], [4.0], [0.5]])),
    Role("Pow", ("x", "w"), _F, (2.0, 3.0, [1.0, 2.0, 0.0, 4.0])),
    Role("Mod", ("xi", "w"), _I, (3, [2, 5, -7, 4])),
    Role("Max", ("x", "w"), _F, (float("-inf"), [0.0, 0.5, 1.0, -1.0])),
    Role("Equal", ("xi", "w"), _I, (0, [1, 2, 3, 0]), gives=9),
    Role("PRelu", ("x", "w"), _F, ([0.1], [0.1, 0.2, -0.5, 1.0])),
    Role(
        "MatMul",
        ("x", "w"),
        _F,
        ([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.0, 3.0, 4.0], [[[1.0, 0.0]] * 4] * 2),
    ),
    Role("Gemm", ("x", ([[1.0, 2.0]] * 4, _F), "w"), _F, ([0.5, 1.0], 2.0, [[1.0], [2.0], [3.0]])),
    Role("Gemm", ("x", "w"), _F, ([[1.0, 2.0]] * 4, [[1.0]] * 4)),
    Role(
        "Conv",
        ("x", "w"),
        _F,
        ([[[1.0, 2.0]]], [[[1.0]], [[2.0]]], [[[1.0, -1.0, 0.5]]]),
        x=(2, 1, 5),
    ),
    Role("Conv", ("x", ([[[1.0, 2.0]]] * 2, _F), "w"), _F, ([0.0, 0.0], [1.0, 2.0]), x=(2, 1, 5)),
    Role(
        "BatchNormalization",
        ("x", "w", ([0.0] * 4, _F), ([0.0] * 4, _F), ([1.0] * 4, _F)),
        _F,
        ([1.0] * 4, [2.0, 0.0, 1.0, 3.0]),
    ),
    Role("LayerNormalization", ("x", "w"), _F, ([1.0] * 4, [2.0, 0.0, 1.0, 3.0])),
    Role(
        "Resize", ("x", None, "w"), _F, ([1.0, 2.0], [2.0, 1.0], [1.0, 0.5]), (("mode", "nearest"),)
    ),
    Role("Resize", ("x", None, None, "w"), _I, ([3, 8], [6, 2]), (("mode", "nearest"),)),
    Role("QuantizeLinear", ("x", "w", (3, np.uint8)), _F, (0.1, 2.0), gives=2),
    Role("QuantizeLinear", ("x", (0.1, _F), "w"), np.uint8, (3, 128), gives=2),
    Role("DequantizeLinear", ("w", (0.5, _F)), np.uint8, ([1, 2], [[3, 4], [5, 6]], 7)),
    Role("Trilu", ("x", "w"), _I, (0, 1, -1)),
    Role("Compress", ("x", "w"), _B, ([True, False, True], [False, True], [True])),
    Role("Concat", ("x", "w"), _F, ([[1.0] * 4], [[1.0] * 4] * 3), (("axis", 0),)),
    Role(
        "Einsum",
        ("x", "w"),
        _F,
        ([[1.0], [2.0], [3.0], [4.0]], [[1.0, 0.0]] * 4),
        (("equation", "ij,jk->ik"),),
    ),
    Role("NonZero", ("w",), _F, ([1.0, 0.0], [[0.0, 2.0, 3.0]]), gives=7),
    Role("Identity", ("w",), _F, ([1.0, 0.0], [[0.0, 2.0, 3.0]])),
    Role("Dropout", ("x", (0.5, _F), "w"), _B, (False,)),
    Role("GatherElements", ("x", "w"), _I, ([[0, 1]], [[2, 0], [1, 1]])),
    Role("Softmax", ("w",), _F, ([1.0, 0.0], [[0.0, 2.0, 3.0], [1.0, 1.0, 1.0]])),
)
WAYS = (
    "plain",
    "identity",
    "cast",
    "joined",
    "added",
    "shape",
    "size",
    "rank",
    "equal",
    "reshaped",
    "broadcast",
    "if",
    "loop",
    "expand",
)


def cases() -> Iterator[Case]:
    """Yield each role, read in each way, declared in each way."""
    for place, role in enumerate(ROLES):
        for way in WAYS:
            for declared in ("none", "symbol", "stored"):
                made = _case(place, role, way, declared)
                if made is not None:
                    yield made


def _case(place: int, role: Role, way: str, declared: str) -> Case | None:
    draw = random.Random(f"override {place} {way} {declared}")
    if way != "plain" and draw.random() > 0.4:
        return None
    net = Net(opset=draw.choice((15, 17, 18)), by_node=draw.random() < 0.3)
    x = net.take("x", 1, [None] * len(role.x) if draw.random() < 0.5 else role.x)
    values = [np.asarray(v, dtype=role.kind) for v in role.values]
    elem = helper.np_dtype_to_tensor_dtype(np.dtype(role.kind))
    w, after = "w", "w"
    if way == "identity":
        after = net.add("Identity", w)
    elif way == "cast":
        wide = {"f": 11, "i": 6, "u": 6, "b": 6}[np.dtype(role.kind).kind]
        after = net.add("Cast", net.add("Cast", w, to=wide), to=elem)
    elif way == "added" and np.dtype(role.kind).kind in "if":
        after = net.add("Add", w, net.hold(0, role.kind))
    elif way == "joined" and values[0].ndim == 1:
        parts = net.many("Split", [w], 1, axis=0) if net.opset < 18 else [w]
        after = net.add("Concat", parts[0], net.hold(np.zeros((0,), role.kind), role.kind), axis=0)
    elif way == "reshaped":
        after = net.add("Reshape", w, net.add("Shape", w))
    elif way == "broadcast":
        after = net.add("Expand", w, net.add("Shape", w))
    elif way == "expand" and np.dtype(role.kind).kind == "f":
        after = net.add(
            "Mul",
            net.add(
                "ConstantOfShape",
                net.add("Shape", w),
                value=helper.make_tensor("v", elem, [1], [1]),
            ),
            w,
        )
    scope = draw.choice(("main", "main", "function", "if", "loop"))
    if way in ("shape", "size", "rank", "equal", "if", "loop"):
        _derived(net, way, w)
        scope = (
            draw.choice(("main", "function", "if", "loop")) if way not in ("if", "loop") else "main"
        )
    elif way in ("plain", "identity", "reshaped", "broadcast") or after != "w":
        inputs: list[str] = []
        for given in role.inputs:
            if given is None:
                inputs.append("")
            elif given == "x":
                inputs.append(x)
            elif given == "xi":
                inputs.append(net.add("Cast", x, to=7))
            elif given == "w":
                inputs.append(after)
            else:
                inputs.append(net.hold(given[0], given[1]))
        outs = net.many(role.op, inputs, role.outputs, **dict(role.attrs))
        for k, out in enumerate(outs):
            net.give(out, 7 if role.op == "TopK" and k else role.gives)
    else:
        return None
    used = {n for node in net.nodes for n in node.input}
    if "x" not in used and way != "if":
        net.inputs.clear()
    model = _with_w(net, scope, values[0], elem, declared)
    feeds: list[Feed] = []
    xs = np.linspace(-2, 3, int(np.prod(role.x))).astype(np.float32).reshape(role.x)
    stored = values[0]
    for value in (None, *values):
        feed: Feed = {"x": xs} if net.inputs else {}
        if value is not None:
            fits = (
                declared == "none"
                or (declared == "stored" and value.shape == stored.shape)
                or (declared == "symbol" and value.ndim == stored.ndim)
            )
            if not fits:
                continue
            feed["w"] = value
        feeds.append(feed)
    jobs: list[Job] = [target(name) for name in draw.sample(TARGETS, 2)]
    jobs.append(
        draw.choice((passes(draw.choice(PASSES)), opset(draw.choice((11, 12, 13, 20, 21)))))
    )
    return Case(
        f"{place}-{role.op}-{way}-{declared}", "overrides", model, feeds_in(scope, feeds), jobs
    )


def _derived(net: Net, way: str, w: str) -> None:
    """Output what depends on the shape of w alone."""
    shape = net.add("Shape", w)
    if way == "shape":
        net.give(net.add("Cast", shape, to=1), 1)
    elif way == "size":
        size = net.add("Size", w)
        net.give(
            net.add("Mul", net.add("Cast", size, to=1), net.add("ReduceSum", "x", keepdims=0)), 1
        )
    elif way == "rank":
        net.give(net.add("Sub", net.add("Size", shape), net.hold(1)), 7)
    elif way == "equal":
        count = net.add("ReduceProd", shape, keepdims=0)
        test = net.add("Equal", count, net.hold(4))
        net.give(net.add("Where", test, "x", net.add("Neg", "x")), 1)
    else:
        count = net.add("Size", w)
        if way == "if":
            test = net.add("Less", count, net.hold(3))
            subgraphs: dict[str, Any] = {}
            for key, op in (("then_branch", "Neg"), ("else_branch", "Exp")):
                out = f"o{key}"
                subgraphs[key] = helper.make_graph(
                    [helper.make_node(op, ["x"], [out])],
                    key,
                    [],
                    [helper.make_tensor_value_info(out, 1, None)],
                )
            net.give(net.add("If", test, **subgraphs), 1)
        else:
            body = helper.make_graph(
                [
                    helper.make_node("Identity", ["c"], ["g"]),
                    helper.make_node("Add", ["s", "s"], ["n"]),
                ],
                "b",
                [
                    helper.make_tensor_value_info("i", 7, []),
                    helper.make_tensor_value_info("c", 9, []),
                    helper.make_tensor_value_info("s", 1, None),
                ],
                [
                    helper.make_tensor_value_info("g", 9, []),
                    helper.make_tensor_value_info("n", 1, None),
                ],
            )
            net.give(net.add("Loop", count, "", "x", body=body), 1)


def _with_w(net: Net, scope: str, stored: Any, elem: int, declared: str) -> Any:
    """Return the model with the initializer w at the top, which is an input too."""
    dims = (
        None
        if declared == "none"
        else list(stored.shape)
        if declared == "stored"
        else [f"W{k}" for k in range(stored.ndim)]
    )
    info = helper.make_tensor_value_info("w", elem, dims)
    if scope == "function":
        net.inputs.append(info)
        model = net.model(scope)
        net.inputs.pop()
    else:
        model = net.model(scope)
        model.graph.input.append(info)
    model.graph.initializer.append(numpy_helper.from_array(np.asarray(stored), "w"))
    return model
