"""conv-of-computed-weights-to-matmul: weights that are no initializers."""

from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "conv-of-computed-weights-to-matmul"
RNG = np.random.default_rng(5)


def drawn(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return RNG.standard_normal(shape).astype(dtype)


def test_a_convolution_becomes_points_and_a_product() -> None:
    text = written(
        "@y = Conv <pads = [1, 0, 1, 2], strides = [2, 1], dilations = [1, 2]> (x, w, b)",
        "float[2,3,7,8] x, float[5,3,3,2] w, float[5] b",
        "float[2,5,4,8]",
    )
    feed = {"x": drawn(2, 3, 7, 8), "w": drawn(5, 3, 3, 2), "b": drawn(5)}
    after = ["Conv", "Reshape", "Reshape", "MatMul", "Reshape", "Reshape", "Add"]
    assert_rewrite(PASS, text, feeds=[feed], after=after, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_groups(op: str, group: int) -> None:
    shape = (8, 4 // group, 3) if op == "Conv" else (4, 8 // group, 3)
    sizes = ",".join(map(str, shape))
    text = written(
        f"@y = {op} <group = {group}, strides = [2], pads = [1, 1]> (x, w)",
        f"float[N,4,L] x, float[{sizes}] w",
        "float[N,8,O]",
    )
    feeds = [{"x": drawn(n, 4, length), "w": drawn(*shape)} for n, length in ((1, 5), (3, 8))]
    assert_rewrite(PASS, text, feeds=feeds, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["Conv", "ConvTranspose"])
def test_sizes_that_are_not_known(op: str) -> None:
    text = written(f"@y = {op} (x, w)", "float[N,3,H,W] x, float[3,3,2,2] w", "float[N,3,P,Q]")
    feeds = [{"x": drawn(n, 3, h, 6), "w": drawn(3, 3, 2, 2)} for n, h in ((1, 4), (2, 5))]
    assert_rewrite(PASS, text, feeds=feeds, rtol=1e-4, atol=1e-5)


def test_a_transposed_convolution_keeps_its_attributes() -> None:
    text = written(
        "@y = ConvTranspose <strides = [2, 3], dilations = [2, 1], pads = [1, 0, 2, 1],"
        " output_padding = [1, 2]> (x, w, b)",
        "float[2,4,3,5] x, float[4,6,3,2] w, float[6] b",
        "float[2,6,7,15]",
    )
    feed = {"x": drawn(2, 4, 3, 5), "w": drawn(4, 6, 3, 2), "b": drawn(6)}
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-4, atol=1e-5)


def test_three_dimensions() -> None:
    text = written("@y = Conv (x, w)", "float[1,2,4,4,4] x, float[3,2,2,3,2] w", "float[1,3,3,2,3]")
    feed = {"x": drawn(1, 2, 4, 4, 4), "w": drawn(3, 2, 2, 3, 2)}
    assert_rewrite(PASS, text, feeds=[feed], rtol=1e-4, atol=1e-5)


def test_it_is_left_alone_where_the_engine_takes_it() -> None:
    text = written("@y = Conv (x, w)", "float[1,2,5,5] x, float[3,2,2,2] w", "float[1,3,4,4]")
    result = graphfix.run(onnx.parser.parse_model(text), target="trt8.6", verify="off")
    assert [node.op_type for node in result.model.to_proto().graph.node] == ["Conv"]
