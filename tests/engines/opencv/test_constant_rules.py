"""What OpenCV 4 computes at import, and what it cannot compute there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import external_data_helper, numpy_helper

import graphfix
from tests.engines.cases import No, Yes, assert_no, assert_yes, check, model_of

OLD, OLDEST, NEW = "opencv4.10", "opencv4.8", "opencv5.0"
MATRIX = "(float[2,2] x) => (float[2,2] y) <float[2,2] c = {1.0,2.0,3.0,4.0}>"
SIZES = "(float[2,3] x) => (float[A,B] y) <int64[1] i = {0}, int64[1] k = {2}>"

YES = [
    Yes(f"{MATRIX} {{ d = Neg (c) y = Add (x, d) }}",
        "layer-of-constants", "const:Neg.operands", "reject", "getMemoryShapes", OLD),
    Yes(f"{SIZES} {{ s = Shape (x) m = ReduceProd <keepdims = 1> (s) y = Reshape (x, m) }}",
        "layer-of-constants", "const:ReduceProd.operands", "reject", "", OLD),
    Yes(f"{MATRIX} {{ d = Softmax (c) y = Add (x, d) }}",
        "layer-of-constants", "const:Softmax.operands", "reject", "getMemoryShapes", OLD),
    Yes("(float[1,2] x) => (float[1,2] y) <int64[1] z = {0}>"
        " { s = Shape (x) g = Gather (s, z) d = Squeeze (g, z) f = Cast <to = 1> (d)"
        " y = Mul (x, f) }",
        "squeeze-of-constants", "const:Squeeze.operands", "reject", "reshape", OLD),
    Yes("(float[2,8,3] x) => (float[2,24] y) <int64[1] m = {-1}> { s = Shape <end = 1> (x)"
        " c = Concat <axis = 0> (s, m) y = Reshape (x, c) }",
        "part-of-a-shape", "attr:Shape.start", "reject", "maskTotal", OLD, 18),
    Yes("(float[2,8,3] x) => (int64[1] s, float[2,8,3] y)"
        " { s = Shape <end = 1> (x) y = Relu (x) }",
        "part-of-a-shape", "attr:Shape.start", "wrong", "maskTotal", OLD, 18),
    Yes("(float[2,12] x) => (float[A,B] y) <int64[1] k = {2}, int64[1] e = {9}, int64[1] z = {0}>"
        " { s = Shape (x) b = Slice (s, k, e, z) c = Concat <axis = 0> (s, b)"
        " y = Reshape (x, c) }",
        "empty-slice", "shape:Slice.empty", "reject", "SliceLayerImpl", OLD),
    Yes(f"{SIZES} {{ s = Shape (x) b = ScatterElements <axis = 0> (s, i, k) y = Reshape (x, b) }}",
        "scatter-into-sizes", "dtype:ScatterElements.int64", "reject", "Mixed", OLD),
    Yes("(float[2,3] x) => (float[2,3] y) { i = Constant <value = int64 {0}> () s = Shape (x)"
        " h = Constant <value = float {0.5}> () g = Gather (s, i) f = Cast <to = 1> (g)"
        " p = Pow (f, h) y = Mul (x, p) }",
        "size-with-a-fraction", "dtype:Pow.float32", "reject", "Mixed", OLD),
    Yes("(float[3,3] x) => (float[3,3] y) <float[3] c = {1.0,2.0,3.0}, int64[1] o = {0}>"
        " { m = Mul (c, c) u = Unsqueeze (m, o) y = Mul (x, u) }",
        "unsqueeze-of-known-vector", "const:Unsqueeze.vector", "wrong", "", OLD),
    Yes("(float[2,3] x) => (float[2,3] y) <float[1] k = {2.0}, int64[2] s = {2, 3}>"
        " { e = Expand (k, s) y = Add (x, e) }",
        "expand-of-constant", "const:Expand.input", "wrong", "", OLD),
    Yes("(float[2,6,1] x) => (float[2,6,1] y) <float k = {2.0}, int64[3] s = {2, 6, 1}>"
        " { e = Expand (k, s) y = Add (x, e) }",
        "expand-of-constant", "const:Expand.input", "reject", "dst_dp", OLD),
    Yes("(float[2,4,3] x) => (float[2,4,3] y) <float[3] c = {1.0,2.0,3.0}>"
        " { d = Identity (c) y = Add (x, d) }",
        "vector-with-another", "rank:Add.1", "reject", "", OLD),
    Yes("(float[3,3] x) => (float[3,3] y) <float[3] c = {1.0,2.0,3.0}>"
        " { d = Identity (c) y = Add (x, d) }",
        "vector-with-another", "rank:Add.1", "wrong", "", OLD),
    Yes("(int64[2] x, int64[2] d) => (int64[2] y) { y = Div (x, d) }",
        "quotient-of-integers", "dtype:Div.int64", "wrong", "", OLD),
]  # fmt: skip

NO = [
    No(f"{MATRIX} {{ d = Softmax (c) y = Add (x, d) }}", "layer-of-constants", OLDEST),
    No(f"{MATRIX} {{ d = Exp (c) e = Gemm (c, c) f = Add (d, e) y = Add (x, f) }}",
       "layer-of-constants", OLD),
    No(f"{MATRIX} {{ d = Neg (c) y = Add (x, d) }}", "layer-of-constants", NEW),
    No("(float[2,3] x) => (float[2,3] y) { s = Shape <start = 0> (x) y = Reshape (x, s) }",
       "part-of-a-shape", OLD, 18),
    No("(float[2,3] x) => (float[2,3] y) <int64 i = {0}, float h = {0.5}> { s = Shape (x)"
       " g = Gather (s, i) f = Cast <to = 1> (g) p = Pow (f, h) y = Mul (x, p) }",
       "size-with-a-fraction", OLD),
    No("(float[3,3] x) => (float[3,3] y) <float[3] c = {1.0,2.0,3.0}, int64[1] o = {0}>"
       " { u = Unsqueeze (c, o) y = Mul (x, u) }", "unsqueeze-of-known-vector", OLD),
    No("(float[2,6,1] x) => (float[2,6,1] y) <float[1] k = {2.0}, int64[3] s = {2, 6, 1}>"
       " { e = Expand (k, s) y = Add (x, e) }", "expand-of-constant", OLD),
    No("(float[2,3] x) => (float[2,3] y) <float[1,3] k = {2.0,3.0,4.0}, int64[2] s = {2, 3}>"
       " { e = Expand (k, s) y = Add (x, e) }", "expand-of-constant", OLD),
    No("(float[2,15] x) => (float[2,3,5] y) <int64[1] k = {5}, int64[1] e = {17},"
       " int64[1] t = {2}> { m = Div (e, k) c = Concat <axis = 0> (t, m, k) y = Reshape (x, c) }",
       "quotient-of-integers", OLD),
    No("(float[1,4] x, float[3] c) => (float[1,3] y) <float[4,3] w = {1.0,1.0,1.0,1.0,1.0,1.0,"
       "1.0,1.0,1.0,1.0,1.0,1.0}> { y = Gemm (x, w, c) }", "gemm-vector", OLD),
]  # fmt: skip


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.feature}")
def test_a_rule_says_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}")
def test_a_rule_says_nothing(case: No) -> None:
    assert_no(case)


@pytest.mark.parametrize("target", [OLD, NEW])
def test_linear_upsample_of_pytorch_is_computed_differently_and_not_refused(target: str) -> None:
    model = model_of(
        "(float[1,1,4,4] x) => (float[1,1,8,8] y) <float[4] s = {1.0,1.0,2.0,2.0}>"
        ' { y = Upsample <mode = "linear"> (x, s) }',
        9,
    )
    assert "reject" in {str(finding.severity) for finding in check(model, target)}
    model.producer_name = "pytorch"
    assert {str(finding.severity) for finding in check(model, target)} == {"wrong"}


def test_initializers_that_a_caller_may_override_are_constants() -> None:
    model = model_of(
        "(float[1,1,4,4] x, float[1] a) => (float[1,1,4,4] y) <float[1] a = {1.0}>"
        " { y = BatchNormalization (x, a, a, a, a) }"
    )
    assert check(model, OLD) == ()


def test_weights_in_a_file_of_their_own_are_refused(tmp_path: Path) -> None:
    model = model_of(
        "(float[2,2] x) => (float[2,2] y) <float[2,2] w = {1.0,2.0,3.0,4.0}> { y = MatMul (x, w) }"
    )
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.eye(2, dtype=np.float32), "w"))
    path = tmp_path / "model.onnx"
    external_data_helper.convert_model_to_external_data(model, location="w.bin", size_threshold=0)
    external_data_helper.write_external_data_tensors(model, str(tmp_path))
    path.write_bytes(model.SerializeToString())
    assert [found.feature for found in graphfix.check(path, OLD)] == ["form:external-data"]
    assert graphfix.check(path, NEW) == ()
