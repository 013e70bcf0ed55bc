from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_same, outputs_of, run_pass
from tests.passes.resize_models import in_branch, ramp, resize_model, upsample_model

PASS = "resize-linear-to-rank3"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}
ASYMMETRIC: dict[str, Any] = {"mode": "linear", "coordinate_transformation_mode": "asymmetric"}


def only(ops: list[str]) -> list[str]:
    return [op for op in ops if op != "Constant"]


@pytest.mark.parametrize("opset", [7, 8, 9])
def test_upsample(opset: int) -> None:
    model = upsample_model([2, 3, 4, 5], [1, 1, 2, 3], opset=opset)
    done = run_pass(PASS, model)
    assert only(done.ops) == ["Reshape", "Upsample", "Reshape"]
    feed = ramp(2, 3, 4, 5)
    # onnxruntime resizes rank 2 and 4 only, so the middle runs as rank 4 with a 1 in front
    assert run_pass(PASS, done.after).reasons == ["the rank must be above 3; it is 3 already"]
    inner = upsample_model([1, 6, 4, 5], [1, 1, 2, 3], opset=opset)
    middle = outputs_of(inner, {"x": feed["x"].reshape(1, 6, 4, 5)})["y"]
    expected = outputs_of(model, feed)
    assert_same(expected, {"y": middle.reshape(2, 3, 8, 15)}, **CLOSE)


def test_resize_of_opset_10() -> None:
    model = resize_model([2, 3, 4, 5], scales=[1, 1, 2, 3], opset=10, mode="linear")
    done = run_pass(PASS, model)
    assert done.ops == ["Reshape", "Resize", "Reshape"]
    assert done.after.graph.node[1].attribute[0].s == b"linear"


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_numbers(opset: int) -> None:
    model = resize_model([2, 3, 4, 5], scales=[1, 1, 2, 3], opset=opset, **ASYMMETRIC)
    feeds = [ramp(2, 3, 4, 5)]
    after = ["Reshape", "Resize", "Reshape"]
    assert_rewrite(PASS, model, feeds=feeds, after=after, **CLOSE)


def test_dynamic_batch() -> None:
    model = resize_model(["n", 3, 4, 5], scales=[1, 1, 2, 3], **ASYMMETRIC)
    feeds = [ramp(1, 3, 4, 5), ramp(2, 3, 4, 5)]
    assert_rewrite(PASS, model, feeds=feeds, after=["Reshape", "Resize", "Reshape"], **CLOSE)


def test_inside_a_branch() -> None:
    model = in_branch(resize_model([1, 2, 3, 3], scales=[1, 1, 2, 2], opset=16, **ASYMMETRIC))
    feeds = [{**ramp(1, 2, 3, 3), "c": np.array(c)} for c in (True, False)]
    assert_rewrite(PASS, model, feeds=feeds, after=["If"], **CLOSE)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"x": [2, 3, 4], "scales": [1, 2, 2]}, "the rank must be above 3; it is 3 already"),
        ({"coordinate_transformation_mode": "half_pixel"}, "asymmetric"),
        ({"mode": "nearest"}, "it must be linear with asymmetric coordinates and no antialias"),
        ({"scales": None, "sizes": [1, 2, 8, 8]}, "the node must give scales; it gives sizes"),
        ({"scales": [1, 2, 2, 2]}, "the last two axes alone must be resized; another one is"),
        ({"x": [1, 2, "h", 4]}, "known only at run time"),
        ({"scales": [1, 1, 0.2, 2]}, "the output must not be empty; it is"),
        ({"x": ["n", "c", 4, 4]}, "at most one leading axis must be of unknown size; more are"),
    ],
)
def test_refusals(changes: dict[str, Any], reason: str) -> None:
    fields: dict[str, Any] = {"x": [1, 2, 4, 4], "scales": [1, 1, 2, 2], **ASYMMETRIC}
    assert_refused(PASS, resize_model(**{**fields, **changes}), reason)


@given(
    shape=st.tuples(*[st.integers(1, 4)] * 4),
    scales=st.tuples(*[st.sampled_from([0.5, 1.5, 2.0, 3.0])] * 2),
)
def test_any_size(shape: tuple[int, ...], scales: tuple[float, float]) -> None:
    if any(int(n * s) == 0 for n, s in zip(shape[2:], scales, strict=True)):
        return
    model = resize_model(shape, scales=[1, 1, *scales], **ASYMMETRIC)
    assert_rewrite(PASS, model, feeds=[ramp(*shape)], **CLOSE)
