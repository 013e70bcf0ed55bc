"""Which nodes a pass that is named is shown."""

from __future__ import annotations

from graphfix import rewrite
from graphfix.authoring.building import Builder
from graphfix.ir.views import NodeView, Value
from graphfix.report import Status
from graphfix.testing import run_pass

TEXT = """
<ir_version: 8, opset_import: ["": 17, "acme": 1]>
g (float[3] x) => (float[3] y) {
    a = acme.One (x)
    b = Relu (a)
    y = acme.Two (b)
}
"""


@rewrite("acme::*", removes="op:acme::*", emits="Neg")
def whatever_is_acme(node: NodeView, build: Builder) -> Value:
    """Replace every operator of a domain."""
    return build.Neg(node.need(0))


def test_a_pass_for_any_operator_sees_all_of_its_domain() -> None:
    done = run_pass(whatever_is_acme, TEXT)
    assert done.ops == ["Neg", "Relu", "Neg"]
    assert len(done.with_status(Status.APPLIED)[0].sites) == 2
