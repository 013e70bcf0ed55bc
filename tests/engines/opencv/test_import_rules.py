"""What OpenCV 4 makes of operands that are computed, vectors, and padding by the producer."""

from __future__ import annotations

import onnx
import pytest

import graphfix
from tests.engines.cases import No, Yes, assert_no, assert_yes, check, model_of

OLD, NEW = "opencv4.10", "opencv5.0"
ROW = "<int64 i = {0}, float k = {2.0}> { r = Gather (x, i) y = Mul (r, k) }"
NORMAL = "(float[1,2,2] x) => (float[1,2,2] n, float[1,2,2] y) <float[2] s = {1.0, 2.0}>"
ADJACENT = "f = Cast <to = 1> (s) y = Add (x, f)"
PLACE = "i = Constant <value = int64[1] {1}> () z = Gather <axis = 1> (x, i)"
CAST = f"{PLACE} y = Cast <to = 7> (z)"
POOL = "kernel_shape = [3, 3], strides = [2, 2]"
IMAGE = "(float[1,2,8,8] x) => (float[1,2,A,B] y)"

YES = [
    Yes(f"{NORMAL} {{ n = InstanceNormalization (x, s, s) y = Add (s, x) }}",
        "shared-constant", "const:InstanceNormalization.shared", "wrong", "LayerNorm", OLD),
    Yes(f"{NORMAL} {{ n = InstanceNormalization (x, s, s) r = Relu (x)"
        " y = LayerNormalization (r, s, s) }",
        "shared-constant", "const:InstanceNormalization.shared", "reject", "LayerNorm", OLD),
    Yes(f"{NORMAL} {{ n = InstanceNormalization (x, s, s) r = Relu (x) y = Mul (r, s) }}",
        "shared-constant", "const:InstanceNormalization.shared", "wrong", "LayerNorm", OLD),
    Yes("(float[2,3] x, float[2] u) => (float[2,3] y) { y = Relu (x) }",
        "unused-input", "io:unused-input", "reject", "requiredOutputs", OLD),
    Yes("(float[2,3] x, float[3,2] u) => (float[3,2] y) { s = Shape (u) y = Reshape (x, s) }",
        "unused-input", "io:unused-input", "reject", "requiredOutputs", OLD),
    Yes(f"(float[2,4] x) => (float[4] y) {ROW}",
        "vector-with-another", "rank:Mul.1", "wrong", "", OLD),
    Yes("(float[2,4] x, float[4] z) => (float[4] y) <int64 i = {0}>"
        " { r = Gather (x, i) y = Mul (r, z) }",
        "vector-with-another", "rank:Mul.1", "wrong", "", OLD),
    Yes("(float[4] x, float[2,4] z) => (float[2,4] y) { y = Mul (x, z) }",
        "vector-with-another", "rank:Mul.1", "reject", "", OLD),
    Yes("(float[2,3] x, int64 i) => (float[3] y) { y = Gather (x, i) }",
        "gather-by-vector", "rank:Gather.1", "wrong", "", OLD),
    Yes("(float[1,4] x, int64[2] s) => (float[A,B] y) { y = Expand (x, s) }",
        "computed-operand", "const:Expand.shape", "reject", "getBlob", OLD),
    Yes("(float[3,4] x, int64[1] s) => (float[A,4] y) <int64[1] e = {3}> { y = Slice (x, s, e) }",
        "computed-operand", "const:Slice.starts", "reject", "getBlob", OLD),
    Yes("(float[3,4] x, float l) => (float[3,4] y) { y = Clip (x, l) }",
        "computed-operand", "const:Clip.min", "reject", "getBlob", OLD),
    Yes("(float[3,4] x, int64[1] a) => (float[A,B] y) { y = ReduceSum (x, a) }",
        "computed-axes", "const:ReduceSum.axes", "wrong", "", OLD),
    Yes("(float[1,2,9] x) => (float[1,2,9] y) <float[2,1,3] w = {1.0,2.0,3.0,4.0,5.0,6.0}>"
        " { y = Conv <kernel_shape = [3], pads = [2, 0], group = 2> (x, w) }",
        "pads-of-lines", "rank:Conv.3", "wrong", "", OLD),
    Yes("(float[1,2,9] x) => (float[1,2,8] y) { y = MaxPool <kernel_shape = [3], pads = [0, 1]>"
        " (x) }", "pads-of-lines", "rank:MaxPool.3", "wrong", "", OLD),
    Yes("(float[1,1,4,4] x) => (float[1,1,A,B] y) <float[1,1,1,1] w = {1.0}> { y = ConvTranspose"
        " <kernel_shape = [1, 1], pads = [1, 0, 0, 0]> (x, w) }",
        "conv-transpose-pads", "attr:ConvTranspose.pads", "reject", "asymmetric", OLD),
    Yes("(float[1,2,9,9] x) => (float[1,2,3,3] y) { y = MaxPool <kernel_shape = [2, 2],"
        " strides = [3, 3], ceil_mode = 1> (x) }",
        "pool-behind-the-end", "attr:MaxPool.ceil_mode", "wrong", "", NEW),
    Yes(f"{IMAGE} {{ y = AveragePool <{POOL}, ceil_mode = 1, count_include_pad = 1> (x) }}",
        "average-beyond-padding", "attr:AveragePool.count_include_pad", "wrong", "", NEW, 19),
    Yes("(float[1,2,2] x) => (float[1,2,2] y, float[1,2,2] n) <float[2] k = {1.0, 2.0},"
        " float[2] s = {1.0, 1.0}, float[2,2] w = {1.0, 2.0, 3.0, 4.0}>"
        " { n = InstanceNormalization (x, s, k) t = MatMul (x, w) y = Add (k, t) }",
        "shared-constant", "const:InstanceNormalization.shared", "reject", "three", OLD),
    Yes("(float[2,3] x) => (float[2,3] y) <float[3] k = {1.0, 2.0, 3.0}>"
        " { s = Sqrt (x) d = Div (x, s) y = Mul (k, d) }",
        "weights-first", "form:Mul.constant-first", "reject", "LayerNorm2", NEW),
    Yes(f"(float[3,3] x) => (float[3,3] y) <int64[3,1] a = {{1, 2, 3}}, int64[3] v = {{4, 5, 6}}>"
        f" {{ m = Mul (v, v) s = Sub (m, a) {ADJACENT} }}",
        "known-vector-with-another", "rank:Sub.1", "wrong", "findCommonShape", OLD),
    Yes(f"(float[2,3] x) => (float[2,3] y) <int64[2,1] a = {{1, 2}}, int64[3] v = {{4, 5, 6}}>"
        f" {{ s = Add (a, v) {ADJACENT} }}",
        "known-vector-with-another", "rank:Add.1", "reject", "findCommonShape", OLD),
    Yes(f"(float[2,3] x) => (int64[2,1] y) {{ {CAST} }}",
        "axis-left-out", "form:Constant.place-of-a-cast", "wrong", "", OLD),
    Yes(f"(float[1,3] x) => (int64[1,1] y) {{ {CAST} }}",
        "axis-left-out", "form:Constant.place-of-a-cast", "reject", "axis >= -dims", OLD),
    Yes(f"(float[2,3] x) => (int64[2,1] y, float[2,1] z) {{ {CAST} }}",
        "axis-left-out", "form:Constant.place-of-a-cast", "reject", "", OLD),
]  # fmt: skip

