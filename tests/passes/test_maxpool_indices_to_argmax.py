"""maxpool-indices-to-argmax: where in the input each maximum lies."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite

PASS = "maxpool-indices-to-argmax"


def text_of(shape: str, attributes: str, kind: str = "float", opset: int = 13) -> str:
    return (
        f'<ir_version: 8, opset_import: ["": {opset}]> g ({kind}[{shape}] x) => (y, i) '
        f"{{ y, i = MaxPool <{attributes}> (x) }}"
    )


def typed(text: str) -> onnx.ModelProto:
    """Return the model with the types of its outputs inferred."""
    return onnx.shape_inference.infer_shapes(onnx.parser.parse_model(text))


@pytest.mark.parametrize("opset", [11, 13, 17, 21])
@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ("2, 3, 7", "kernel_shape = [3], strides = [2], pads = [1, 1]"),
        ("2, 3, 5, 4", "kernel_shape = [3, 2], strides = [2, 2], pads = [1, 0, 1, 1]"),
        ("1, 2, 4, 4", "kernel_shape = [2, 2], strides = [2, 2], storage_order = 1"),
        ("1, 1, 3, 4, 3", "kernel_shape = [2, 2, 2]"),
    ],
)
def test_like_onnxruntime(shape: str, attributes: str, opset: int) -> None:
    size = [int(n) for n in shape.split(",")]
    x = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    assert_rewrite(PASS, typed(text_of(shape, attributes, opset=opset)), feeds=[{"x": x}])


@pytest.mark.parametrize("opset", [11, 13, 21])
@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ("3, 7", "kernel_shape = [3], strides = [2], pads = [1, 1]"),
        ("2, 4, 6", "kernel_shape = [2, 2], strides = [2, 2], storage_order = 1"),
    ],
)
def test_a_batch_of_any_size(shape: str, attributes: str, opset: int) -> None:
    model = typed(text_of(f"N, {shape}", attributes, opset=opset))
    rng = np.random.default_rng(4)
    sizes = [int(n) for n in shape.split(",")]
    feeds = [{"x": rng.standard_normal((n, *sizes)).astype(np.float32)} for n in (1, 2, 5)]
    assert_rewrite(PASS, model, feeds=feeds)


@pytest.mark.parametrize("opset", [10, 13])
@pytest.mark.parametrize("mode", ["SAME_UPPER", "SAME_LOWER", "VALID"])
@pytest.mark.parametrize("kernel", ["[3, 1]", "[2, 3]"])
def test_automatic_pads(kernel: str, mode: str, opset: int) -> None:
    attributes = f'kernel_shape = {kernel}, auto_pad = "{mode}", storage_order = 1'
    x = np.random.default_rng(2).standard_normal((2, 1, 5, 7)).astype(np.float32)
    assert_rewrite(PASS, typed(text_of("2, 1, 5, 7", attributes, opset=opset)), feeds=[{"x": x}])


@given(st.lists(st.integers(0, 2), min_size=12, max_size=12), st.integers(1, 3), st.integers(1, 2))
def test_the_first_of_equal_ones(numbers: list[int], kernel: int, stride: int) -> None:
    text = text_of("1, 1, 3, 4", f"kernel_shape = [{kernel}, 2], strides = [{stride}, 1]")
    x = np.array(numbers, np.float32).reshape(1, 1, 3, 4)
    assert_rewrite(PASS, typed(text), feeds=[{"x": x}])


@pytest.mark.parametrize(
    ("shape", "attributes", "op"),
    [
        ("2, 3, 4, 6", "kernel_shape = [2, 2], strides = [2, 2]", "SpaceToDepth"),
        ("N, 2, 6, 3", "kernel_shape = [3, 3], strides = [3, 3]", "SpaceToDepth"),
        ("2, 3, 4, 6", "kernel_shape = [2, 3], strides = [2, 3]", "Concat"),
        ("2, 3, 5, 6", "kernel_shape = [2, 2], strides = [2, 2]", "Concat"),
        ("2, 3, 4, 4", "kernel_shape = [2, 2]", "Concat"),
        ("1, 2, 3, 3", "kernel_shape = [1, 1], strides = [1, 1]", "Concat"),
    ],
)
def test_square_windows_side_by_side_are_cut_at_once(shape: str, attributes: str, op: str) -> None:
    model = typed(text_of(shape, attributes))
    sizes = [2 if n == "N" else int(n) for n in shape.split(", ")]
    few = np.random.default_rng(1).integers(0, 2, sizes).astype(np.float32)  # most are ties
    done = assert_rewrite(PASS, model, feeds=[{"x": few}, {"x": -few}])
    found = {node.op_type for node in done.after.graph.node}
    assert found & {"SpaceToDepth", "Concat"} == {op}
