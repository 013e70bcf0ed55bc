"""if-condition-to-scalar: wherever an If is, in branches of others too."""

from __future__ import annotations

import numpy as np
import pytest

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, parse, run_pass
from tests.passes.places import in_function

PASS = "if-condition-to-scalar"
HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
CHOICE = (
    "y = If ({c}) <then_branch = t{c} () => (r{c}) {{ r{c} = Neg (x) }},"
    " else_branch = e{c} () => (q{c}) {{ q{c} = Concat <axis = 0> (x, x) }}>"
)
INPUTS = "(bool[1] c, bool[1,1] d, float[N] x) => (float[M] y) "
NESTED = (
    f"{HEAD} g {INPUTS} {{ y = If (d) <then_branch = u () => (y) {{ {CHOICE.format(c='c')} }},"
    " else_branch = f () => (w) { w = Exp (x) }> }"
)
X = np.array([1, 2], np.float32)


@pytest.mark.parametrize("opset", [11, 13, 21])
@pytest.mark.parametrize("chosen", [True, False])
def test_in_a_function(chosen: bool, opset: int) -> None:
    head = HEAD.replace("17", str(opset))
    model = in_function(parse(f"{head} g {INPUTS} {{ {CHOICE.format(c='c')} }}"))
    feed = {"c": np.array([chosen]), "d": np.array([[True]]), "x": X}
    done = assert_rewrite(PASS, model, feeds=[feed])
    expected = -X if chosen else np.concatenate([X, X])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], expected)


def test_in_a_branch_of_another_that_is_rewritten_too() -> None:
    model = run_pass(PASS, run_pass(PASS, parse(NESTED)).after).after
    (outer,) = (node for node in model.graph.node if node.op_type == "If")
    then = next(each.g for each in outer.attribute if each.name == "then_branch")
    (inner,) = (node for node in then.node if node.op_type == "If")
    given = {node.output[0]: node for node in (*model.graph.node, *then.node)}
    assert [given[node.input[0]].op_type for node in (outer, inner)] == ["Reshape", "Reshape"]
    for d, c, expected in ((1, 1, -X), (1, 0, np.concatenate([X, X])), (0, 1, np.exp(X))):
        feed = {"c": np.array([c], np.bool_), "d": np.array([[d]], np.bool_), "x": X}
        np.testing.assert_allclose(outputs_of(model, feed)["y"], expected, rtol=1e-6)


def test_all_are_repaired_for_onnx2tf() -> None:
    result = graphfix.run(parse(NESTED), target="tflite1.29", trust_rules=True)
    found = [(finding.rule, finding.certain) for finding in result.report.findings_before]
    # Two axes are more than the results have; those of the other may differ in length.
    assert found == [("condition-with-an-axis", True), ("condition-with-an-axis", False)]
    assert result.exit_code == 0
    assert result.report.findings_after == ()
