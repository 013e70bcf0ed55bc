"""Subgraphs whose tensors share names: types, repairs, proof and export keep them apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import onnx
import pytest
from onnx import parser

import graphfix
from graphfix.analysis.inference import infer_model
from graphfix.analysis.shape_inference import infer_shapes
from graphfix.ir.graph import Graph
from graphfix.ir.model import Model
from graphfix.ir.protos import all_graphs, put_apart, restored
from graphfix.testing import assert_valid, outputs_of

HEAD = '<ir_version: 8, opset_import: ["" : 18{more}]>\n'
# Two branches name alike what they compute: `s` has two numbers in one and one in the other.
MERGED = """g (float[M,N] x, float[5] w, bool c) => (float[A,B,C] out) { out = If (c) <
    then_branch = l () => (float[A1,B1,C1] y) {
        s = Shape (x) o = Constant <value_ints = [1]> () n = Concat <axis = 0> (o, s)
        a = Reshape (x, n) y = Neg (a) },
    else_branch = r () => (float[A2,B2,C2] y) {
        s = Shape (w) o = Constant <value_ints = [1]> () n = Concat <axis = 0> (o, s)
        a = Reshape (w, n) y = Unsqueeze (a, o) }> }"""
# The size of a cache is followed by its name in both: another rank, another value in each.
SIZES = """g (float[2,3,4] x, float[5,6] w, bool c) => (float[K] out) { out = If (c) <
    then_branch = l () => (float[K1] y) { i = Constant <value_ints = [2]> () s = Shape (x)
        k = Gather (s, i) d = Constant <value_floats = [2.0]> () e = Expand (d, k)
        y = Neg (e) },
    else_branch = r () => (float[K2] y) { i = Constant <value_ints = [0]> () s = Shape (w)
        k = Gather (s, i) d = Constant <value_floats = [-1.0]> () e = Expand (d, k)
        y = Abs (e) }> }"""
NESTED = """g (float[2,3] x, bool c, bool d) => (float[P,Q] out) { out = If (c) <
    then_branch = l () => (float[A,B] y) { s = Shape (x) y = If (d) <
        then_branch = ll () => (float[E,F] z) {
            t = Constant <value_ints = [3, 2]> () z = Reshape (x, t) },
        else_branch = lr () => (float[G,H] z) {
            t = Constant <value_ints = [6, 1]> () z = Reshape (x, t) }> },
    else_branch = r () => (float[C,D] y) { s = Shape (x) y = If (d) <
        then_branch = rl () => (float[E,F] z) {
            t = Constant <value_ints = [1, 6]> () z = Reshape (x, t) },
        else_branch = rr () => (float[G,H] z) {
            t = Neg (s) u = Neg (t) z = Reshape (x, u) }> }> }"""
TWO_IFS = """g (float[2,3] x, bool c, bool d) => (float[A,B] p, float[C] q) {
    p = If (c) <
        then_branch = a () => (float[A1,B1] y) {
            t = Constant <value_ints = [3, 2]> () y = Reshape (x, t) },
        else_branch = b () => (float[A2,B2] y) {
            t = Constant <value_ints = [1, 6]> () y = Reshape (x, t) }>
    q = If (d) <
        then_branch = e () => (float[C1] y) {
            t = Constant <value_ints = [6]> () y = Reshape (x, t) },
        else_branch = f () => (float[C2] y) {
            t = ReduceSum (x) o = Constant <value_ints = [1]> () y = Reshape (t, o) }> }"""
LOOPS = """g (float[2,3] x, int64 n, bool t) => (float[2,3] y, float[3,2] z) {
    y = Loop (n, t, x) <body = b (int64 i, bool c, float[2,3] s) => (bool k, float[2,3] r) {
        k = Identity (c) q = Shape (s) f = CastLike (q, s) h = ReduceSum <keepdims = 0> (f)
        r = Add (s, h) }>
    o = Transpose (x)
    z = Loop (n, t, o) <body = b (int64 i, bool c, float[3,2] s) => (bool k, float[3,2] r) {
        k = Identity (c) q = Size (s) f = CastLike (q, s) h = Neg (f) r = Mul (s, h) }> }"""
SCANS = """g (float[4,2] x, float[4,3] w) => (float[4,2] y, float[4,3] z) {
    y = Scan <num_scan_inputs = 1, body = b (float[2] e) => (float[2] r) {
        q = Shape (e) f = CastLike (q, e) r = Mul (e, f) }> (x)
    z = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] r) {
        q = Shape (e) f = CastLike (q, e) r = Sub (e, f) }> (w) }"""
STORED = """g (float[2,3] x, bool c) => (float[P,Q] out) { out = If (c) <
    then_branch = l () => (float[A,B] y) <int64[2] t = {3, 2}, float[2] k = {2, 3}>
        { a = Reshape (x, t) y = Mul (a, k) },
    else_branch = r () => (float[C,D] y) <int64[2] t = {6, 1}, float[1] k = {-1}>
        { a = Reshape (x, t) y = Add (a, k) }> }"""
# A name of a branch is that of a tensor which a later node of the main graph gives.
LATER = """g (float[2,3] x, bool c) => (float[P,Q] out, int64[1] z) {
    out = If (c) <
        then_branch = l () => (float[A,B] y) {
            t = Constant <value_ints = [3, 2]> () y = Reshape (x, t) },
        else_branch = r () => (float[C,D] y) {
            t = Constant <value_ints = [6, 1]> () y = Reshape (x, t) }>
    t = Constant <value_ints = [7]> ()
    z = Neg (t) }"""
CALLED = """g (float[2,3] x, bool c) => (float[A,B] p, float[C,D] q) {
    p = local.choose (x, c)
    t = Transpose (x)
    q = local.choose (t, c) }
