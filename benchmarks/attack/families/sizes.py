"""Random programs on sizes: what is folded, bounded or followed must hold at every size.

A program takes sizes of one or two inputs through integers of every width, floats and booleans, and
uses the result as a number, a shape, a bound of a slice, a count or a condition.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from benchmarks.attack.building import (
    SCOPES,
    Array,
    Case,
    Feed,
    Net,
    feeds_in,
    opset,
    passes,
    target,
)

KINDS = {
    "int64": 7,
    "int32": 6,
    "int16": 5,
    "int8": 3,
    "uint8": 2,
    "uint16": 4,
    "uint32": 12,
    "uint64": 13,
    "float": 1,
    "double": 11,
    "float16": 10,
}
_DTYPES = {
    1: np.float32,
    2: np.uint8,
    3: np.int8,
    4: np.uint16,
    5: np.int16,
    6: np.int32,
    7: np.int64,
    10: np.float16,
    11: np.float64,
    12: np.uint32,
    13: np.uint64,
}
Pool = list[tuple[str, int, int]]  # name, element type, rank
SIZES = (0, 1, 2, 3, 5, 6, 7, 8, 127, 128, 129, 255, 256, 257, 2049, 32767, 32768, 65535, 65536)
NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    5,
    6,
    7,
    8,
    100,
    127,
    128,
    255,
    256,
    2048,
    32768,
    65536,
    1 << 24,
    1 << 31,
)
TARGETS = ("trt8", "ort-1.10", "openvino", "tflite", "trt10", "ncnn", "trt7.0", "ort")


def cases() -> Iterator[Case]:
    """Yield programs without end."""
    place = 0
    while True:
        made = _program(place)
        if made is not None:
            yield made
        place += 1


def _program(seed: int) -> Case | None:
    draw = random.Random(f"sizes {seed}")
    net = Net(opset=draw.choice((13, 15, 17, 18)), by_node=draw.random() < 0.3)
    scope = draw.choice(("main", "main", *SCOPES))
    kind = draw.choice((TensorProto.UINT8, TensorProto.FLOAT))
    symbols = draw.choice((("N", 2), ("N",), ("N", "M"), (None, 3), ("N", "N")))
    net.take("x", kind, symbols)
    second = draw.random() < 0.4
    if second:
        net.take("z", kind, (draw.choice(("N", "K", None)),))
    pool: Pool = []  # name, element type, rank
    for source, rank in (("x", len(symbols)), *((("z", 1),) if second else ())):
        _measure(net, draw, source, rank, pool)
    for _ in range(draw.randint(1, 6)):
        _step(net, draw, pool)
    late = pool[-3:]
    name, elem, rank = draw.choice(late)
    _use(net, draw, name, elem, rank)
    feeds = feeds_in(scope, _feeds(draw, symbols, kind, second))
    try:
        model = net.model(scope)
    except Exception:
        return None
    jobs = [target(name) for name in draw.sample(TARGETS, 2)]
    jobs.append(draw.choice((opset(draw.choice((13, 15, 17, 18, 20))), passes("fold-constants"))))
    return Case(f"{seed}", "sizes", model, feeds, jobs)


def _measure(net: Net, draw: random.Random, source: str, rank: int, pool: Pool) -> None:
    how = draw.choice(("gather", "scalar", "size", "slice", "whole", "split"))
    if how == "size":
        pool.append((net.add("Size", source), 7, 0))
        return
    attrs: dict[str, Any] = {}
    if net.opset >= 15 and draw.random() < 0.3:
        attrs = {"start": draw.choice((0, -1)), **({"end": rank} if draw.random() < 0.5 else {})}
    shape = net.add("Shape", source, **attrs)
    if attrs or how == "whole":
        pool.append((shape, 7, 1))
        return
    axis = draw.choice((0, -rank, 0, rank - 1))
    if how == "slice":
        last = net.hold([axis + 1 if axis != -1 else 2**31 - 1])
        part = net.add("Slice", shape, net.hold([axis]), last, net.hold([0]))
        pool.append((part, 7, 1))
    elif how == "split" and rank == 2 and net.opset >= 13 and net.opset < 18:
        pool.extend((n, 7, 1) for n in net.many("Split", [shape], 2))
    else:
        index = net.hold(axis if how == "scalar" else [axis])
        pool.append((net.add("Gather", shape, index), 7, 0 if how == "scalar" else 1))


def _cast(net: Net, name: str, elem: int, to: int) -> str:
    return name if elem == to else net.add("Cast", name, to=to)


_FLOATING = (1, 10, 11)
_ARITHMETIC = {
    "Add": 1,
    "Sub": 1,
    "Mul": 1,
    "Div": 1,
    "Mod": 0,
    "Min": 1,
    "Max": 1,
    "Pow": 1,
}


def _step(net: Net, draw: random.Random, pool: Pool) -> None:
    name, elem, rank = draw.choice(pool[-4:])
    how = draw.choice(
        (
            "cast",
            "cast",
            "binary",
            "binary",
            "binary",
            "constant",
            "constant",
            "where",
            "unary",
            "concat",
            "reduce",
            "reshape",
            "gather",
            "compare",
            "clip",
            "range",
        )
    )
    if how == "cast":
        to = draw.choice(list(KINDS.values()))
        pool.append((_cast(net, name, elem, to), to, rank))
    elif how in ("binary", "constant"):
        op = draw.choice(list(_ARITHMETIC))
        typed = elem if elem in (6, 7, 1, 11) else draw.choice((6, 7, 1))
        left = _cast(net, name, elem, typed)
        if how == "binary" and op not in ("Div", "Mod", "Pow"):
            other, elem2, rank2 = draw.choice(pool)
            right = _cast(net, other, elem2, typed)
        else:
            value = draw.choice(NUMBERS)
            if op in ("Div", "Mod") and value == 0:
                value = 3
            if op == "Pow":
                value = draw.choice((0, 1, 2, 3))
            value = min(value, np.iinfo(np.int32).max)
            rank2 = draw.choice((0, 1))
            right = net.hold(value if rank2 == 0 else [value], _DTYPES[typed])
            if draw.random() < 0.3 and op not in ("Div", "Mod", "Pow"):
                left, right = right, left
        more: dict[str, Any] = (
            {"fmod": 1} if op == "Mod" and (typed in _FLOATING or draw.random() < 0.3) else {}
        )
        pool.append((net.add(op, left, right, **more), typed, max(rank, rank2)))
    elif how == "where":
        other, elem2, rank2 = draw.choice(pool)
        limit = net.hold(draw.choice(NUMBERS[:-1]))
        mine = _cast(net, name, elem, 7)
        op = draw.choice(("Equal", "Greater", "Less"))
        test = net.add(op, mine, limit)
        if draw.random() < 0.2:
            test = net.add("Not", test)
        theirs = _cast(net, other, elem2, 7)
        pool.append(
            (net.add("Where", test, theirs, net.hold(draw.choice(NUMBERS))), 7, max(rank, rank2))
        )
    elif how == "unary":
        op = draw.choice(("Neg", "Abs", "Floor", "Ceil", "Sqrt", "Round", "Sign", "Reciprocal"))
        typed = (elem if elem in (6, 7, 1) else 7) if op in ("Neg", "Abs", "Sign") else 1
        pool.append((net.add(op, _cast(net, name, elem, typed)), typed, rank))
    elif how == "concat":
        other, elem2, rank2 = draw.choice(pool)
        if rank > 1 or rank2 > 1:
            return
        a = _vector(net, _cast(net, name, elem, 7), rank)
        b = _vector(net, _cast(net, other, elem2, 7), rank2)
        pool.append((net.add("Concat", a, b, axis=draw.choice((0, -1))), 7, 1))
    elif how == "reduce" and rank == 1:
        op = draw.choice(("ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"))
        typed = elem if elem in (6, 7, 1) else 7
        pool.append((net.add(op, _cast(net, name, elem, typed), keepdims=0), typed, 0))
    elif how == "reshape":
        shape = draw.choice(([-1], []))
        if shape == [] and rank != 0:
            return
        pool.append((net.add("Reshape", name, net.hold(shape)), elem, len(shape)))
    elif how == "gather" and rank == 1:
        pool.append((net.add("Gather", name, net.hold(draw.choice((0, -1)))), elem, 0))
    elif how == "compare":
        limit = net.hold(draw.choice(NUMBERS[:-1]))
        test = net.add(draw.choice(("Equal", "Greater", "Less")), _cast(net, name, elem, 7), limit)
        pool.append((net.add("Cast", test, to=draw.choice((6, 7, 1))), 7, rank))
        pool[-1] = (pool[-1][0], net.nodes[-1].attribute[0].i, rank)
    elif how == "clip" and net.opset >= 12:
        low, high = sorted(draw.sample(NUMBERS[:-1], 2))
        pool.append(
            (net.add("Clip", _cast(net, name, elem, 7), net.hold(low), net.hold(high)), 7, rank)
        )
    elif how == "range" and rank == 0:
        some = net.add("Min", _cast(net, name, elem, 7), net.hold(draw.choice((6, 300))))
        pool.append((net.add("Range", net.hold(0), some, net.hold(draw.choice((1, 2)))), 7, 1))


def _vector(net: Net, name: str, rank: int) -> str:
    return name if rank else net.add("Reshape", name, net.hold([1]))


def _use(net: Net, draw: random.Random, name: str, elem: int, rank: int) -> None:
    """Give the value out, or let something of the first input depend on it."""
    how = draw.choice(("out", "out", "out", "mul", "slice", "fill", "if", "tile", "reshape", "pad"))
    if how == "out" or rank > 1:
        if draw.random() < 0.5:
            net.add("Identity", name, out="y")
        else:
            net.add("Cast", name, out="y", to=elem)
        net.give("y", elem)
        return
    whole = _cast(net, name, elem, 7)
    first = whole if rank == 0 else net.add("ReduceMax", whole, keepdims=0)
    if how == "mul":
        base = net.hold([1.5, -2.0], np.float32)
        net.add("Mul", base, net.add("Cast", first, to=1), out="y")
        net.give("y", 1)
        return
    if how == "if":
        test = net.add(
            draw.choice(("Greater", "Less", "Equal")), first, net.hold(draw.choice(NUMBERS[:-1]))
        )
        branches: dict[str, Any] = {
            key: helper.make_graph(
                [helper.make_node("Constant", [], [f"k{key}"], value_float=value)],
                key,
                [],
                [helper.make_tensor_value_info(f"k{key}", 1, [])],
            )
            for key, value in (("then_branch", 1.0), ("else_branch", 2.0))
        }
        net.add("If", test, out="y", **branches)
        net.give("y", 1, [])
        return
    small = net.add("Max", net.add("Min", first, net.hold(draw.choice((9, 1000)))), net.hold(0))
    one = net.add("Reshape", small, net.hold([1]))
    if how == "fill":
        net.add("ConstantOfShape", one, out="y")
        net.give("y", 1)
    elif how == "tile":
        net.add("Tile", net.hold([1, 2]), one, out="y")
        net.give("y", 7)
    elif how == "slice":
        flat = net.add("Reshape", "x", net.hold([-1]))
        net.add("Slice", flat, net.hold([0]), one, out="y")
        net.give("y", net.inputs[0].type.tensor_type.elem_type)
    elif how == "reshape":
        flat = net.add("ConstantOfShape", one)
        net.add("Reshape", flat, net.add("Concat", net.hold([1]), one, axis=0), out="y")
        net.give("y", 1)
    else:
        pads = net.add("Concat", one, net.hold([0]), axis=0)
        net.add("Pad", net.hold([1.0], np.float32), pads, out="y")
        net.give("y", 1)


def _feeds(draw: random.Random, symbols: tuple[object, ...], kind: int, second: bool) -> list[Feed]:
    feeds: list[Feed] = []
    dtype = np.uint8 if kind == TensorProto.UINT8 else np.float32
    sizes = list(SIZES)
    for size in sizes:
        dims = [d if isinstance(d, int) else size for d in symbols]
        if symbols == ("N", "M"):
            dims[1] = draw.choice((1, 2, 3))
        if symbols == ("N", "N") and size > 300:
            continue
        feed: Feed = {"x": _ramp(dims, dtype)}
        if second:
            feed["z"] = _ramp([size], dtype)
        feeds.append(feed)
    return feeds


def _ramp(dims: list[int], dtype: Any) -> Array:
    count = int(np.prod(dims, dtype=np.int64))
    return (np.arange(count) % 7).astype(dtype).reshape(dims)
