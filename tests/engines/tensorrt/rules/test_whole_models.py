from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from onnx.external_data_helper import set_external_data

from graphfix.authoring.features import feature
from graphfix.engines.checking import check_whole
from graphfix.engines.known_rules import all_rules, rules_for
from graphfix.engines.targets import load_target, target_names
from graphfix.ir.model import Model
from tests.engines.cases import check, model_of

CALL = "(float[2] x) => (float[2] y) { y = local.Twice (x) }"
TWICE = '<domain: "local", opset_import: ["" : 17]> Twice (a) => (b) { c = Det (a) b = Add (a, a) }'


def _blocking(proto: onnx.ModelProto, target: str = "trt8.6") -> list[tuple[str, str, str, str]]:
    found = check(proto, target)
    return [(f.rule, f.feature, str(f.severity), f.node.op) for f in found if f.blocks]


def test_the_call_of_a_function_is_refused_and_its_body_not_judged() -> None:
    found = _blocking(model_of(CALL, functions=TWICE))
    assert found == [("local-function", "scope:local-function", "reject", "Twice")]


def test_an_engine_that_reads_functions_is_asked_about_their_subgraphs() -> None:
    found = _blocking(model_of(CALL, functions=TWICE), "trt10.1")
    assert found[0] == ("operator-not-supported", "op:Det", "reject", "Det")


def test_a_function_called_like_an_operator_is_taken_for_it() -> None:
    call, body = CALL.replace("Twice", "Relu"), TWICE.replace("Twice", "Relu")
    found = _blocking(model_of(call, functions=body))
    assert found == [("local-function", "scope:local-function", "wrong", "Relu")]


def test_what_fails_because_of_a_misread_form_is_refused_with_its_feature() -> None:
    proto = model_of(
        "(float[2,3] x) => (float[2] y) <int64[1] a = {1}> "
        "{ m = ReduceMean <keepdims = 1> (x, a) y = Reshape (m, s) s = Shape <end = 1> (x) }"
    )
    nodes = [proto.graph.node[0], proto.graph.node[2], proto.graph.node[1]]
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del proto.graph.node[:]
    proto.graph.node.extend(copies)
    proto.opset_import[0].version = 18
    assert _blocking(proto) == [
        ("reduce-axes-input", "form:ReduceMean.axes-input", "wrong", "ReduceMean"),
        ("shape-part", "form:Shape.start-end", "wrong", "Shape"),
        ("misread-form", "form:ReduceMean.axes-input", "reject", "Reshape"),
    ]
    assert _blocking(proto, "trt10.1") == []


def test_a_misread_form_that_breaks_nothing_is_only_wrong() -> None:
    proto = model_of(
        "(float[2,3] x) => (float[M,N] y) <int64[1] a = {1}> "
        "{ m = ReduceMean (x, a) y = Sub (x, m) }",
        18,
    )
    assert _blocking(proto) == [
        ("reduce-axes-input", "form:ReduceMean.axes-input", "wrong", "ReduceMean")
    ]


def test_a_form_that_this_version_reads_is_not_taken_for_misread() -> None:
    proto = model_of(
        "(float[2,3,4] x) => (float[a,b,c] y, float[p,q] z) "
        "<int64[1] a = {1}, int64[1] twelve = {12}> "
        "{ y = ReduceLogSumExp (x, a) s = Shape <start = 0, end = 1> (x) "
        "t = Concat <axis = 0> (s, twelve) z = Reshape (x, t) }",
        18,
    )
    lost = ("log-sum-exp-axes-input", "form:ReduceLogSumExp.axes-input", "wrong", "ReduceLogSumExp")
    assert _blocking(proto, "trt10.1") == [lost]
    assert ("misread-form", "form:Shape.start-end", "reject", "Reshape") in _blocking(proto)


def test_axes_that_seven_loses_of_a_sum_make_a_later_reshape_fail() -> None:
    proto = model_of(
        "(float[2,3] x) => (float[2] y) <int64[1] a = {1}, int64[1] two = {2}> "
        "{ m = ReduceSum <keepdims = 0> (x, a) y = Reshape (m, two) }",
        13,
    )
    lost = ("reduce-sum-axes-input", "form:ReduceSum.axes-input", "wrong", "ReduceSum")
    misread = ("misread-form", "form:ReduceSum.axes-input", "reject", "Reshape")
    assert _blocking(proto, "trt7.2") == [lost, misread]
    assert _blocking(proto) == []


def test_omitted_outputs_share_one_name() -> None:
    lstm = "LSTM <hidden_size = 2> (x, w, r)"
    head = "(float[2,1,2] x, float[1,8,2] w, float[1,8,2] r)"
    one = model_of(f"{head} => (float[A,B,C] h) {{ , h = {lstm} }}")
    two = model_of(f"{head} => (float[A,B,C] h, float[A,B,C] g) {{ , h = {lstm} , g = {lstm} }}")
    assert _blocking(one) == []
    assert _blocking(two) == [
        ("same-output-names", "form:outputs.same-name", "reject", "LSTM"),
    ]


