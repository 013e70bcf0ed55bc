"""optional-has-element-to-constant and optional-get-element-to-value."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

import graphfix
from graphfix.testing import assert_refused, outputs_of

HAS, GET = "optional-has-element-to-constant", "optional-get-element-to-value"
HEAD = '<ir_version: 9, opset_import: ["" : 18]> g '
X = np.array([1.0, -2.0], np.float32)


@pytest.mark.parametrize(
    ("graph", "there"),
    [
        ("(float[2] x) => (bool y, float[2] z) { y = OptionalHasElement (x) z = Neg (x) }", True),
        (
            "(float[2] x) => (bool y, float[2] z) "
            "{ o = Optional (x) y = OptionalHasElement (o) e = OptionalGetElement (o) "
            "z = Neg (e) }",
            True,
        ),
        ("(float[2] x) => (bool y, float[2] z) { y = OptionalHasElement () z = Neg (x) }", False),
    ],
)
def test_what_is_known_to_be_there_is_settled(graph: str, there: bool) -> None:
    result = graphfix.run(parser.parse_model(HEAD + graph), "trt11.1", verify="off")
    assert not any(finding.blocks for finding in result.report.findings_after)
    proto = result.model.to_proto()
    assert {node.op_type for node in proto.graph.node} <= {"Neg", "Identity"}
    found = outputs_of(proto, {"x": X})
    assert bool(found["y"]) is there
    assert np.array_equal(found["z"], -X)


@pytest.mark.parametrize(("name", "op"), [(HAS, "OptionalHasElement"), (GET, "OptionalGetElement")])
def test_an_optional_from_outside_is_not_known(name: str, op: str) -> None:
    kind = "bool" if name == HAS else "float[2]"
    graph = f"(optional(float[2]) x) => ({kind} y) {{ y = {op} (x) }}"
    assert_refused(name, HEAD + graph, "whether the optional holds something must be known")
