import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.resize_models import in_branch, model_of, ramp

PASS = "resize-scales-to-constant"


def constants_of(model: ModelProto) -> dict[str, list[float]]:
    return {t.name: numpy_helper.to_array(t).reshape(-1).tolist() for t in model.graph.initializer}


def floor_model(opset: int, *, height: int | str, factor: float = 2.0) -> ModelProto:
    """Scales as PyTorch writes them at opset 9 and 10: floor(h * factor) / h."""
    make = helper.make_node
    nodes = [
        make("Shape", ["x"], ["shape"]),
        make("Slice", ["shape", "two", "four"], ["hw"])
        if opset >= 10
        else make("Slice", ["shape"], ["hw"], starts=[2], ends=[4]),
        make("Cast", ["hw"], ["hw_f"], to=TensorProto.FLOAT),
        make("Mul", ["hw_f", "factor"], ["product"]),
        make("Floor", ["product"], ["floor"]),
        make("Div", ["floor", "hw_f"], ["ratio"]),
        make("Concat", ["ones", "ratio"], ["scales"], axis=0),
    ]
    if opset < 10:
        nodes.append(make("Upsample", ["x", "scales"], ["y"], mode="linear"))
    elif opset < 11:
        nodes.append(make("Resize", ["x", "scales"], ["y"], mode="linear"))
    else:
        nodes.append(make("Resize", ["x", "ones", "scales"], ["y"], mode="linear"))
    constants = {"factor": np.array(factor, dtype=np.float32), "ones": np.ones(2, dtype=np.float32)}
    if opset >= 10:
        constants |= {"two": np.array([2]), "four": np.array([4])}
    return model_of(
        nodes, x=[1, 2, height, 5], y=[1, 2, None, None], opset=opset, constants=constants
    )


@pytest.mark.parametrize("opset", [9, 10, 11, 13])
@pytest.mark.parametrize("height", [3, "h"])
def test_factors_of_shapes_cancel(opset: int, height: int | str) -> None:
    model = floor_model(opset, height=height)
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 3, 5)])
    assert [1.0, 1.0, 2.0, 2.0] in constants_of(done.after).values()
    assert len(done.ops) == 1


def test_float_arithmetic_rounds_as_the_nodes_do() -> None:
    done = assert_rewrite(PASS, floor_model(13, height=7, factor=1.3), feeds=[ramp(1, 2, 7, 5)])
    wanted = [1.0, 1.0, float(np.float32(9) / np.float32(7)), float(np.float32(6) / np.float32(5))]
    assert wanted in constants_of(done.after).values()


def sizes_model(x: list[int | str]) -> ModelProto:
    make = helper.make_node
    return model_of(
        [
            make("Shape", ["x"], ["shape"]),
            make("Gather", ["shape", "places"], ["lead"]),
            make("Concat", ["lead", "image"], ["sizes"], axis=0),
            make("Resize", ["x", "", "", "sizes"], ["y"], mode="linear"),
        ],
        x=x,
        y=[None] * 4,
        opset=13,
        constants={"places": np.array([0, -3]), "image": np.array([6, 8])},
    )


def test_sizes_from_a_known_shape() -> None:
    done = assert_rewrite(
        PASS, sizes_model([2, 3, 4, 4]), feeds=[ramp(2, 3, 4, 4)], after=["Resize"]
    )
    assert [2, 3, 6, 8] in constants_of(done.after).values()


def test_inside_a_branch() -> None:
    model = in_branch(floor_model(16, height="h"))
    feeds = [{**ramp(1, 2, 3, 5), "c": np.array(c)} for c in (True, False)]
    done = assert_rewrite(PASS, model, feeds=feeds, after=["If"])
    for attribute in done.after.graph.node[0].attribute:
        assert [n.op_type for n in attribute.g.node] == ["Resize"]


@given(height=st.integers(1, 9), factor=st.sampled_from([1.1, 1.5, 2.0, 2.6, 3.0, 3.3]))
def test_any_factor(height: int, factor: float) -> None:
    model = floor_model(13, height=height, factor=factor)
    feed = ramp(1, 2, height, 5)
    done = run_pass(PASS, model)
    assert done.ops == ["Resize"]
    given_, wanted = outputs_of(done.after, feed)["y"], outputs_of(model, feed)["y"]
    np.testing.assert_array_equal(given_, wanted)