def test_a_sparse_initializer_is_not_read() -> None:
    proto = model_of("(float[3] x) => (float[3] y) { y = Add (x, x) }")
    values = numpy_helper.from_array(np.array([1.0], np.float32), "w")
    indices = numpy_helper.from_array(np.array([1], np.int64), "i")
    proto.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, indices, [3]))
    assert _blocking(proto) == []
    proto.graph.node[0].input[1] = "w"
    assert _blocking(proto) == [("sparse-initializer", "form:sparse-initializer", "reject", "")]


def test_an_import_of_other_domains_only_is_refused() -> None:
    proto = model_of("(float[2] x) => (float[2] y) { y = Relu (x) }")
    proto.opset_import[0].domain = "a"
    proto.opset_import.append(onnx.helper.make_opsetid("b", 1))
    found = _blocking(proto)
    assert ("default-domain-missing", "domain:missing-import", "reject", "") in found


def test_weights_in_another_file_are_not_read_up_to_7_0() -> None:
    proto = model_of("(float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }")
    initializer = proto.graph.initializer[0]
    initializer.CopyFrom(numpy_helper.from_array(np.ones(2, np.float32), "w"))
    initializer.data_location = TensorProto.EXTERNAL
    set_external_data(initializer, "w.bin", 0, 8)
    model = onnx.ModelProto.FromString(proto.SerializeToString())

    def features(target: str) -> list[str]:
        return [f.feature for f in check_whole(Model(model), load_target(target)) if f.blocks]

    assert features("trt7.0") == ["form:external-data"]
    assert features("trt7.1") == []


@pytest.mark.parametrize("name", [n for n in target_names() if n.startswith("trt")])
def test_every_target_has_rules(name: str) -> None:
    target = load_target(name)
    rules = rules_for(target)
    held = [known for known in all_rules() if known.holds_for(target)]
    asked = {known for found in rules.exact.values() for known in found} | set(rules.everywhere)
    asked |= {*rules.whole, *rules.files}
    assert {known.id for known in held} == {known.id for known in asked}


def test_every_rule_says_where_it_was_read_and_speaks_to_the_user() -> None:
    for known in all_rules():
        assert known.source, known.id
        assert known.message.endswith("."), known.id
        assert feature(known.feature) == known.feature
        assert known.id == known.id.lower()


PADDED = (
    "(float[1,1,H,W] x) => (float[1,1,a,b] y) <int64[2] back = {-1, 2}, int64[1] flat = {-1}> "
    "{ s = Shape (x) w = Reshape (s, back) t = Transpose <perm = [1, 0]> (w) "
    "p = Reshape (t, flat) q = Concat <axis = 0> (p, p) y = Pad (x, q) }"
)


def test_the_node_that_the_parser_names_is_named_with_the_one_at_fault() -> None:
    found = check(model_of(PADDED), "trt8.6")
    at_pad = [f for f in found if f.node.op == "Pad"]
    assert [(f.rule, f.feature, str(f.severity)) for f in at_pad] == [
        ("reported-here", "shape:Reshape.rank2", "reject")
    ]
    assert at_pad[0].message.startswith("TensorRT stops here because of Reshape: ")
    assert at_pad[0].node.index == 5
    assert [f.node.op for f in found if f.rule == "shape-of-rank-2"] == ["Reshape"]


def test_what_stops_in_a_body_is_reported_at_the_node_around_it() -> None:
    text = (
        "(bool c, float[2] x) => (float[2] y) { y = If (c) <"
        "then_branch = t () => (float[2] a) { a = Celu (x) d = Det (x) }, "
        "else_branch = e () => (float[2] b) { b = Neg (x) }> }"
    )
    found = _blocking(model_of(text))
    assert ("operator-not-supported", "op:Det", "reject", "Det") in found
    assert ("reported-here", "op:Det", "reject", "If") in found


def test_what_stops_in_a_function_is_reported_at_its_call() -> None:
    found = _blocking(model_of(CALL, functions=TWICE), "trt10.1")
    assert ("reported-here", "op:Det", "reject", "Twice") in found


def test_a_complaint_of_shape_inference_names_its_node() -> None:
    text = (
        "(float[1,1,4,4] x) => (float[a,b,c,d] y) <int64[1] k = {2}, float[2] s = {8, 8}> "
        "{ t = Shape <start = 0, end = 2> (x) q = Cast <to = 7> (s) z = Concat <axis = 0> (t, q) "
        "y = Resize (x, , , z) }"
    )
    found = _blocking(model_of(text, opset=18))
    assert ("misread-form", "form:Shape.start-end", "reject", "Resize") in found


def test_a_reshape_to_a_computed_shape_of_another_volume() -> None:
    text = (
        "(float[2,3,5] x) => (float[2,3,1] y) <int64[1] a = {2}, int64[1] z = {0}, "
        "int64[1] e = {-1}> { m = ReduceMean (x, a) s = Shape (x) p = Slice (s, z, e) n = Neg (e) "
        "o = ConstantOfShape <value = int64[1] {1}> (n) r = Concat <axis = 0> (p, o) "
        "y = Reshape (m, r) }"
    )
    found = _blocking(model_of(text, opset=18))
    assert found[-1] == ("misread-form", "form:ReduceMean.axes-input", "reject", "Reshape")
