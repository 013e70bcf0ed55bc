"""What is left and goes once the sizes of the inputs are fixed."""

from __future__ import annotations

import pytest

from graphfix.analysis.inference import infer_model
from graphfix.analysis.settled_by_sizes import settled_by_sizes
from graphfix.ir.model import Model
from graphfix.report import Finding, NodeRef, Severity
from graphfix.testing import parse

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 3] x) => (float[a, b] y, int64[c, d] z)
<int64[1] one = {1}> {
  s = Shape (x)  n = Gather (s, one)  e = Expand (x, s)  f = Relu (e)  z = NonZero (f)
  t = Shape (z)  p = Expand (x, t)  y = Add (p, f)
}"""


def settled(output: str, feature: str) -> bool:
    model = Model(parse(TEXT))
    infer_model(model)
    node = NodeRef("", -1, "Any", "", (output,)) if output else NodeRef("", -1, "", "", ())
    finding = Finding("r", feature, Severity.REJECT, node, "")
    return bool(settled_by_sizes(model.graph, [finding]))


@pytest.mark.parametrize(
    ("output", "feature", "expected"),
    [
        ("s", "op:Shape", True),
        ("n", "dtype:int64", True),
        ("e", "const:Expand.shape", True),
        ("e", "op:Expand", False),  # of an operator that the engine does not have
        ("f", "attr:Relu.size", False),
        ("z", "op:NonZero", False),
        ("t", "op:Shape", False),  # how many there are, values decide
        ("p", "const:Expand.shape", False),
        ("", "io:dynamic-input", True),
        ("", "domain:acme", False),
    ],
)
def test_what_fixed_sizes_settle(output: str, feature: str, expected: bool) -> None:
    assert settled(output, feature) is expected
