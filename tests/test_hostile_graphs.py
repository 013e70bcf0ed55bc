"""Graphs that a format allows and no exporter writes: what they cost, and the errors that leave."""

from __future__ import annotations

import itertools
import time

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper

import graphfix
from graphfix.analysis.inference import infer_proto
from graphfix.errors import InvalidModel
from graphfix.ir.importing import Definitions
from graphfix.ir.storage import vetting
from tests.hostile_models import doubling, model


def test_functions_that_come_to_many_nodes_are_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert graphfix.check(doubling(4), "trt8")[0].feature == "scope:local-function"
    # 2 + 4 + 8 calls and 16 nodes in the functions, one call of the last.
    monkeypatch.setattr(vetting, "MAX_EXPANDED", 31)
    vetting.check_expansion(doubling(4))
    wide = doubling(7)
    with pytest.raises(InvalidModel, match="come to 255 nodes once they are called"):
        vetting.check_expansion(wide)


def test_a_concat_that_doubles_is_not_written_out_by_inference() -> None:
    names = [f"t{i}" for i in range(61)]
    nodes = [helper.make_node("Concat", [a, a], [b], axis=0) for a, b in itertools.pairwise(names)]
    y = helper.make_tensor_value_info("t60", TensorProto.INT64, None)
    start = onnx.numpy_helper.from_array(np.arange(2, dtype=np.int64), "t0")
    graph = helper.make_graph(nodes, "g", [], [y], [start])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert isinstance(graphfix.check(proto, "trt8"), tuple)
    assert graphfix.run(proto, "trt8", verify="off").model.node_count() > 0


def test_a_node_of_many_outputs_costs_no_more_for_each_than_one_of_few() -> None:
    node = helper.make_node("Split", ["x"], [f"y{i}" for i in range(50_000)])
    definitions = Definitions("main")
    start = time.process_time()
    for name in node.output:
        definitions.written(name, 0, node)
    assert time.process_time() - start < 5  # 10 minutes, where each looks at all
    with pytest.raises(InvalidModel, match=r"node 0 \(Split\) writes 'y7' twice"):
        definitions.written("y7", 0, node)


def test_subgraphs_in_subgraphs_are_walked_in_the_order_of_the_file() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (bool c, float[1] x) => (float[1] y, '
        "float[1] z) { y = If(c) <then_branch = a () => (float[1] t) { t = If(c) "
        "<then_branch = b () => (float[1] p) { p = Neg(x) }, "
        "else_branch = d () => (float[1] q) { q = Neg(x) }> }, "
        "else_branch = e () => (float[1] u) { u = Neg(x) }> "
        "z = If(c) <then_branch = f () => (float[1] v) { v = Neg(x) }, "
        "else_branch = h () => (float[1] w) { w = Neg(x) }> }"
    )
    loaded = graphfix.load(onnx.parser.parse_model(text))
    assert [graph.name for graph in loaded.graph.walk()] == list("gabdefh")


def test_an_attribute_of_another_type_is_refused_by_what_reads_it() -> None:
    proto = model()
    del proto.graph.node[0].attribute[:]
    proto.graph.node[0].attribute.append(helper.make_attribute("fmod", ["no", "number"]))
    found = graphfix.check(proto, "trt8")
    assert any("Mod" in f.message for f in found)
    outcomes = graphfix.run(proto, "trt8", verify="off").report.outcomes
    assert not [o for o in outcomes if o.status.value == "failed"]


def test_values_that_fill_the_memory_leave_the_types(monkeypatch: pytest.MonkeyPatch) -> None:
    infer = onnx.shape_inference.infer_shapes

    def short_of_memory(proto: ModelProto, *, data_prop: bool = False) -> ModelProto:
        if data_prop:
            raise MemoryError
        return infer(proto)

    monkeypatch.setattr(onnx.shape_inference, "infer_shapes", short_of_memory)
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[N] y) '
        "{ a = Relu (x) y = Mul (a, x) }"
    )
    assert [info.name for info in infer_proto(proto).graph.value_info] == ["a"]


def test_a_constant_whose_value_is_no_tensor_is_no_known_constant() -> None:
    proto = onnx.parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17, "aten" : 1]> g (float[1,2,5,5] x) => (float[N] y) '
        "{ s = Constant <value = int64[2] {3, 3}> () y = aten.adaptive_avg_pool2d (x, s) }"
    )
    value = proto.graph.node[0].attribute[0]
    value.CopyFrom(helper.make_attribute("value", 2.5))
    for target in ("trt8", "ort-1.20"):
        assert graphfix.run(proto, target=target, verify="off").exit_code == 1