NO = [
    No(f"{NORMAL} {{ r = Relu (x) y = LayerNormalization (r, s, s)"
       " n = InstanceNormalization (x, s, s) }", "shared-constant", OLD),
    No(f"{NORMAL} {{ n = InstanceNormalization (x, s, s) y = InstanceNormalization (n, s, s) }}",
       "shared-constant", OLD),
    No(f"(float[3,3] x) => (float[3,3] y) <int64[3,1] a = {{1, 2, 3}}, int64[3] v = {{4, 5, 6}},"
       f" int64[3] i = {{0, 1, 2}}> {{ g = Gather (v, i) s = Add (a, g) {ADJACENT} }}",
       "known-vector-with-another", OLD),
    No(f"(float[3,1] x) => (float[3,1] y) <int64[3,1] a = {{1, 2, 3}}, int64[1] v = {{4}}>"
       f" {{ s = Add (a, v) {ADJACENT} }}", "known-vector-with-another", OLD),
    No(f"(float[2,3] x) => (float[2,3] y) <int64[2,1] a = {{1, 2}}, int64[3] v = {{4, 5, 6}}>"
       f" {{ s = Add (a, v) {ADJACENT} }}", "known-vector-with-another", NEW),
    No("(float[2,3] x) => (int64[1,3] y) { i = Constant <value = int64[1] {1}> ()"
       " z = Gather (x, i) y = Cast <to = 7> (z) }", "axis-left-out", OLD),
    No("(float[2,3] x) => (int64[2,1] y) <int64[1] i = {1}>"
       " { z = Gather <axis = 1> (x, i) y = Cast <to = 7> (z) }", "axis-left-out", OLD),
    No(f"(float[2,3] x) => (int64[2,1] y, float[2,1] w) {{ {CAST} w = Neg (z) }}",
       "axis-left-out", OLD),
    No(f"(float[2,3] x) => (int64[2,1] y) {{ {CAST} }}", "axis-left-out", NEW),
    No("(float[2,3] x) => (float[2,3] y) <float[3] k = {1.0, 2.0, 3.0}>"
       " { s = Sqrt (x) d = Div (x, s) y = Mul (d, k) }", "weights-first", NEW),
    No("(float[2,3] x, float[2,3] u) => (float[2,3] y) { y = Add (x, u) }", "unused-input", OLD),
    No("(float[2,3] x, float[2] u) => (float[2,3] y) { y = Relu (x) }", "unused-input", NEW),
    No(f"(float[2,4] x) => (float[4] y) {ROW}", "vector-with-another", NEW),
    No("(float[4] x, float[4] z) => (float[4] y) { y = Mul (x, z) }", "vector-with-another", OLD),
    No("(float[2,3] x) => (float[3] y) <int64 i = {1}> { y = Gather (x, i) }",
       "gather-by-vector", OLD),
    No("(float[3,1] x, float[3,4] z) => (float[3,4] y) { s = Shape (z) y = Expand (x, s) }",
       "computed-operand", OLD),
    No("(float[1,4] x, int64[2] s) => (float[A,B] y) { y = Expand (x, s) }",
       "computed-operand", NEW),
    No("(float[3,4] x) => (float[1,4] y) <int64[1] a = {0}> { y = ReduceSum (x, a) }",
       "computed-axes", OLD),
    No("(float[1,2,9] x) => (float[1,2,9] y) { y = MaxPool <kernel_shape = [3], pads = [1, 1]>"
       " (x) }", "pads-of-lines", OLD),
    No("(float[1,2,9,9] x) => (float[1,2,A,B] y) { y = MaxPool <kernel_shape = [2, 2],"
       " strides = [2, 2], ceil_mode = 1> (x) }", "pool-behind-the-end", NEW),
    No(f"{IMAGE} {{ y = AveragePool <{POOL}, ceil_mode = 1> (x) }}",
       "average-beyond-padding", NEW, 19),
]  # fmt: skip


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.target}")
def test_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}")
def test_no(case: No) -> None:
    assert_no(case)


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
