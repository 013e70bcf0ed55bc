"""repeated-nodes-once: two nodes that are the same, and write the same names."""

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.errors import InvalidModel
from graphfix.report import MENDED, Severity
from graphfix.testing import outputs_of, parse, run_pass

PASS = "repeated-nodes-once"
HEAD = '<ir_version: 8, opset_import: ["" : 17, "f" : 1]> '
Array = np.ndarray[Any, Any]
X = np.array([[-1, 2], [3, -4]], np.float32)
MENDED_FILES: dict[str, tuple[str, list[str], Array]] = {
    "next to each other": (
        "g (float[2,2] x) => (float[2,2] y) { a = Relu (x) a = Relu (x) y = Neg (a) }",
        ["Relu", "Neg"],
        -np.maximum(X, 0),
    ),
    "after what reads it": (
        "g (float[N,M] x) => (float[N,M] y) { a = Relu (x) y = Neg (a) a = Relu (x) }",
        ["Relu", "Neg"],
        -np.maximum(X, 0),
    ),
    "three times, under one name": (
        "g (float[2,2] x) => (float[2,2] y) { [n] y = Abs (x) [n] y = Abs (x) [n] y = Abs (x) }",
        ["Abs"],
        np.abs(X),
    ),
    "one after the other": (
        "g (float[2,2] x) => (float[2,2] y) "
        "{ a = Abs (x) b = Floor (a) a = Abs (x) b = Floor (a) y = Neg (b) }",
        ["Abs", "Floor", "Neg"],
        -np.floor(np.abs(X)),
    ),
    "attributes in another order": (
        "g (float[2,2] x) => (float[1] y) { y = ReduceMax <axes = [0, 1], keepdims = 0> (x) "
        "y = ReduceMax <keepdims = 0, axes = [0, 1]> (x) }".replace("float[1] y", "float y"),
        ["ReduceMax"],
        np.array(3, np.float32),
    ),
    "two outputs": (
        "g (float[2,2] x) => (float[1,2] y) { y, z = Split <axis = 0> (x) "
        "y, z = Split <axis = 0> (x) }",
        ["Split"],
        X[:1],
    ),
    "of integers": (
        "g (float[2,2] x) => (float[2,2] y) { i = Cast <to = 7> (x) i = Cast <to = 7> (x) "
        "y = Cast <to = 1> (i) }",
        ["Cast", "Cast"],
        X,
    ),
}


@pytest.mark.parametrize("case", MENDED_FILES)
def test_the_first_stays(case: str) -> None:
    text, ops, wanted = MENDED_FILES[case]
    done = run_pass(PASS, HEAD + text)
    assert done.ops == ops
    (outcome,) = done.outcomes
    assert {site.accuracy for site in outcome.sites} == {MENDED}
    np.testing.assert_array_equal(outputs_of(done.after, {"x": X})["y"], wanted)


@pytest.mark.parametrize("case", MENDED_FILES)
@pytest.mark.parametrize("target", ["ort", "trt8"])
def test_exit_0_needs_consent(case: str, target: str) -> None:
    model = parse(HEAD + MENDED_FILES[case][0])
    (found,) = [f for f in graphfix.check(model, target) if f.rule == "repeated-node"][:1]
    assert found.severity is Severity.REJECT
    assert found.message.endswith("and are the same")
    assert graphfix.run(model, target).exit_code == 1
    result = graphfix.run(model, target, allow_mended=True)
    assert result.exit_code == 0
    assert result.report.verification.status == "equal"
    (applied,) = [o for o in result.report.outcomes if o.pass_id == PASS]
    assert "is there twice and writes" in applied.sites[0].note


def test_in_a_branch_and_in_a_function() -> None:
    branch = (
        "g (float[2,2] x, bool c) => (float[2,2] y) { y = If (c) <then_branch = t () => "
        "(float[2,2] p) { p = Neg (x) p = Neg (x) }, else_branch = e () => (float[2,2] q) "
        "{ q = Abs (x) }> }"
    )
    after = run_pass(PASS, HEAD + branch).after
    np.testing.assert_array_equal(outputs_of(after, {"x": X, "c": np.array(True)})["y"], -X)
    called = (
        'g (float[2,2] x) => (float[2,2] y) { y = f.F (x) } <domain: "f", '
        'opset_import: ["" : 17]> F (a) => (b) { d = Neg (a) d = Neg (a) b = Exp (d) }'
    )
    after = run_pass(PASS, HEAD + called).after
    assert [node.op_type for node in after.functions[0].node] == ["Neg", "Exp"]
    np.testing.assert_allclose(outputs_of(after, {"x": X})["y"], np.exp(-X), rtol=1e-6)


@pytest.mark.parametrize(
    "nodes",
    [
        "y = Relu (x) y = Abs (x)",
        "y = Relu (x) y = Relu (w)",
        "y = Elu <alpha = 0.5> (x) y = Elu <alpha = 0.25> (x)",
        "y = RandomNormalLike (x) y = RandomNormalLike (x)",
        "y = Neg (x) y = f.Neg (x)",
        "y = If (c) <then_branch = t () => (float[2,2] p) { p = Neg (x) }, else_branch = e () => "
        "(float[2,2] q) { q = Abs (x) }> y = If (c) <then_branch = t () => (float[2,2] p) "
        "{ p = Neg (x) }, else_branch = e () => (float[2,2] q) { q = Abs (x) }>",
    ],
)
def test_what_differs_draws_or_has_subgraphs_is_no_model(nodes: str) -> None:
    inputs = "g (float[2,2] x, float[2,2] w, bool c) => (float[2,2] y) "
    with pytest.raises(InvalidModel, match="both write 'y'"):
        graphfix.load(parse(f"{HEAD}{inputs}{{ {nodes} }}"))


def test_valid_files_are_left_alone() -> None:
    done = run_pass(PASS, HEAD + "g (float[2,2] x) => (float[2,2] y) { a = Neg (x) y = Neg (x) }")
    assert done.ops == ["Neg", "Neg"]
    constants = (
        "g (float[2] x) => (float[2] y) { a = Constant <value = float[2] {1, 2}> () "
        "a = Constant <value = float[2] {1, 2}> () y = Add (x, a) }"
    )
    result = graphfix.run(parse(HEAD + constants), "ort")
    assert (result.exit_code, {o.pass_id for o in result.report.outcomes} & {PASS}) == (0, set())
