"""A claim is shown by the nodes that differ, where the outputs of the whole say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphfix import edits
from graphfix.edits import Delete, Layout, Normalize, Rename, Replace
from graphfix.edits.differing_parts import Differing, differing
from graphfix.edits.proof import HowToProve, prove
from graphfix.edits.step import Equal
from graphfix.report import Verdict
from tests.edits.small_models import BRANCHES, HEAD, TOWER, parsed

# Numbers vanish on the way: every output is the bias, whatever the input.
VANISHING = (
    HEAD
    + """
g (float[1, 3, 4, 4] x) => (float[1, 3, 4, 4] y) <float tiny = {1e-30}, float bias = {2}>
{
  [gate] s = Sigmoid (x)
  [act] h = Mul (x, s)
  [one] a = Mul (h, tiny)
  [mid] b = Relu (a)
  [two] c = Mul (b, tiny)
  [last] y = Add (c, bias)
}
"""
)
UNKNOWN = HEAD.replace("17]", '17, "acme" : 1]') + (
    "g (float[N, 4] x) => (float[N, 4] y) { [a] h = Neg (x)  [b] y = acme.Norm (h) }"
)
SAME = "the same nodes on the same inputs"


@pytest.mark.parametrize(
    "edit",
    [
        Delete("gate"),
        Delete("mid"),
        Delete("one"),
        Layout("x", "NHWC"),
        Layout("y", "NHWC"),
        Normalize("x", (0.5, 0.25, 0.1), (2.0, 3.0, 4.0)),
    ],
    ids=lambda edit: f"{edit}"[:30],
)
def test_outputs_that_say_nothing_are_no_hindrance(edit: edits.Edit) -> None:
    found = edits.edit(parsed(VANISHING), [edit])
    (proof,) = found.proofs
    assert proof.equal, proof
    assert proof.verification.method.startswith("where they differ: onnxruntime")
    assert found.exit_code == 0


@pytest.mark.parametrize("text", [VANISHING, UNKNOWN])
def test_a_name_is_shown_by_the_nodes(text: str) -> None:
    found = edits.edit(parsed(text), [Rename("x", "image")])
    assert [proof.verification.method for proof in found.proofs][-1] == SAME
    assert found.exit_code == 0


def test_an_unknown_operator_next_to_the_edit_is_no_hindrance() -> None:
    found = edits.edit(parsed(UNKNOWN), [Delete("a")])
    assert found.exit_code == 0
    assert "where they differ" in found.proofs[0].verification.method


def test_what_no_one_can_run_is_not_shown_where_it_differs() -> None:
    known = parsed(UNKNOWN)
    other = parsed(UNKNOWN.replace("acme.Norm", "acme.Other"))
    proof = prove(Equal("equal", known, other), "", HowToProve())
    assert proof.verification.status is Verdict.SKIPPED


def test_other_values_are_not_shown() -> None:
    other = parsed(VANISHING.replace("tiny = {1e-30}", "tiny = {2e-30}"))
    proof = prove(Equal("equal", parsed(VANISHING), other), "", HowToProve())
    assert proof.verification.status is Verdict.INCONCLUSIVE
    turned = parsed(VANISHING.replace("Relu (a)", "Neg (a)"))
    proof = prove(Equal("equal", parsed(VANISHING), turned), "", HowToProve())
    assert not proof.equal


def test_only_what_differs_is_left() -> None:
    other = parsed(TOWER.replace("Relu (s)", "Max (s, s)"))
    left = differing(parsed(TOWER), other, "")
    assert left is not None
    assert left.before is not None
    assert left.after is not None
    assert [n.op_type for n in left.before.graph.node] == ["Identity", "Relu", "Identity"]
    assert [n.op_type for n in left.after.graph.node] == ["Identity", "Max", "Identity"]
    (given,) = left.before.graph.input
    assert [d.dim_value for d in given.type.tensor_type.shape.dim][1:] == [3]


def test_what_draws_is_never_the_same() -> None:
    text = HEAD + "g (float[N, 4] x) => (float[N, 4] y) { r = RandomNormalLike (x) y = Add (x, r) }"
    left = differing(parsed(text), parsed(text), "")
    assert left is None or left.before is not None


def test_a_body_that_captures_something_else_differs() -> None:
    other = parsed(BRANCHES.replace("i = Neg (h)", "i = Neg (x)"))
    assert differing(parsed(BRANCHES), parsed(BRANCHES), "") == Differing()
    left = differing(parsed(BRANCHES), other, "")
    assert left is None or left.before is not None


def test_other_names_of_outputs_cannot_be_reported() -> None:
    assert differing(parsed(TOWER), parsed(TOWER.replace("y", "other")), "") is None


def test_a_file_in_the_place_of_a_node(tmp_path: Path) -> None:
    path = tmp_path / "half.onnx"
    text = HEAD + "h (float[1,3,4,4] a) => (float[1,3,4,4] b) <float k = {0.5}> { b = Mul (a, k) }"
    path.write_bytes(parsed(text).SerializeToString())
    found = edits.edit(parsed(VANISHING), [Replace("mid", path)])
    assert found.exit_code == 0, found.proofs
