import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, helper

from graphfix.testing import assert_rewrite, run_pass
from tests.passes.resize_models import in_branch, model_of, ramp

PASS = "maxpool-drop-indices"


def pool_model(
    x: list[int | str], outputs: list[str], *, opset: int = 13, kernel: int = 2, storage: int = 0
) -> ModelProto:
    node = helper.make_node(
        "MaxPool",
        ["x"],
        outputs,
        kernel_shape=[kernel, kernel],
        strides=[1, 2],
        pads=[0, 1, 0, 1],
        storage_order=storage,
    )
    return model_of([node], x=x, y=[None] * 4, opset=opset)


@pytest.mark.parametrize("opset", [8, 10, 12, 13, 18])
def test_is_dropped(opset: int) -> None:
    model = pool_model([1, 2, 5, 6], ["y", "i"], opset=opset, storage=1)
    done = assert_rewrite(PASS, model, feeds=[ramp(1, 2, 5, 6)], after=["MaxPool"])
    (node,) = done.after.graph.node
    assert list(node.output) == ["y"]
    assert sorted(a.name for a in node.attribute) == ["kernel_shape", "pads", "strides"]


def test_dynamic_shape() -> None:
    model = pool_model(["n", 2, "h", "w"], ["y", "i"])
    assert_rewrite(PASS, model, feeds=[ramp(1, 2, 5, 6), ramp(2, 2, 3, 4)], after=["MaxPool"])


def test_inside_a_branch() -> None:
    import numpy as np

    model = in_branch(pool_model([1, 2, 5, 6], ["y", "i"], opset=16))
    feeds = [{**ramp(1, 2, 5, 6), "c": np.array(c)} for c in (True, False)]
    done = assert_rewrite(PASS, model, feeds=feeds, after=["If"])
    for attribute in done.after.graph.node[0].attribute:
        assert len(attribute.g.node[0].output) == 1


@given(size=st.tuples(st.integers(3, 8), st.integers(3, 8)), kernel=st.integers(2, 3))
def test_any_size(size: tuple[int, int], kernel: int) -> None:
    model = pool_model([1, 1, *size], ["y", "i"], kernel=kernel)
    assert_rewrite(PASS, model, feeds=[ramp(1, 1, *size)])
    assert run_pass(PASS, model).after.graph.node[0].output == ["y"]
