"""aten-pool: means and maxima of windows."""

from typing import Any

import numpy as np
import pytest

from graphfix.authoring.pytorch.call import has_pytorch
from passes.aten.aten_pool import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-pool"
SHAPES = {1: (2, 3, 9), 2: (1, 3, 9, 8), 3: (1, 2, 6, 5, 7)}
NEAR: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}
# Kernel, stride, padding, ceil mode.
WINDOWS: list[tuple[int, list[int], int, bool]] = [
    (3, [], 0, False),
    (3, [2], 1, False),
    (2, [3], 1, True),
    (4, [3], 2, True),
]


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize(("kernel", "stride", "pad", "ceil"), WINDOWS)
def test_means(kernel: int, stride: list[int], pad: int, ceil: bool, axes: int) -> None:
    x = array_of(*SHAPES[axes])
    for padded in (True, False):
        arguments = [x, [kernel] * axes, stride * axes, [pad] * axes, ceil, padded]
        further: list[Any] = [None] if axes > 1 else []
        name = f"avg_pool{axes}d"
        replaced(PASS, FAMILY.evaluate, name, [*arguments, *further], **NEAR)
        if axes > 1:
            replaced(PASS, FAMILY.evaluate, name, [*arguments, 5], **NEAR)
        whole = (x * 9).astype(np.int64)
        replaced(PASS, FAMILY.evaluate, name, [whole, *arguments[1:], *further])


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize(("kernel", "stride", "pad", "ceil"), WINDOWS)
def test_maxima(kernel: int, stride: list[int], pad: int, ceil: bool, axes: int) -> None:
    x = array_of(*SHAPES[axes])
    for dilation in (1, 2) if kernel < 4 else (1,):
        arguments = [[kernel] * axes, stride * axes, [pad] * axes, [dilation] * axes, ceil]
        replaced(PASS, FAMILY.evaluate, f"max_pool{axes}d", [x, *arguments])
        replaced(PASS, FAMILY.evaluate, f"max_pool{axes}d_with_indices", [x, *arguments])
    if axes == 1 and has_pytorch():  # which has no max_pool1d of integers
        return
    whole = (x * 9).astype(np.int64)
    arguments = [[kernel] * axes, stride * axes, [pad] * axes, [1] * axes, ceil]
    replaced(PASS, FAMILY.evaluate, f"max_pool{axes}d", [whole, *arguments])


def test_one_image_and_open_sizes() -> None:
    x = array_of(3, 9, 8)
    replaced(PASS, FAMILY.evaluate, "max_pool2d", [x, [3], [2], [1], [1], False])
    for name, further in (("max_pool2d", [[1]]), ("avg_pool2d", [])):
        arguments: list[Any] = [x[None], [3], [2], [1], *further, False]
        replaced(PASS, FAMILY.evaluate, name, arguments, dynamic=True, **NEAR)


@pytest.mark.parametrize("axes", [1, 2])
@pytest.mark.parametrize(("kernel", "stride", "pad", "ceil"), WINDOWS)
@pytest.mark.parametrize("size", [6, 7, 8, 9])
def test_open_sizes(
    kernel: int, stride: list[int], pad: int, ceil: bool, size: int, axes: int
) -> None:
    x = (
        array_of(2, *([size + 2, size][-axes:]), size)[..., :size]
        if axes > 1
        else array_of(2, 3, size)
    )
    for data in (x, (x * 9).astype(np.int64)):
        how: dict[str, Any] = {"dynamic": True} | (NEAR if data.dtype == np.float32 else {})
        geometry = [[kernel] * axes, stride * axes, [pad] * axes]
        for padded in (True, False):
            further: list[Any] = [None] if axes > 1 else []
            arguments = [data, *geometry, ceil, padded, *further]
            replaced(PASS, FAMILY.evaluate, f"avg_pool{axes}d", arguments, **how)
        if axes == 1 and data.dtype == np.int64 and has_pytorch():
            continue  # it has no max_pool1d of integers
        arguments = [data, *geometry, [1] * axes, ceil]
        replaced(PASS, FAMILY.evaluate, f"max_pool{axes}d", arguments, dynamic=True)
        name = f"max_pool{axes}d_with_indices"
        replaced(PASS, FAMILY.evaluate, name, arguments, dynamic=True)
        replaced(PASS, FAMILY.evaluate, name, arguments)


def test_open_sizes_of_dilated_windows() -> None:
    x = array_of(1, 2, 9, 8)
    arguments = [x, [3, 2], [2, 3], [1, 1], [2, 1], True]
    replaced(PASS, FAMILY.evaluate, "max_pool2d_with_indices", arguments, dynamic=True)
    replaced(PASS, FAMILY.evaluate, "max_pool2d", arguments, dynamic=True)