<domain: "local", opset_import: ["" : 18]>
choose (x, c) => (o) { t = Shape (x)
    o = If (c) <
        then_branch = l () => (y) { a = Constant <value_ints = [1, -1]> () y = Reshape (x, a) },
        else_branch = r () => (y) { a = Constant <value_ints = [-1, 1]> () y = Reshape (x, a) }>
}"""


class Case(NamedTuple):
    """A model, and shapes of what its subgraphs compute where a scope's name leads to them."""

    text: str
    shapes: dict[str, tuple[Any, ...]]
    more: str = ""


CASES = {
    "merged": Case(MERGED, {"then_branch.a": (1, None, None), "else_branch.a": (1, 5),
                            "then_branch.s": (2,), "else_branch.s": (1,)}),
    "sizes": Case(SIZES, {"then_branch.e": (4,), "else_branch.e": (5,)}),
    "nested": Case(NESTED, {"then_branch/y.then_branch.z": (3, 2)}),
    "two": Case(TWO_IFS, {}),
    "loops": Case(LOOPS, {}),
    "scans": Case(SCANS, {}),
    "stored": Case(STORED, {"then_branch.a": (3, 2), "else_branch.a": (6, 1)}),
    "later": Case(LATER, {"then_branch.t": (2,), "else_branch.t": (2,)}),
    "called": Case(CALLED, {}, ', "local" : 1'),
}  # fmt: skip
RUN = [name for name in CASES if name != "later"]  # which onnxruntime refuses
TARGETS = ("trt8.6", "trt10.10", "openvino2026.4", "ort-1.16", "tflite1.29")


def model_of(name: str) -> onnx.ModelProto:
    case = CASES[name]
    model = parser.parse_model(HEAD.replace("{more}", case.more) + case.text)
    assert_valid(model)
    return model


def graphs_of(model: Model) -> list[Graph]:
    return [graph for root in model.roots() for graph in root.walk()]


def feeds_of(model: onnx.ModelProto) -> list[dict[str, Any]]:
    """Return inputs for both values of each condition."""
    rng, found = np.random.default_rng(3), list[dict[str, Any]]()
    for case in range(4):
        feed: dict[str, Any] = {}
        for info in model.graph.input:
            kind = info.type.tensor_type
            shape = [dim.dim_value or 2 + case for dim in kind.shape.dim]
            if kind.elem_type == onnx.TensorProto.BOOL:
                feed[info.name] = np.array(info.name == "t" or bool(case >> (info.name == "d") & 1))
            elif kind.elem_type == onnx.TensorProto.INT64:
                feed[info.name] = np.array(case, np.int64)
            else:
                feed[info.name] = rng.standard_normal(shape).astype(np.float32)
        found.append(feed)
    return found


