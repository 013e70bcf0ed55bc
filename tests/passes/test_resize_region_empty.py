"""resize-region-empty: a region of interest that nothing reads."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import PLACES, written

PASS = "resize-region-empty"
REGION = "@r = Constant <value = float[6] {0.0, 0.0, 0.0, 1.0, 1.0, 1.0}> ()\n"
SCALES = "@s = Constant <value = float[3] {1.0, 1.0, 2.0}> ()\n"
ENDS = ("float[1,2,3] x", "float[1,2,6]")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_the_same_numbers(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    body = REGION + SCALES + '@y = Resize <mode = "linear"> (x, @r, @s)'
    x = np.array([[[1, -2, 3], [0, 0.5, 8]]], np.float32)
    feed: dict[str, Any] = {"x": x, **({"c": np.array(True)} if place == "branch" else {})}
    text = written(body, *ENDS, opset=opset, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        (node,) = [n for n in done.after.graph.node if n.op_type == "Resize"]
        assert bool(node.input[1]) == (opset < 13)


def test_a_computed_region() -> None:
    body = SCALES + '@y = Resize <mode = "nearest"> (x, r, @s)'
    text = written(body, "float[1,2,3] x, float[6] r", "float[1,2,6]", opset=13)
    x = np.array([[[1, -2, 3], [0, 0.5, 8]]], np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": x, "r": np.ones(6, np.float32)}], rtol=0, atol=0)


def test_refusals() -> None:
    crop = SCALES + REGION + '@y = Resize <coordinate_transformation_mode = "tf_crop_and_resize"> '
    assert_refused(PASS, written(crop + "(x, @r, @s)", *ENDS), "a crop reads it")
    none = SCALES + "@y = Resize (x, , @s)"
    assert_refused(PASS, written(none, *ENDS), "there must be a region")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
