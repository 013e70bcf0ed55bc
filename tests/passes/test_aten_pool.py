"""aten-pool: means and maxima of windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphfix.passes.aten.aten_pool import FAMILY
from graphfix.testing import assert_refused, assert_untouched, outputs_of
from tests.passes.aten_models import array_of, aten_model, called, replaced

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
    whole = (x * 9).astype(np.int64)
    arguments = [[kernel] * axes, stride * axes, [pad] * axes, [1] * axes, ceil]
    replaced(PASS, FAMILY.evaluate, f"max_pool{axes}d", [whole, *arguments])


def test_one_image_and_open_sizes() -> None:
    x = array_of(3, 9, 8)
    replaced(PASS, FAMILY.evaluate, "max_pool2d", [x, [3], [2], [1], [1], False])
    for name, further in (("max_pool2d", [[1]]), ("avg_pool2d", [])):
        arguments: list[Any] = [x[None], [3], [2], [1], *further, False]
        replaced(PASS, FAMILY.evaluate, name, arguments, dynamic=True, **NEAR)


def test_the_first_of_equal_ones_has_the_index() -> None:
    x = np.array([[[1, 5, 5, 2, 5, 5]]], np.float32)
    arguments = [x, [3], [3], [0], [1], False]
    done = replaced(PASS, FAMILY.evaluate, "max_pool1d_with_indices", arguments)
    assert outputs_of(done.after, {"x0": x})["y1"].tolist() == [[[1, 4]]]


def test_integers_are_divided_towards_0() -> None:
    x = np.array([[[-7, 0, 7, 0]]])
    done = replaced(PASS, FAMILY.evaluate, "avg_pool1d", [x, [2], [2], [0], False, True])
    assert outputs_of(done.after, {"x0": x})["y0"].tolist() == [[[-3, 3]]]


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("max_pool1d", [[3], [2], [0], [1], True],
         "the sizes of the pooled axes must be known in ceil mode; one is open"),
        ("max_pool1d_with_indices", [[3], [2], [0], [1], False],
         "the sizes of the pooled axes of x0 must be known; one is open"),
        ("max_pool1d", [[3, 2], [2], [0], [1], False],
         "kernel_size must have an entry for each of 1 axes; it has 2"),
    ],
)  # fmt: skip
def test_refused(name: str, arguments: list[Any], reason: str) -> None:
    x = array_of(2, 3, 9)
    results = [x, x.astype(np.int64)] if "indices" in name else [x]
    model, _ = called(name, [x, *arguments], results, dynamic=True)
    assert_refused(PASS, model, reason)


def test_padded_integers_have_no_indices() -> None:
    x = np.zeros((1, 2, 5), np.int64)
    arguments = [x, [3], [2], [1], [1], False]
    model, _ = called("max_pool1d_with_indices", arguments, [x, x])
    assert_refused(PASS, model, "x0 must be floats for indices of padded windows; it is not")


def test_other_operators_are_left_alone() -> None:
    assert_untouched(PASS, aten_model("rot90", [3, 3]))
