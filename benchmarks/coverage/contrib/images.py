"""Convolutions, pools and what samples images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.coverage.contrib.form import Form, const, real, rng, whole

_IMAGE = real(2, 4, 7, 6)
_WEIGHTS = const(real(6, 4, 3, 3, seed=1))
_PADS = {"pads": [1, 1, 1, 1], "kernel_shape": [3, 3]}


def forms() -> Iterator[Form]:
    """Yield the forms."""
    yield from _convolutions()
    yield from _pools()
    yield from _samples()


def _convolutions() -> Iterator[Form]:
    bias = const(real(6, seed=2))
    last, own = real(2, 7, 6, 4), const(real(6, 3, 3, 4, seed=1))
    yield Form("NhwcConv", "plain", [last, own], attributes=_PADS)
    yield Form("NhwcConv", "bias", [last, own, bias], attributes={"strides": [2, 2], **_PADS})
    yield Form("NhwcConv", "open", [last, own, bias], attributes=_PADS, free=(0, 1, 2))
    yield Form("NhwcConv", "late", [last, own.array], attributes=_PADS)
    deep = const(real(8, 3, 3, 2, seed=1))
    yield Form("NhwcConv", "group", [last, deep], attributes={"group": 2, **_PADS})
    for name, given in {"Relu": (), "LeakyRelu": (0.2,), "Clip": (-0.5, 0.7)}.items():
        attributes: dict[str, Any] = {"activation": name, **_PADS}
        if given:
            attributes["activation_params"] = list(given)
        yield Form("FusedConv", name, [_IMAGE, _WEIGHTS, bias], attributes=attributes)
        yield Form("NhwcFusedConv", name, [last, _WEIGHTS, bias], attributes=attributes)
    added = {"activation": "Relu", **_PADS}
    yield Form(
        "FusedConv",
        "added",
        [_IMAGE, _WEIGHTS, bias, real(2, 6, 7, 6, seed=3)],
        [np.float32],
        added,
    )
    yield Form("FusedConv", "open", [_IMAGE, _WEIGHTS, bias], [np.float32], added, (0, 2, 3))
    yield Form(
        "NhwcFusedConv",
        "added",
        [last, _WEIGHTS, bias, real(2, 7, 6, 6, seed=3)],
        [np.float32],
        added,
    )
    turned = const(real(4, 3, 3, 3, seed=4))
    pads = const(np.array([1, 0, 1, 2], np.int64))
    yield Form("ConvTransposeWithDynamicPads", "constant", [_IMAGE, turned, pads])
    given_pads = np.array([1, 0, 1, 2], np.int64)
    yield Form("ConvTransposeWithDynamicPads", "late", [_IMAGE, turned, given_pads])


def _pools() -> Iterator[Form]:
    image = whole(-128, 128, 2, 7, 6, 4, dtype=np.int8)
    kernel = {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 0]}
    yield Form("NhwcMaxPool", "int8", [image], [np.int8], kernel)
    yield Form("NhwcMaxPool", "uint8", [image.view(np.uint8)], [np.uint8], kernel)
    mask = const(whole(0, 2, 2, 4, 7, 6, dtype=np.int32))
    yield Form("MaxpoolWithMask", "constant", [_IMAGE, mask], attributes={"kernel_shape": [2, 2]})
    padded = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}
    fewer = const(whole(0, 2, 1, 3, 7, 6, seed=1, dtype=np.int32))
    yield Form("MaxpoolWithMask", "padded", [_IMAGE, fewer], attributes=padded)
    lines = [real(2, 3, 9), const(whole(0, 2, 1, 1, 9, seed=2, dtype=np.int32))]
    yield Form("MaxpoolWithMask", "lines", lines, attributes={"kernel_shape": [3]})
    late = whole(0, 2, 2, 4, 7, 6, dtype=np.int32)
    yield Form("MaxpoolWithMask", "late", [_IMAGE, late], attributes={"kernel_shape": [2, 2]})


def _samples() -> Iterator[Form]:
    grid = rng(3).uniform(-1.2, 1.2, (2, 3, 5, 2)).astype(np.float32)
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            attributes = {"mode": mode, "padding_mode": padding, "align_corners": 0}
            yield Form("GridSample", f"{mode}-{padding}", [_IMAGE, grid], attributes=attributes)
    aligned = {"mode": "bilinear", "padding_mode": "zeros", "align_corners": 1}
    yield Form("GridSample", "aligned", [_IMAGE, grid], attributes=aligned)
    boxes = np.array(
        [[0.1, 0.2, 0.8, 0.9], [0.0, 0.0, 1.0, 1.0], [0.9, 0.7, 0.2, 0.1], [-0.2, 0.3, 0.6, 1.4]],
        np.float32,
    )
    places = np.array([0, 1, 1, 0], np.int32)
    for mode in ("bilinear", "nearest"):
        for size in ((3, 4), (1, 1)):
            inputs = [_IMAGE, boxes, places, const(np.array(size, np.int32))]
            name = f"{mode}-{size[0]}x{size[1]}"
            how = {"mode": mode, "extrapolation_value": 0.5}
            yield Form("CropAndResize", name, inputs, attributes=how)
    open_ = [_IMAGE, boxes, places, const(np.array([3, 4], np.int32))]
    yield Form("CropAndResize", "open", open_, free=(0, 2, 3))
