from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto, helper, numpy_helper

from graphfix.testing import assert_same, assert_untouched, outputs_of, run_pass
from tests.passes.resize_models import assert_valid, ramp, upsample_model

PASS = "upsample-to-resize"
CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 2e-6}


def stale(
    x: list[int | str], scales: list[float], *, opset: int, mode: str, attribute: bool = False
) -> ModelProto:
    """Return a model whose opset has no Upsample any more; the checker complains of it."""
    given_: dict[str, Any] = {"scales": scales} if attribute else {}
    inputs = ["x"] if attribute else ["x", "scales"]
    graph = helper.make_graph(
        [helper.make_node("Upsample", inputs, ["y"], mode=mode, **given_)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(x))],
        [numpy_helper.from_array(np.array(scales, dtype=np.float32), "scales")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=7)


@pytest.mark.parametrize("opset", [10, 11, 12, 13, 18])
@pytest.mark.parametrize("mode", ["nearest", "linear"])
@pytest.mark.parametrize("attribute", [False, True])
def test_computes_what_upsample_does(mode: str, opset: int, attribute: bool) -> None:
    model = stale([1, 2, 3, 4], [1.0, 1.0, 2.0, 1.5], opset=opset, mode=mode, attribute=attribute)
    done = run_pass(PASS, model)
    assert done.ops == ["Resize"]
    assert_valid(done.after)
    feed = ramp(1, 2, 3, 4)
    expected = outputs_of(upsample_model([1, 2, 3, 4], [1, 1, 2, 1.5], mode=mode), feed)
    assert_same(expected, outputs_of(done.after, feed), **CLOSE)
    assert_untouched(PASS, done.after)


@pytest.mark.parametrize("mode", ["bilinear", "trilinear"])
def test_names_of_converters_are_linear(mode: str) -> None:
    done = run_pass(PASS, stale([1, 2, 3, 4], [1.0, 1.0, 2.0, 2.0], opset=11, mode=mode))
    attributes = {a.name: a.s for a in done.after.graph.node[0].attribute}
    assert attributes["mode"] == b"linear"


def test_dynamic_shape() -> None:
    done = run_pass(PASS, stale(["n", 1, "h", 2], [1.0, 1.0, 2.0, 2.0], opset=13, mode="nearest"))
    feed = ramp(1, 1, 3, 2)
    expected = feed["x"].repeat(2, axis=2).repeat(2, axis=3)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)


def test_inside_a_function_of_another_opset() -> None:
    body = helper.make_function(
        "local",
        "up",
        ["x"],
        ["y"],
        [
            helper.make_node(
                "Constant", [], ["s"], value=numpy_helper.from_array(np.ones(2, np.float32) * 2)
            ),
            helper.make_node("Upsample", ["x", "s"], ["y"], mode="nearest"),
        ],
        [helper.make_opsetid("", 13)],
    )
    graph = helper.make_graph(
        [helper.make_node("up", ["x"], ["y"], domain="local")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4, 6])],
    )
    imports = [helper.make_opsetid("", 13), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, functions=[body], opset_imports=imports, ir_version=8)
    done = run_pass(PASS, model)
    assert "Upsample" not in [n.op_type for n in done.after.functions[0].node]
    feed = ramp(2, 3)
    expected = feed["x"].repeat(2, axis=0).repeat(2, axis=1)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)


@given(
    size=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    scales=st.tuples(*[st.sampled_from([1.0, 1.5, 2.0, 2.5, 3.0])] * 2),
    mode=st.sampled_from(["nearest", "linear"]),
)
def test_any_size(size: tuple[int, int], scales: tuple[float, float], mode: str) -> None:
    done = run_pass(PASS, stale([1, 1, *size], [1.0, 1.0, *scales], opset=11, mode=mode))
    assert_valid(done.after)
    feed = ramp(1, 1, *size)
    expected = outputs_of(upsample_model([1, 1, *size], [1, 1, *scales], mode=mode), feed)
    assert_same(expected, outputs_of(done.after, feed), **CLOSE)