def assert_computes_the_same(one: onnx.ModelProto, two: onnx.ModelProto) -> None:
    for feed in feeds_of(one):
        after = outputs_of(two, feed)
        for name, before in outputs_of(one, feed).items():
            assert before.shape == after[name].shape
            np.testing.assert_allclose(before, after[name], rtol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_types_are_those_of_the_body_alone(name: str) -> None:
    """The same file with a name of its own for each tensor is inferred to the same types."""
    apart = model_of(name)
    renamed = put_apart(apart)
    assert bool(renamed) is (name != "x")
    one, two = Model(model_of(name)), Model(apart)
    infer_model(one)
    infer_model(two)
    for ours, theirs in zip(graphs_of(one), graphs_of(two), strict=True):
        for node, other in zip(ours.nodes, theirs.nodes, strict=True):
            for tensor, twin in zip(node.outputs, other.outputs, strict=True):
                assert renamed.get(twin.name, twin.name) == tensor.name
                assert (tensor.elem_type, tensor.shape) == (twin.elem_type, twin.shape), node
    known = {
        f"{step}.{tensor.name}": tensor.shape
        for graph in one.graph.walk()
        for step in [graph.scope.removeprefix("main/").partition(".")[2]]
        for node in graph.nodes
        for tensor in node.outputs
    }
    for key, shape in CASES[name].shapes.items():
        if key in known:
            found = known[key]
            assert found is not None
            fixed = tuple(dim if isinstance(dim, int) else None for dim in found)
            assert fixed == shape, key


@pytest.mark.parametrize("name", CASES)
def test_names_come_back(name: str) -> None:
    model, before = model_of(name), model_of(name)
    old = put_apart(model)
    made = [o for g in all_graphs(model.graph) for node in g.node for o in node.output]
    assert len(set(made)) == len(made)
    assert_valid(model)
    if name in RUN:
        assert_computes_the_same(before, model)
    restored(model, old)
    assert model == before
    assert put_apart(model) == old  # and what is asked twice is answered twice


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", RUN)
def test_a_run_keeps_them_apart(name: str, target: str) -> None:
    model = model_of(name)
    result = graphfix.run(model, target)
    assert result.exit_code in (0, 1)
    after = result.model.to_proto()
    assert_valid(after)
    infer_shapes(after, strict_mode=True, data_prop=True)
    assert_computes_the_same(model, after)


@pytest.mark.parametrize("opset", [13, 21])
@pytest.mark.parametrize("name", ["merged", "sizes", "nested", "stored"])
def test_opset_steps_keep_them_apart(name: str, opset: int) -> None:
    model = model_of(name)
    result = graphfix.run(model, opset=opset)
    after = result.model.to_proto()
    assert (result.exit_code, after.opset_import[0].version) == (0, opset)
    assert_valid(after)
    assert_computes_the_same(model, after)


def test_what_the_main_graph_declares_of_a_name_of_both_branches_is_of_neither() -> None:
    model = model_of("sizes")
    for name, dims in (("k", [7]), ("e", [9, 9]), ("s", [2, 2])):
        kind = onnx.TensorProto.FLOAT if name == "e" else onnx.TensorProto.INT64
        model.graph.value_info.append(onnx.helper.make_tensor_value_info(name, kind, dims))
    typed = Model(onnx.ModelProto.FromString(model.SerializeToString()))
    infer_model(typed)
    found = {
        (g.attribute, t.name): t.shape for g in graphs_of(typed) for n in g.nodes for t in n.outputs
    }
    assert (found["then_branch", "e"], found["else_branch", "e"]) == ((4,), (5,))
    inferred = infer_shapes(model, strict_mode=True, data_prop=True)
    assert [info.name for info in inferred.graph.value_info] == ["k", "e", "s"]
    result = graphfix.run(model, "trt10.10")
    assert result.exit_code == 0
    assert_computes_the_same(model, result.model.to_proto())
    assert not [f for f in graphfix.check(model, "trt10.10") if f.blocks]


def test_names_that_nothing_shares_stay() -> None:
    model = parser.parse_model(
        HEAD.replace("{more}", "")
        + """g (float[2] x, bool c) => (float[2] y) { y = If (c) <
        then_branch = l () => (float[2] p) { a = Neg (x) p = Abs (a) },
        else_branch = r () => (float[2] q) { b = Abs (x) q = Neg (b) }> }"""
    )
    assert put_apart(model) == {}
