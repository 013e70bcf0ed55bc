"""output-type-declaration: an output without a type gets the one that its nodes give."""

from typing import Any

import numpy as np
import onnx
import pytest

import graphfix
from graphfix.report import IoChange
from graphfix.testing import assert_rewrite, parse, run_pass
from tests.engines.cases import check

PASS = "output-type-declaration"
HEAD = '<ir_version: 8, opset_import: ["": 17]> g '


def untyped(text: str) -> onnx.ModelProto:
    """Return a model none of whose outputs says a type."""
    proto = parse(HEAD + text)
    for info in proto.graph.output:
        info.ClearField("type")
    return proto


@pytest.mark.parametrize("kind", ["float", "float16", "int32", "int64", "bool"])
def test_every_type(kind: str) -> None:
    proto = untyped(f"({kind}[N,3] x) => ({kind}[N,3] y) {{ y = Identity (x) }}")
    dtype = {"float": "float32"}.get(kind, kind)
    done = assert_rewrite(PASS, proto, feeds=[{"x": np.ones((2, 3), dtype)}])
    assert done.after.graph.output[0].type.tensor_type.elem_type == (
        proto.graph.input[0].type.tensor_type.elem_type
    )


def test_the_shape_that_is_declared_stays() -> None:
    proto = parse(HEAD + "(float[2,3] x) => (float[M,3] y) { y = Relu (x) }")
    proto.graph.output[0].type.tensor_type.elem_type = 0
    done = run_pass(PASS, proto)  # onnxruntime does not load what has a shape and no type
    kind = done.after.graph.output[0].type.tensor_type
    assert (kind.elem_type, kind.shape.dim[0].dim_param) == (onnx.TensorProto.FLOAT, "M")


def test_what_a_branch_gives() -> None:
    proto = untyped(
        "(bool c, float[3] x) => (float[3] y) { y = If (c) <then_branch = t () => (float[3] p)"
        " { p = Relu (x) }, else_branch = e () => (float[3] q) { q = Neg (x) }> }"
    )
    feed: dict[str, Any] = {"c": np.array(True), "x": np.array([1, -2, 3], np.float32)}
    done = assert_rewrite(PASS, proto, feeds=[feed])
    assert done.after.graph.output[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT


def test_sequences_and_maps() -> None:
    """What a tool lost of a classifier's ZipMap comes back, and the classifier is replaced."""
    proto = untyped("(float[N,2] x) => (seq(float[N,2]) y) { y = SequenceConstruct (x) }")
    done = assert_rewrite(PASS, proto, feeds=[{"x": np.ones((2, 2), np.float32)}])
    kind = done.after.graph.output[0].type
    assert kind.sequence_type.elem_type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]> g (float[N,2] x) => '
        "(float[N,2] y) { p = ai.onnx.ml.Normalizer (x) "
        "y = ai.onnx.ml.ZipMap <classlabels_int64s = [0,1]> (p) }"
    )
    maps = parse(text)
    maps.graph.output[0].ClearField("type")
    result = graphfix.run(maps, "trt8")
    assert result.report.io_changes == (IoChange("y", "unknown type", "sequence of map"),)
    left = {f.feature for f in result.report.findings_after if f.blocks}
    assert left == {"io:sequence-output", "op:ai.onnx.ml::ZipMap"}
    assert graphfix.run(maps, "trt8", allow_io_change=True).exit_code == 0


@pytest.mark.parametrize("target", ["trt7.0", "trt8.6", "trt10.1", "trt-rtx1.7", "opencv5.0"])
def test_engines_that_read_the_type_from_the_file(target: str) -> None:
    proto = untyped("(float[2,3] x) => (float[2,3] y) { y = Relu (x) }")
    found = {f.feature for f in check(proto, target) if f.blocks} - {"io:no-shape"}
    assert found == {"io:undeclared-output"}  # it has no shape either, which OpenCV says apart
    result = graphfix.run(proto, target)
    assert result.exit_code == 0
    assert result.report.io_changes == (IoChange("y", "unknown type", "float32[2, 3]"),)
    assert not [f for f in check(result.model.to_proto(), target) if f.blocks]
