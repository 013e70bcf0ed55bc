"""What the pads come to that convolutions and pools leave to be computed."""

from __future__ import annotations

import pytest
from onnx import parser

from graphfix import load
from graphfix.authoring import NodeView, automatic_pads, split_pads

UPPER, LOWER = 'auto_pad = "SAME_UPPER"', 'auto_pad = "SAME_LOWER"'


def node_of(op: str, words: str, sizes: str = "5,6") -> NodeView:
    inputs = f"float[1,4,{sizes}] x, float[4,4,3,2] w"
    operands = "x" if op.endswith("Pool") else "x, w"
    graph = f"({inputs}) => (float[A,B,C,D] y) {{ y = {op} <{words}> ({operands}) }}"
    text = f'<ir_version: 8, opset_import: ["" : 17]> g {graph}'
    model = load(parser.parse_model(text))
    return NodeView(model.graph.nodes[0])


@pytest.mark.parametrize(
    ("op", "words", "sums", "split"),
    [
        ("Conv", UPPER, [2, 1], [1, 0, 1, 1]),
        ("Conv", LOWER, [2, 1], [1, 1, 1, 0]),
        ("Conv", f"{LOWER}, strides = [2, 3]", [2, -1], None),
        ("MaxPool", f"kernel_shape = [2, 2], {LOWER}, strides = [2, 2]", [1, 0], [1, 0, 0, 0]),
        ("ConvTranspose", UPPER, [2, 1], [1, 0, 1, 1]),
        ("ConvTranspose", "output_shape = [6, 7]", [1, 0], [1, 0, 0, 0]),
        ("ConvTranspose", f"output_shape = [1, 4, 6, 7], {UPPER}", [1, 0], [0, 0, 1, 0]),
    ],
)
def test_sums(op: str, words: str, sums: list[int], split: list[int] | None) -> None:
    node = node_of(op, words)
    assert automatic_pads(node) == sums
    if split is not None:
        assert split_pads(node, sums) == split


def test_none_is_left_to_be_computed() -> None:
    assert automatic_pads(node_of("Conv", "pads = [1, 1, 1, 1]")) is None
    assert automatic_pads(node_of("Conv", 'auto_pad = "VALID"')) is None


def test_sizes_that_are_not_known() -> None:
    assert automatic_pads(node_of("Conv", f"{UPPER}, strides = [2, 1]", "H,W")) == [None, 1]
    assert automatic_pads(node_of("ConvTranspose", f"{UPPER}, strides = [2, 1]", "H,W")) == [1, 1]
    assert automatic_pads(node_of("ConvTranspose", "output_shape = [6, 7]", "H,6")) == [None, 0]
