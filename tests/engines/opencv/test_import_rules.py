"""What OpenCV 4 makes of operands that are computed, vectors, and padding by the producer."""

from __future__ import annotations

import onnx
import pytest

import graphfix
from tests.engines.cases import check, model_of

OLD, NEW = "opencv4.10", "opencv5.0"
POOL = "kernel_shape = [3, 3], strides = [2, 2]"
IMAGE = "(float[1,2,8,8] x) => (float[1,2,A,B] y)"


@pytest.mark.parametrize("producer", ["pytorch", "keras"])
@pytest.mark.parametrize("counted", [0, 1])
@pytest.mark.parametrize("pads", ["1, 1, 1, 1", "0, 0, 0, 0"])
def test_the_producer_says_whether_padding_counts(producer: str, counted: int, pads: str) -> None:
    words = f"{POOL}, pads = [{pads}], count_include_pad = {counted}"
    model = model_of(f"{IMAGE} {{ y = AveragePool <{words}> (x) }}")
    model.producer_name = producer
    found = [f for f in check(model, OLD) if f.rule == "average-of-padding"]
    wanted = "1" in pads and bool(counted) != (producer == "pytorch")
    assert [f.node.op for f in found] == (["AveragePool"] if wanted else [])
    assert not [f for f in check(model, NEW) if f.rule == "average-of-padding"]
    left_out = model_of(f"{IMAGE} {{ y = AveragePool <{POOL}, pads = [{pads}]> (x) }}")
    left_out.producer_name = producer
    newer = [f for f in check(left_out, NEW) if f.rule == "average-of-padding"]
    assert bool(newer) == ("1" in pads and producer == "pytorch")


@pytest.mark.parametrize("target", [OLD, NEW])
def test_quantized_layers_and_sparse_initializers(target: str) -> None:
    graph = (
        "(float[2,3] x) => (float[2,3] y) <float s = {0.5}, int8 z = {3}>"
        " { q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z) }"
    )
    found = [(f.rule, f.feature, str(f.severity)) for f in check(model_of(graph), target)]
    old = [("quantize", "op:QuantizeLinear"), ("layers-of-bytes", "op:DequantizeLinear")]
    new = [
        ("quantize-to-odd-zero", "op:QuantizeLinear"),
        ("dequantize-what-was-misread", "op:DequantizeLinear"),
    ]
    wanted = new if target == NEW else old
    assert [pair for *pair, severity in found if severity == "wrong"] == [list(p) for p in wanted]
    model = model_of("(float[2] x, float[2] w) => (float[2] y) { y = Add (x, w) }")
    sparse = model.graph.sparse_initializer.add()
    sparse.values.name, sparse.values.data_type = "w", onnx.TensorProto.FLOAT
    sparse.values.dims.append(1)
    sparse.values.float_data.append(2.0)
    sparse.indices.data_type = onnx.TensorProto.INT64
    sparse.indices.dims.append(1)
    sparse.indices.int64_data.append(1)
    sparse.dims.append(2)
    assert "io:sparse-initializer" in [f.feature for f in check(model, target)]


def test_an_input_that_is_a_number_is_not_reshaped() -> None:
    graph = "(float x) => (float[1] y) <int64[1] s = {1}> { y = Reshape (x, s) }"
    assert [f.feature for f in check(model_of(graph), OLD) if f.blocks] == ["rank:Reshape.0"]
    assert not [f for f in check(model_of(graph), NEW) if f.blocks]


@pytest.mark.parametrize("target", [OLD, NEW])
def test_an_output_without_elements(target: str) -> None:
    graph = (
        "(float[2,3] x) => (float[2,0] y) <int64[1] s = {0}, int64[1] a = {1}>"
        " { y = Slice (x, s, s, a) }"
    )
    found = [f for f in check(model_of(graph), target) if f.rule == "empty-output"]
    assert [(f.feature, f.message) for f in found] == [
        ("io:empty-output", "graph output y has no elements")
    ]
    given = model_of("(float[2,0] x) => (float[2,0] y) { y = Relu (x) }")
    assert not [f for f in check(given, target) if f.rule == "empty-output"]


def test_attention_and_a_graph_without_nodes() -> None:
    graph = "(float[1,1,2,2] q) => (float[1,1,2,2] y) { y = Attention (q, q, q) }"
    assert "op:Attention" in [f.feature for f in check(model_of(graph, 23), OLD) if f.blocks]
    bare = model_of("(float[2] x) => (float[2] x) { }")
    assert "io:no-layers" in [f.feature for f in check(bare, OLD)]
    assert "io:no-layers" not in [f.feature for f in check(bare, NEW)]


@pytest.mark.parametrize("target", [NEW, "tvm0.27"])
def test_nodes_out_of_order_are_put_in_order(target: str) -> None:
    model = model_of("(float[2] x) => (float[2] y) { y = Neg (h) h = Abs (x) }")
    result = graphfix.run(model, target)
    assert [f.feature for f in result.report.findings_before if f.blocks] == ["model:unsorted"]
    assert not [f for f in result.report.findings_after if f.blocks]
    assert result.exit_code == 0
    assert [node.op_type for node in result.model.to_proto().graph.node] == ["Abs", "Neg"]
