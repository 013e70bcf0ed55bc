"""The chain: all or nothing, every scope, every blocker at once."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.ir.schemas import newest_opset
from graphfix.opset.stepping import StepBlocked, lower_one, move_to
from graphfix.testing import assert_same, outputs_of
from tests.opset.conversion import (
    assert_converts,
    check,
    converted,
    loaded,
    model_of,
    reasons,
    stepped,
)

X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)

MIXED = """<ir_version: 8, opset_import: ["" : 18]>
g (float[2,3,4] x, float[4] s, float[4] b) => (float[2,3,4] z, int64[2] n, float[2,1,4] m)
{
  axes = Constant<value = int64[1] {1}>()
  m = ReduceMean(x, axes)
  h = HardSwish(x)
  l = LayerNormalization(h, s, b)
  z = Softmax<axis = 1>(l)
  n = Shape<start = 1>(x)
}"""
FEED = {"x": X, "s": X[0, 0], "b": X[1, 1]}


def test_each_step_down_gives_equal_outputs() -> None:
    proto = model_of(MIXED)
    for version in range(17, 10, -1):
        assert_converts(proto, version, FEED, rtol=1e-5, atol=1e-6)


def test_down_in_one_go_equals_step_by_step() -> None:
    proto = model_of(MIXED)
    at_once, by_steps = converted(proto, 11), stepped(proto, 11)
    assert [n.op_type for n in at_once.graph.node] == [n.op_type for n in by_steps.graph.node]
    assert_same(outputs_of(at_once, FEED), outputs_of(by_steps, FEED), rtol=0, atol=0)


def test_down_then_up_gives_equal_outputs() -> None:
    proto = model_of(MIXED)
    again = converted(converted(proto, 12), 18)
    check(again)
    assert again.opset_import[0].version == 18
    assert_same(outputs_of(proto, FEED), outputs_of(again, FEED), rtol=1e-5, atol=1e-6)


def test_one_step_names_the_nodes_it_changed() -> None:
    model, workspace = loaded(model_of(MIXED))
    sites = lower_one(model, workspace)
    assert model.opset == 17
    assert [(s.node.op, s.note) for s in (each.site for each in sites)] == [
        ("ReduceMean", ""),
        ("", "opset 18 becomes 17"),
    ]
    assert [each.site.node.op for each in move_to(model, workspace, model.opset + 1)] == [
        "ReduceMean",
        "",
    ]


def test_the_opset_of_the_model_is_no_change() -> None:
    model, workspace = loaded(model_of(MIXED))
    assert move_to(model, workspace, 18) == []
    assert model.to_proto() == model_of(MIXED)


def test_all_blockers_are_named_and_nothing_changes() -> None:
    proto = model_of("""<ir_version: 8, opset_import: ["" : 18]>
g (float[2,3] x, int64[1] axes, int32[2,3] i, float[1,5,5] c, int64[2] s, int64[2] b)
    => (float[2,3] h, int32[a,b] y, float[p,q,r,t] z)
{
  h = HardSwish(x)
  y = ReduceMean(i, axes)
  z = Col2Im(c, s, b)
}""")
    assert reasons(proto, 17) == [
        "ReduceMean: axes must be a constant; it is computed at run time, and ReduceMean of "
        "int32 taken one axis after the other is not exact",
        "Col2Im: opset 17 has no Col2Im",
    ]


def test_a_chain_that_fails_late_is_undone() -> None:
    proto = model_of("""<ir_version: 8, opset_import: ["" : 18]>
g (float[2,3] x, float[1,4,4,2] g, float[1,1,5,5] t) => (float[2,1] y, float[1,1,4,4] z)
{
  axes = Constant<value = int64[1] {1}>()
  y = ReduceMean(x, axes)
  z = GridSample<mode = "bicubic", padding_mode = "reflection">(t, g)
}""")
    model, workspace = loaded(proto)
    mark = workspace.mark()
    with pytest.raises(StepBlocked) as caught:
        move_to(model, workspace, 7)
    assert caught.value.version < 18
    assert model.to_proto() == proto
    assert workspace.mark() == mark
    # What was undone can be done again.
    assert len(move_to(model, workspace, 17)) == 2
    assert model.graph.nodes[0].op == "ReduceMean"


def test_an_opset_that_onnx_does_not_know() -> None:
    newest = newest_opset()
    assert reasons(model_of(MIXED), newest + 1) == [f": onnx knows no opset {newest + 1}"]


def test_subgraphs_are_converted() -> None:
    proto = model_of("""<ir_version: 8, opset_import: ["" : 18]>
