"""Sizes that a report proposes for open ones."""

from __future__ import annotations

import pytest

from graphfix.analysis.example_sizes import example_sizes
from graphfix.ir.graph import Variable
from graphfix.ir.model import Model
from graphfix.testing import parse

TWICE = (
    "c = Conv <strides = [8, 8]> (x, w)  y = MaxPool <kernel_shape = [9, 9], strides = [5, 5]> (c)"
)
ONCE = "y = Conv <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (x, w)"
NHWC = "t = Transpose <perm = [0, 3, 1, 2]> (x)  y = Conv <strides = [32, 32]> (t, w)"


def sizes(inputs: str, body: str, channels: int = 3, **noted: str) -> tuple[tuple[int, ...], ...]:
    weights = ", ".join(["1"] * (channels * 4))
    proto = parse(
        f'<ir_version: 8, opset_import: ["" : 17]> g ({inputs}) => (float[a, b, c, d] y) '
        f"<float[1, {channels}, 2, 2] w = {{{weights}}}> {{ {body} }}"
    )
    for key, value in noted.items():
        proto.metadata_props.add(key=key, value=value)
    model = Model(proto)
    given = [tensor for tensor in model.graph.inputs if isinstance(tensor, Variable)]
    return example_sizes(model, given)


@pytest.mark.parametrize(
    ("inputs", "body", "channels", "expected"),
    [
        ("float[N, 3, H, W] x", ONCE, 3, (1, 3, 224, 224)),
        ("float[N, 3, H, W] x", TWICE, 3, (1, 3, 240, 240)),
        ("float[2, 3, 96, W] x", ONCE, 3, (2, 3, 96, 224)),
        ("float[N, H, W, 3] x", NHWC, 3, (1, 224, 224, 3)),
        ("float[N, 1, H, W] x", ONCE, 1, (1, 1, 224, 224)),
        ("float[N, 1, S, S] x", "y = Relu (x)", 1, (1, 1, 8, 8)),  # a mask
        ("float[N, 16, H, W] x", ONCE, 16, (1, 16, 8, 7)),  # between two parts of a network
    ],
)
def test_images(inputs: str, body: str, channels: int, expected: tuple[int, ...]) -> None:
    assert sizes(inputs, body, channels) == (expected,)


@pytest.mark.parametrize(
    ("noted", "expected"),
    [
        ("[160, 96]", (1, 3, 160, 96)),
        ("640", (1, 3, 640, 640)),
        ("[0, 0]", (1, 3, 224, 224)),
        ("large", (1, 3, 224, 224)),
        ("[1, 2, 3]", (1, 3, 224, 224)),
    ],
)
def test_what_the_exporter_noted(noted: str, expected: tuple[int, ...]) -> None:
    assert sizes("float[N, 3, H, W] x", ONCE, imgsz=noted) == (expected,)


def test_a_name_is_one_size_in_all_inputs() -> None:
    inputs = "float[N, 3, H, W] x, float[N, H] a, float[K, L] b"
    found = sizes(inputs, ONCE)
    assert found == ((1, 3, 224, 224), (1, 224), (1, 7))


def test_strides_of_a_wrong_type() -> None:
    body = "y = Conv <kernel_shape = [2, 2], strides = 8> (x, w)"
    assert sizes("float[N, 3, H, W] x", body) == ((1, 3, 224, 224),)


def test_a_sum_of_symbols_is_the_sum_of_their_sizes() -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17]> g (int64[B, S] ids, int64[B, M] mask, '
        "float[B, 2, P, 8] past) => (float[B, 2, P, 8] y) { y = Relu (past) }"
    )
    for info in proto.graph.input:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param == "M":
                dim.dim_param = "P + S"
    model = Model(proto)
    given = [tensor for tensor in model.graph.inputs if isinstance(tensor, Variable)]
    assert example_sizes(model, given) == ((1, 8), (1, 15), (1, 2, 7, 8))
