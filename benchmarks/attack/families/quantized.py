"""Chains of quantizing and dequantizing: scales that are almost equal, zero points at the ends.

A pair that seems to undo another does so only where scale, zero point, type and axis are the same,
and numbers saturate on the way.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.attack.building import Array, Case, Job, Net, feeds_in, opset, passes, target
from benchmarks.attack.families.forms import DTYPES, TARGETS

COUNT = 300
PASSES = (
    *("byte-round-trip-elimination", "bytes-cast-early", "bytes-to-whole-floats"),
    *("cast-of-bytes-to-dequantize", "dequantize-to-arithmetic", "quantize-to-arithmetic"),
    *("quantize-dequantize-to-clip", "uint8-pair-to-int8", "fold-constants", "simplify"),
    *("dequantize-constant-to-float", "quantized-constant-to-quantizelinear"),
    *("common-subexpressions", "narrow-quantized-to-float", "identity-elimination"),
)
_SCALES = (0.1, float(np.nextafter(np.float32(0.1), np.float32(1))), 0.5, 1.0, 2.0, 0.0078125, 1e-6)
_ZEROS = {"u8": (0, 128, 255, 3), "i8": (0, -128, 127, -3), "u16": (0, 65535), "i16": (0, -300)}


def cases() -> Iterator[Case]:
    """Yield chains."""
    for place in range(COUNT):
        draw = random.Random(f"quantized {place}")
        version = draw.choice((13, 17, 19, 21))
        net = Net(opset=version, by_node=draw.random() < 0.3)
        kinds = ("u8", "i8", "u16", "i16") if version >= 21 else ("u8", "i8")
        value = net.take("x", 1, (draw.choice(("N", 2)), 4))
        pair = _parameters(net, draw, draw.choice(kinds))
        for _ in range(draw.randint(1, 3)):
            value = _moved(net, draw, value)
            value = net.add("QuantizeLinear", value, *pair[1:3], **pair[3])
            value = _moved(net, draw, value)
            if draw.random() < 0.2:
                value = _cast_through(net, draw, value, pair[0])
            if draw.random() < 0.35:
                pair = _parameters(net, draw, pair[0])
            value = net.add("DequantizeLinear", value, *pair[1:3], **pair[3])
            value = _computed(net, draw, value)
            if draw.random() < 0.3:
                pair = _parameters(net, draw, draw.choice(kinds))
        net.give(value, 1)
        scope = draw.choice(("main", "main", "function", "if", "loop"))
        jobs: list[Job] = [target(each) for each in draw.sample(TARGETS, 2)]
        jobs += [passes(draw.choice(PASSES)), opset(draw.choice((11, 12, 13, 18, 20)))]
        feeds = feeds_in(scope, [{"x": _numbers(place + turn, turn)} for turn in range(4)])
        yield Case(f"{place}", "quantized", net.model(scope), feeds, jobs)


def _parameters(net: Net, draw: random.Random, kind: str) -> tuple[str, str, str, dict[str, Any]]:
    """Store a scale and a zero point; return the type, both, and attributes."""
    if draw.random() < 0.2:
        several: Any = [draw.choice(_SCALES) for _ in range(4)]
        zeros: Any = [draw.choice(_ZEROS[kind]) for _ in range(4)]
        attrs = {"axis": draw.choice((1, -1))}
        return kind, net.hold(several, np.float32), net.hold(zeros, DTYPES[kind]), attrs
    one, zero = draw.choice(_SCALES), draw.choice(_ZEROS[kind])
    return kind, net.hold(one, np.float32), net.hold(zero, DTYPES[kind]), {}


def _moved(net: Net, draw: random.Random, value: str) -> str:
    how = draw.choice(("", "", "", "reshape", "slice", "concat", "identity"))
    if how == "reshape":
        return net.add("Reshape", value, net.hold([-1, 4]))
    if how == "slice":
        return net.add("Slice", value, net.hold([0]), net.hold([9]), net.hold([0]))
    if how == "concat":
        return net.add("Concat", value, value, axis=0)
    return net.add("Identity", value) if how else value


def _cast_through(net: Net, draw: random.Random, value: str, kind: str) -> str:
    wide = draw.choice((6, 7, 1))
    codes = {"u8": 2, "i8": 3, "u16": 4, "i16": 5}
    return net.add("Cast", net.add("Cast", value, to=wide), to=codes[kind])


def _computed(net: Net, draw: random.Random, value: str) -> str:
    how = draw.choice(("", "", "Relu", "Clip", "Mul", "Add", "Round", "Neg", "Sigmoid"))
    if how == "Clip":
        return net.add("Clip", value, net.hold(0, np.float32), net.hold(6, np.float32))
    if how in ("Mul", "Add"):
        return net.add(how, value, net.hold([0.5, 1, -1, 0], np.float32))
    return net.add(how, value) if how else value


def _numbers(seed: int, turn: int) -> Array:
    random_ = np.random.default_rng(seed)
    x = random_.normal(size=(2, 4)) * (1, 10, 100, 1e6)[turn]
    if turn == 1:
        x = np.round(x) / 2  # ties
    return x.astype(np.float32)
