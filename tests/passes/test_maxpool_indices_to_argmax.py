"""maxpool-indices-to-argmax: where in the input each maximum lies."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
from tests.passes.lowering_models import written

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


@pytest.mark.parametrize(
    "attributes",
    ["kernel_shape = [2], dilations = [2]", "kernel_shape = [2], strides = [2], ceil_mode = 1"],
)
def test_dilations_and_ceil_mode(attributes: str) -> None:
    x = np.random.default_rng(1).standard_normal((1, 2, 7)).astype(np.float32)
    assert_rewrite(PASS, typed(text_of("1, 2, 7", attributes)), feeds=[{"x": x}])


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
    ("text", "reason"),
    [
        (
            text_of("N, 1, H, 4", "kernel_shape = [2, 2]"),
            "the sizes must be known, but for the batch",
        ),
        (
            text_of("N, 1, 4, 4", "kernel_shape = [2, 2]", opset=10),
            "the batch must be known below opset 11, which brought Range",
        ),
        (
            text_of("1, 1, 4, 4", "kernel_shape = [2, 2]", "int8"),
            "x must be floating point; it is int8",
        ),
        (
            text_of("1, 1, 99, 99", "kernel_shape = [9, 9]"),
            "the kernel must have at most 64 positions; it has 81",
        ),
        (
            text_of("1, 1, 4", "kernel_shape = [2]")
            .replace("y, i =", "y =")
            .replace("(y, i)", "(y)"),
            "there must be an Indices output; there is none",
        ),
    ],
)
def test_refuses(text: str, reason: str) -> None:
    assert_refused(PASS, typed(text), reason)


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
