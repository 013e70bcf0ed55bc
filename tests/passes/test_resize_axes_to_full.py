from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import ModelProto, helper, numpy_helper

from graphfix.report import Status
from graphfix.testing import (
    assert_rewrite,
    assert_same,
    outputs_of,
    run_pass,
)
from tests.passes.resize_models import ramp, resize_model

PASS = "resize-axes-to-full"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}


def given_of(model: ModelProto, index: int) -> list[float]:
    node = model.graph.node[-1]
    known = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    values: list[float] = known[node.input[index]].tolist()
    return values


@pytest.mark.parametrize("opset", [18, 19])
def test_scales(opset: int) -> None:
    model = resize_model(["n", 2, 4, "w"], scales=[3, 1.5], axes=[3, 2], opset=opset, mode="linear")
    feeds = [ramp(1, 2, 4, 5), ramp(2, 2, 4, 3)]
    done = assert_rewrite(PASS, model, feeds=feeds, after=["Resize"], **CLOSE)
    assert given_of(done.after, 2) == [1.0, 1.0, 1.5, 3.0]
    assert [a.name for a in done.after.graph.node[0].attribute] == ["mode"]


def test_sizes() -> None:
    model = resize_model([1, 2, 4, 5], sizes=[7, 6], axes=[-1, -2], opset=18, mode="linear")
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 4, 5)], after=["Resize"], **CLOSE)
    assert given_of(done.after, 3) == [1, 2, 6, 7]


def test_sizes_with_a_dynamic_batch() -> None:
    model = resize_model(["n", 2, 4, 5], sizes=[6, 7], axes=[2, 3], opset=18, mode="linear")
    feeds = [ramp(1, 2, 4, 5), ramp(3, 2, 4, 5)]
    done = assert_rewrite(PASS, model, feeds=feeds, **CLOSE)
    assert done.ops == ["Shape", "Slice", "Concat", "Resize"]


@pytest.mark.parametrize(
    ("policy", "expected"), [("not_larger", [8, 12]), ("not_smaller", [12, 18])]
)
def test_policy_with_whole_sizes(policy: str, expected: list[int]) -> None:
    model = resize_model(
        [1, 1, 4, 6],
        sizes=[12, 12],
        axes=[2, 3],
        opset=18,
        mode="linear",
        keep_aspect_ratio_policy=policy,
    )
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 1, 4, 6)], after=["Resize"], **CLOSE)
    assert given_of(done.after, 3) == [1, 1, *expected]


def test_policy_that_rounds_down_becomes_scales() -> None:
    # 7 / 4 = 1.75; 1.75 * 5 = 8.75 rounds up, 1.75 * 3 = 5.25 rounds down
    model = resize_model(
        [1, 1, 4, 3],
        sizes=[7, 9],
        axes=[2, 3],
        opset=18,
        mode="linear",
        keep_aspect_ratio_policy="not_larger",
    )
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 1, 4, 3)], after=["Resize"], **CLOSE)
    assert given_of(done.after, 2) == [1, 1, 1.75, 1.75]


def test_policy_next_to_scales_says_nothing() -> None:
    plain = resize_model([1, 1, 4, 5], scales=[1, 1, 2, 2], opset=18, mode="linear")
    model = resize_model([1, 1, 4, 5], scales=[1, 1, 2, 2], opset=18, mode="linear")
    policy = helper.make_attribute("keep_aspect_ratio_policy", "not_larger")
    model.graph.node[0].attribute.append(policy)
    done = run_pass(PASS, model)  # onnxruntime does not load the model as it is
    assert given_of(done.after, 2) == [1, 1, 2, 2]
    feed = ramp(1, 1, 4, 5)
    assert_same(outputs_of(plain, feed), outputs_of(done.after, feed), **CLOSE)


def test_crop_gets_a_full_region() -> None:
    model = resize_model(
        [1, 2, 6, 8],
        sizes=[3, 5],
        roi=[0.125, 0.25, 0.75, 0.875],
        axes=[3, 2],
        opset=18,
        mode="linear",
        coordinate_transformation_mode="tf_crop_and_resize",
    )
    done = run_pass(PASS, model)
    assert given_of(done.after, 1) == [0, 0, 0.25, 0.125, 1, 1, 0.875, 0.75]
    assert given_of(done.after, 3) == [1, 2, 5, 3]


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.tuples(st.integers(1, 8), st.integers(1, 8)),
    sizes=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    mode=st.sampled_from(["nearest", "linear"]),
    policy=st.sampled_from(["stretch", "not_larger", "not_smaller"]),
)
def test_equal_or_refused(
    lengths: tuple[int, int], sizes: tuple[int, int], mode: str, policy: str
) -> None:
    model = resize_model(
        [1, 1, *lengths],
        sizes=sizes,
        axes=[2, 3],
        opset=18,
        mode=mode,
        keep_aspect_ratio_policy=policy,
    )
    done = run_pass(PASS, model)
    if done.with_status(Status.APPLIED):
        feed = ramp(1, 1, *lengths)
        tolerance = {"rtol": 0.0, "atol": 0.0} if mode == "nearest" else CLOSE
        assert_same(outputs_of(model, feed), outputs_of(done.after, feed), **tolerance)
    else:
        assert policy != "stretch"
        assert done.reasons
        assert done.after == model
