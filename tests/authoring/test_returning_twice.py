"""A rewrite may return one value for two outputs."""

from __future__ import annotations

import numpy as np
import onnx

from graphfix import EXACT, rewrite
from graphfix.authoring.building import Builder
from graphfix.ir.views import NodeView, Value
from graphfix.testing import assert_rewrite


@rewrite("Split", emits=("Slice",), accuracy=EXACT)
def halves_to_slice(node: NodeView, build: Builder) -> tuple[Value, Value]:
    """Give the first half twice, which is right where both halves are the same."""
    half = build.Slice(node.need(0), starts=[0], ends=[1], axes=[0])
    return half, half


FEED = {"x": np.array([[1, -2, 3], [1, -2, 3]], dtype=np.float32)}


def test_used_outputs() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 13]>'
        "g (float[2,3] x) => (float[1,3] p, float[1,3] q)"
        "{ a, b = Split <axis = 0> (x)  p = Relu (a)  q = Neg (b) }"
    )
    assert_rewrite(halves_to_slice, model, feeds=[FEED], after=["Slice", "Relu", "Neg"])


def test_outputs_of_the_graph() -> None:
    model = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["": 13]>'
        "g (float[2,3] x) => (float[1,3] a, float[1,3] b) { a, b = Split <axis = 0> (x) }"
    )
    assert_rewrite(halves_to_slice, model, feeds=[FEED], after=["Slice", "Identity"])
