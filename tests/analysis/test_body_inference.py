"""Shapes in subgraphs that constants around them give, which ONNX's own inference does not see."""

from __future__ import annotations

import onnx
import pytest
from onnx import parser

from graphfix.analysis.inference import infer_model
from graphfix.ir.graph import Shape
from graphfix.ir.model import Model

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
SCAN = """g (float[3, 2, 4] x) => (float[] y) <int64[1] k = {-1}> {
    y = Scan <num_scan_inputs = 1, body = b (r) => (c) { c = Unsqueeze (r, k) }> (x)
}"""
BRANCH = """g (bool p, float[2, N] x) => (float[] y) <int64[1] k = {1}> {
    y = If (p) <then_branch = a () => (t) { t = Unsqueeze (x, k) },
                else_branch = b () => (e) { n = Neg (x) e = Unsqueeze (n, k) }>
}"""
NESTED = """g (bool p, float[3, 2] x) => (float[] y) <int64[1] k = {0}> {
    y = Scan <num_scan_inputs = 1, body = b (r) => (c) {
        c = If (p) <then_branch = t () => (a) { a = Unsqueeze (r, k) },
                    else_branch = e () => (d) { d = Unsqueeze (r, k) }>
    }> (x)
}"""
# The state has another size each time: nothing is said of it.
GROWING = """g (int64 n, bool p, float[2] x) => (float[] y) <int64[1] k = {4}> {
    y = Loop (n, p, x) <body = b (int64 i, bool go, float[] s) => (bool on, float[] u) {
        on = Identity (go) m = Concat <axis = 0> (s, s)
        z = Expand (m, k) u = Concat <axis = 0> (m, z)
    }>
}"""


def shapes(text: str) -> dict[str, Shape | None]:
    proto = parser.parse_model(HEAD + text)
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    model = Model(proto)
    infer_model(model)
    return {tensor.name: tensor.shape for node in model.nodes() for tensor in node.outputs}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SCAN, {"c": (2, 4, 1)}),
        (BRANCH, {"t": (2, 1, "N"), "e": (2, 1, "N")}),
        (NESTED, {"a": (1, 2), "d": (1, 2)}),
    ],
)
def test_axes_from_outside_give_shapes(text: str, expected: dict[str, Shape | None]) -> None:
    found = shapes(text)
    assert {name: found[name] for name in expected} == expected


def test_onnx_itself_says_nothing_of_them() -> None:
    inferred = onnx.shape_inference.infer_shapes(parser.parse_model(HEAD + SCAN), data_prop=True)
    body = inferred.graph.node[0].attribute[1].g
    assert not body.output[0].type.tensor_type.HasField("shape")


def test_a_state_that_grows_has_no_size() -> None:
    found = shapes(GROWING)
    assert found["u"] in (None, (None,))
    assert found["y"] in (None, (None,))


def test_axes_computed_at_run_time_give_none() -> None:
    text = SCAN.replace("x) =>", "x, int64[1] k) =>").replace("<int64[1] k = {-1}>", "")
    assert shapes(text)["c"] is None
