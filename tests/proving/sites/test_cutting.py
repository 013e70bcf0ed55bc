"""A site as two models: borders, constants, subgraphs, functions, opsets, context."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import Pass, rewrite
from graphfix.ir.views import NodeView, Value
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.cutting import CannotCut, Cut
from graphfix.proving.sites.one_site import certify, smaller
from graphfix.proving.sites.site_proof import Case
from graphfix.report import EXACT, Verdict

CutOne = Callable[..., Cut]


@rewrite("Elu", emits=("Elu", "Identity"), accuracy=EXACT)
def same_elu(node: NodeView, build: Builder) -> Value:
    """Replace Elu by itself."""
    return build.Identity(build.Elu(node.need(0), alpha=1.0))


@rewrite("Add", emits=("Sub", "Neg"), accuracy=EXACT)
def add_to_sub(node: NodeView, build: Builder) -> Value:
    """Replace a sum by a difference."""
    return build.Sub(node.need(0), build.Neg(node.need(1)))


@rewrite("Add", emits=("Slice", "Mul"), accuracy=EXACT)
def slice_and_add(node: NodeView, build: Builder) -> Value:
    """Replace the sum of a part with itself by twice the part."""
    made = node.need(0).producer
    assert made is not None
    return build.Mul(build.Slice(*made.inputs), 2.0)


def _pass(function: object) -> Pass:
    assert isinstance(function, Pass)
    return function


def _verdict(found: Cut) -> Verdict:
    return certify(Case(found.before, found.after), Evaluators({})).status


def _inputs(model: onnx.ModelProto) -> list[list[int | str]]:
    return [
        [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]
        for info in model.graph.input
    ]


def test_borders_are_inputs_and_small_constants_are_taken_in(cut_one: CutOne) -> None:
    found = cut_one(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2, N] x) => (float[2, N] y) <float[1] w = {2.5}>
        { a = Relu (x)  b = Add (a, w)  y = Neg (b) }
        """,
        _pass(add_to_sub),
    )
    assert [n.op_type for n in found.before.graph.node] == ["Add"]
    assert [n.op_type for n in found.after.graph.node] == ["Neg", "Sub"]
    for model in (found.before, found.after):
        assert _inputs(model) == [[2, "d0"]]
        assert [onnx.numpy_helper.to_array(t).tolist() for t in model.graph.initializer] == [[2.5]]
        assert [o.name for o in model.graph.output] == ["r0"]
    assert found.names == {"b0": "a", "r0": "b"}
    assert not found.made_up
    assert _verdict(found) is Verdict.EQUAL


def test_big_weights_become_inputs(cut_one: CutOne) -> None:
    model = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[1, 40000] x) => (float[1, 40000] y) { y = Add (x, w) }
        """
    )
    weights = np.ones(40000, np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    found = cut_one(model, _pass(add_to_sub))
    assert found.made_up
    assert _inputs(found.before) == [[1, 40000], [40000]]
    assert not found.before.graph.initializer
    assert _verdict(found) is Verdict.EQUAL


def test_an_initializer_that_the_caller_may_give_is_an_input(cut_one: CutOne) -> None:
    found = cut_one(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] x, float[2] w = {1, 2}) => (float[2] y) { y = Add (x, w) }
        """,
        _pass(add_to_sub),
    )
    assert len(found.before.graph.input) == 2
    assert not found.before.graph.initializer


def test_equal_sites_give_equal_bytes(cut_one: CutOne) -> None:
    texts = [
        f"""
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2] {x}) => (float[2] {y}) <float[2] {w} = {{1, 2}}> {{ {y} = Add ({x}, {w}) }}
        """
        for x, y, w in (("x", "y", "w"), ("left", "sum", "right"))
    ]
    first, second = (cut_one(text, _pass(add_to_sub)) for text in texts)
    assert first.before.SerializeToString() == second.before.SerializeToString()
    assert first.after.SerializeToString() == second.after.SerializeToString()
    assert first.names != second.names


def test_a_site_in_a_body_reads_captured_values(cut_one: CutOne) -> None:
    found = cut_one(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (bool c, float[3] x) => (float[3] y) {
          o = Neg (x)
          y = If (c) <then_branch = t () => (float[3] p) { p = Add (o, x) },
                      else_branch = e () => (float[3] q) { q = Relu (x) }>
        }
        """,
        _pass(add_to_sub),
    )
    assert [n.op_type for n in found.before.graph.node] == ["Add"]
    assert sorted(found.names.values()) == ["o", "p", "x"]
    assert _verdict(found) is Verdict.EQUAL


def test_a_removed_body_comes_with_what_it_captures(cut_one: CutOne) -> None:
    found = cut_one(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[3] x) => (float[3] y) <bool c = {1}> {
          o = Neg (x)
          z = If (c) <then_branch = t () => (float[3] p) { p = Add (o, x) },
                      else_branch = e () => (float[3] q) { q = Relu (x) }>
          y = Relu (z)
        }
        """,
        "if-elimination",
    )
    assert [n.op_type for n in found.before.graph.node] == ["If"]
    assert [n.op_type for n in found.after.graph.node] == ["Add"]
    assert len(found.before.graph.node[0].attribute[0].g.node) == 1
    assert _verdict(found) is Verdict.EQUAL