g (bool c, float[2,3,4] x) => (float[2,1,4] y)
{
  y = If (c) <
    then_branch = t () => (float[2,1,4] p) {
      a = Constant<value = int64[1] {1}>()
      p = ReduceMax(x, a)
    },
    else_branch = e () => (float[2,1,4] q) {
      b = Constant<value = int64[1] {-2}>()
      q = ReduceMin(x, b)
    }
  >
}""")
    for flag in (True, False):
        result = assert_converts(proto, 13, {"c": np.array(flag), "x": X})
        for attribute in result.graph.node[0].attribute:
            assert [n.op_type for n in attribute.g.node] in (["ReduceMax"], ["ReduceMin"])


FUNCTIONS = """<ir_version: 9, opset_import: ["" : 18, "own" : 1]>
g (float[2,3,4] x) => (float[2,1,4] y) { y = own.f(x) }
<domain: "own", opset_import: ["" : 18]>
f (x) => (y) {
  axes = Constant<value_ints = [1]>()
  y = ReduceSumSquare<keepdims: int = 1>(x, axes)
}"""


def test_functions_survive_and_are_converted() -> None:
    result = assert_converts(model_of(FUNCTIONS), 13, {"x": X}, ops=["f"])
    (function,) = result.functions
    assert [(o.domain, o.version) for o in function.opset_import] == [("", 13)]
    assert [n.op_type for n in function.node] == ["ReduceSumSquare"]


def test_a_function_with_a_lower_opset_is_left() -> None:
    proto = model_of(FUNCTIONS)
    proto.functions[0].opset_import[0].version = 11
    del proto.functions[0].node[:]
    proto.functions[0].node.add(op_type="Relu", input=["x"], output=["y"])
    proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 3
    result = converted(proto, 13)
    assert result.functions[0].opset_import[0].version == 11
    assert result.opset_import[0].version == 13


def test_foreign_domains_and_unknown_operators_stay() -> None:
    proto = model_of("""<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>
g (float[2,3,4] x) => (float[2,3,4] y) { a = com.microsoft.FastGelu(x) y = Nonesuch(a) }""")
    result = converted(proto, 13)
    assert {o.domain: o.version for o in result.opset_import} == {"": 13, "com.microsoft": 1}
    assert result.graph == proto.graph


def test_without_the_default_domain_only_its_import_is_added() -> None:
    proto = model_of("""<ir_version: 8, opset_import: ["com.microsoft" : 1]>
g (float[2] x) => (float[2] y) { y = com.microsoft.FastGelu(x) }""")
    result = converted(proto, 13)
    assert {o.domain: o.version for o in result.opset_import} == {"": 13, "com.microsoft": 1}
    assert result.graph == proto.graph


def test_an_unknown_dtype_decides_nothing() -> None:
    proto = model_of("""<ir_version: 8, opset_import: ["" : 14, "own" : 1]>
g (float[2] x) => (float[2] y) { a = own.thing(x) b = Add(a, a) y = own.thing(b) }""")
    assert reasons(proto, 13) == ["Add: dtype of a is unknown"]


@given(
    axis=st.integers(-3, 2),
    keepdims=st.booleans(),
    op=st.sampled_from(["ReduceMean", "ReduceMax", "ReduceSum", "ReduceL2"]),
    softmax=st.integers(-3, 2),
    target=st.integers(11, 17),
    seed=st.integers(0, 2**16),
)
def test_any_axes_convert_down_and_up(
    axis: int, keepdims: bool, op: str, softmax: int, target: int, seed: int
) -> None:
    kept = [1 if keepdims and i == axis % 3 else size for i, size in enumerate((2, 3, 4))]
    if not keepdims:
        del kept[axis]
    shape = ",".join(map(str, kept))
    proto = model_of(f"""<ir_version: 8, opset_import: ["" : 18]>
g (float[2,3,4] x) => (float[2,3,4] y, float[{shape}] m)
{{
  axes = Constant<value = int64[1] {{{axis}}}>()
  y = LogSoftmax<axis = {softmax}>(x)
  m = {op}<keepdims = {int(keepdims)}>(x, axes)
}}""")
    feed = {"x": np.random.default_rng(seed).normal(size=(2, 3, 4)).astype(np.float32)}
    result = assert_converts(proto, target, feed, rtol=1e-5, atol=1e-6)
    again = assert_converts(result, 18, feed, rtol=1e-5, atol=1e-6)
    assert_same(outputs_of(proto, feed), outputs_of(again, feed), rtol=1e-5, atol=1e-6)


def test_an_attribute_of_the_function_is_still_one_after_a_step() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 18, "local" : 1]>
        g (float[2,3] x) => (float[M,N] y) { y = local.most <keep: int = 1> (x) }
        <domain: "local", opset_import: ["" : 18]>
        most <keep> (a) => (b) {
            axes = Constant <value = int64[1] {1}> ()
            b = ReduceMax <keepdims: int = @keep> (a, axes)
        }""")
    done = graphfix.run(model, opset=17)
    assert done.exit_code == 0, done.report
    after = done.model.to_proto()
    (reduced,) = [n for n in after.functions[0].node if n.op_type == "ReduceMax"]
    assert {a.name: a.ref_attr_name for a in reduced.attribute}["keepdims"] == "keep"
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(outputs_of(after, {"x": x})["y"], [[2], [5]])
