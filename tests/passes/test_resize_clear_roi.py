import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, helper, numpy_helper

from graphfix.testing import assert_rewrite
from tests.passes.resize_models import Array, in_branch, model_of, ramp, resize_model

PASS = "resize-clear-roi"


def used(model: ModelProto) -> dict[str, Array]:
    return {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("roi", [[], [0.1] * 8])
def test_is_left_out(opset: int, roi: list[float]) -> None:
    model = resize_model([1, 1, 2, 3], scales=[1, 1, 2, 2], roi=roi, opset=opset, mode="linear")
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 1, 2, 3)], after=["Resize"])
    assert list(done.after.graph.node[0].input)[:2] == ["x", ""]
    assert list(used(done.after)) == ["scales"]


@pytest.mark.parametrize("opset", [11, 12])
def test_covers_the_input_where_the_schema_wants_one(opset: int) -> None:
    model = resize_model([1, 1, 2, 3], scales=[1, 1, 2, 2], opset=opset, mode="linear")
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 1, 2, 3)], after=["Resize"])
    roi = used(done.after)[done.after.graph.node[0].input[1]]
    assert roi.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_empty_scales_next_to_sizes_go() -> None:
    model = model_of(
        [helper.make_node("Resize", ["x", "roi", "empty", "sizes"], ["y"], mode="linear")],
        x=[1, 1, 2, 2],
        y=[1, 1, 4, 4],
        opset=13,
        constants={
            "roi": np.zeros(0, dtype=np.float32),
            "empty": np.zeros(0, dtype=np.float32),
            "sizes": np.array([1, 1, 4, 4]),
        },
    )
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 1, 2, 2)], after=["Resize"])
    assert list(done.after.graph.node[0].input) == ["x", "", "", "sizes"]


def test_inside_a_branch() -> None:
    model = in_branch(
        resize_model([1, 1, 2, 2], scales=[1, 1, 2, 2], roi=[], opset=16, mode="linear")
    )
    feeds = [{**ramp(1, 1, 2, 2), "c": np.array(c)} for c in (True, False)]
    done = assert_rewrite(PASS, model, feeds=feeds, after=["If"])
    for attribute in done.after.graph.node[0].attribute:
        assert attribute.g.node[0].input[1] == ""


@given(
    roi=st.lists(st.floats(-2, 2, width=32), min_size=4, max_size=4),
    mode=st.sampled_from(["nearest", "linear"]),
)
def test_no_region_matters(roi: list[float], mode: str) -> None:
    model = resize_model([3, 4], sizes=[5, 3], roi=roi, mode=mode)
    assert_rewrite(PASS, model, feeds=[ramp(3, 4)])