def test_a_step_of_the_opset_has_each_side_at_its_own(cut_one: CutOne) -> None:
    found = cut_one(
        """
        <ir_version: 7, opset_import: ["" : 13]>
        g (float[2, 3] x) => (float[2, 1] y) <int64[1] axes = {1}>
        { y = ReduceSum <keepdims = 1> (x, axes) }
        """,
        opset=12,
    )
    assert [e.version for e in found.before.opset_import] == [13]
    assert [e.version for e in found.after.opset_import] == [12]
    assert len(found.before.graph.node[0].input) == 2
    assert len(found.after.graph.node[0].input) == 1
    assert _verdict(found) is Verdict.EQUAL


def test_what_is_computed_from_sizes_is_proved_with_its_origin(cut_one: CutOne) -> None:
    found = cut_one(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2, 5] x, int64[K] i) => (int64[2] s, int64[1] y) <int64[1] one = {1}> {
          s = Shape (x)
          y0 = Gather (s, one)
          y = Mul (y0, i)
        }
        """,
        "fold-constants",
    )
    assert [n.op_type for n in found.before.graph.node] == ["Shape", "Gather"]
    assert not found.after.graph.node or found.after.graph.node[0].op_type == "Identity"
    assert _verdict(found) is Verdict.EQUAL


def test_what_is_computed_from_constants_is_proved_with_them(cut_one: CutOne) -> None:
    # The Split stays, since it gives an output of the graph; the Transpose is folded all the same.
    found = cut_one(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[2, 2] x) => (float[2, 2] s, float[2, 2] y)
        <float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}> {
          s, t = Split <axis = 0> (w)
          u = Transpose <perm = [1, 0]> (t)
          y = Add (x, u)
        }
        """,
        "fold-constants",
    )
    assert [n.op_type for n in found.before.graph.node] == ["Split", "Transpose"]
    assert not found.before.graph.input
    assert _verdict(found) is Verdict.EQUAL


def test_sizes_that_leave_nothing_are_not_the_ones_to_compare_on(cut_one: CutOne) -> None:
    found = cut_one(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[N, 3] x) => (float[M, 3] y)
        <int64[1] from = {10}, int64[1] to = {1000}, int64[1] axis = {0}> {
          a = Slice (x, from, to, axis)
          b = Add (a, a)
          y = Relu (b)
        }
        """,
        _pass(slice_and_add),
    )
    assert [n.op_type for n in found.before.graph.node] == ["Slice", "Add"]
    assert _verdict(found) is Verdict.EQUAL


def test_what_is_always_empty_is_compared_as_that(cut_one: CutOne) -> None:
    found = cut_one(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[4, 3] x) => (float[0, 3] y)
        <int64[1] from = {4}, int64[1] to = {1000}, int64[1] axis = {0}> {
          a = Slice (x, from, to, axis)
          b = Add (a, a)
          y = Relu (b)
        }
        """,
        _pass(slice_and_add),
    )
    assert _verdict(found) is Verdict.EQUAL
    found.after.graph.node[-1].op_type = "Equal"  # booleans in place of floats
    assert _verdict(found) is Verdict.MISMATCH


def test_functions_that_a_site_calls_come_along(cut_one: CutOne) -> None:
    found = cut_one(
        """
        <ir_version: 8, opset_import: ["" : 17, "local" : 1]>
        g (float[3] x) => (float[3] y) { a = local.twice (x)  b = Elu (a)  y = Neg (b) }
        <domain: "local", opset_import: ["" : 17]>
        twice (p) => (q) { q = Add (p, p) }
        """,
        _pass(same_elu),
    )
    # The call stays and is no part of the site.
    assert [n.op_type for n in found.before.graph.node] == ["Elu"]
    assert not found.before.functions


def test_what_draws_at_random_cannot_be_proved(cut_one: CutOne) -> None:
    @rewrite("RandomNormalLike", emits=("RandomNormalLike",), accuracy=EXACT)
    def redraw(node: NodeView, build: Builder) -> Value:
        """Draw again."""
        return build.RandomNormalLike(node.need(0), seed=1.0)

    with pytest.raises(CannotCut, match="RandomNormalLike draws at random"):
        cut_one(
            """
            <ir_version: 8, opset_import: ["" : 17]>
            g (float[3] x) => (float[3] y) { y = RandomNormalLike (x) }
            """,
            _pass(redraw),
        )


def test_sizes_are_made_smaller_alike() -> None:
    model = onnx.parser.parse_model(
        """
        <ir_version: 8, opset_import: ["" : 17]>
        g (float[1, 51200] x, float[51200, 70000] w, float[N] z) => (float[1, 70000] y)
        { y = MatMul (x, w) }
        """
    )
    assert _inputs(smaller(model)) == [[1, 12], [12, 14], ["N"]]
