"""Sparse initializers and empty outputs, which several engines refuse."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphfix.engines.targets import load_target
from tests.engines.cases import No, Yes, assert_no, assert_yes, check, model_of

EMPTY = "(float[2,3] x) => (float[2,3] y, float[0,3] z) <int64[1] a = {0}, int64[1] b = {0}>"

WEIGHTS = ", ".join(str(k / 8) for k in range(16))


def with_sparse() -> onnx.ModelProto:
    model = model_of("(float[2,2] x) => (float[2,2] y) { y = Add (x, k) }")
    values = onnx.numpy_helper.from_array(np.ones(1, np.float32), "k")
    places = onnx.numpy_helper.from_array(np.zeros(1, np.int64), "places")
    model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, places, [2, 2]))
    return model


@pytest.mark.parametrize(
    "target",
    ["mnn3.6", "tract0.23", "tvm0.27", "openvino2026.4", "ncnn1.0", "tflite1.29", "rknn2.3"],
)
def test_a_sparse_initializer_is_refused(target: str) -> None:
    found = [f for f in check(with_sparse(), target) if f.feature == "io:sparse-initializer"]
    title = load_target(target).title
    message = f"{title} does not support the sparse initializer k"
    assert [(str(f.severity), f.message) for f in found] == [("reject", message)]


def test_onnxruntime_and_qnn_read_sparse_initializers() -> None:
    for target in ("ort1.20", "qnn2"):
        features = {f.feature for f in check(with_sparse(), target)}
        assert "io:sparse-initializer" not in features


@pytest.mark.parametrize("target", ["mnn3.6", "rknn2.3", "opencv5.0"])
def test_an_empty_output_is_refused(target: str) -> None:
    graph = f"{EMPTY} {{ y = Relu (x) z = Slice (x, a, b) }}"
    assert_yes(Yes(graph, "empty-output", "io:empty-output", "reject", "", target))
    plain = "(float[2,3] x) => (float[2,3] y) { y = Relu (x) }"
    assert_no(No(plain, "empty-output", target))


@pytest.mark.parametrize(
    ("graph", "rule", "feature", "severity", "target"),
    [
        (
            f"(float[1,4,4,4] x) => (float[1,8,4,4] y) <float[4,4,1,1] w = {{{WEIGHTS}}}> "
            "{ q = Conv (x, w) y = Concat <axis = 1> (q, x) }",
            "input-of-equal-sizes",
            "io:square-input",
            "wrong",
            "tflite1.29",
        ),
        (
            "(float[1,1,3,3] x, float[1,2,2,2] g) => (float[1,1,2,2] y) "
            '{ y = GridSample <mode = "bicubic"> (x, g) }',
            "grid-sample-cubic",
            "attr:GridSample.mode=bicubic",
            "reject",
            "qnn2",
        ),
        (
            "(float[1,2,3,4,5] x, float[5,2] w) => (float[1,2,3,4,2] y) { y = MatMul (x, w) }",
            "product-of-five-axes",
            "rank:MatMul.5",
            "reject",
            "ncnn1.0",
        ),
        (
            "(float[2,3] x) => (float[2,3] y) { y = RandomNormalLike (x) }",
            "stated-operator",
            "op:RandomNormalLike",
            "reject",
            "tract0.23",
        ),
    ],
)
def test_what_was_measured_is_found(
    graph: str, rule: str, feature: str, severity: str, target: str
) -> None:
    assert_yes(Yes(graph, rule, feature, severity, "", target))


@pytest.mark.parametrize(
    ("graph", "rule", "target"),
    [
        ("(float[3,3] x) => (float[3,3] y) { y = Relu (x) }", "input-of-equal-sizes", "tflite1.29"),
        (
            "(float[2,3,3] x) => (float[2,3,3] y) { y = Relu (x) }",
            "input-of-equal-sizes",
            "tflite1.29",
        ),
        (
            "(float[2,3,3,5] x) => (float[2,3,3,5] y) { y = Relu (x) }",
            "input-of-equal-sizes",
            "tflite1.29",
        ),
        (
            "(float[1,1,3,3] x, float[1,2,2,2] g) => (float[1,1,2,2] y) "
            '{ y = GridSample <mode = "nearest"> (x, g) }',
            "grid-sample-cubic",
            "qnn2",
        ),
        (
            "(float[2,3,4,5] x, float[5,2] w) => (float[2,3,4,2] y) { y = MatMul (x, w) }",
            "product-of-five-axes",
            "ncnn1.0",
        ),
    ],
)
def test_what_is_right_is_not(graph: str, rule: str, target: str) -> None:
    assert_no(No(graph, rule, target))


def test_a_loop_that_reads_halves_from_outside_is_refused_by_mnn() -> None:
    graph = (
        "(float16[2,3] x) => (float16[3] y) {{ k = Constant <value = int64 {{2}}> ()"
        " c = Constant <value = bool {{1}}> () q = Constant <value = float16[3] {{0, 0, 0}}> ()"
        " y = Loop (k, c, q) <body = b (int64 i, bool d, float16[3] v) =>"
        " (bool e, float16[3] w) {{ e = Identity (d) {body} }}> }}"
    )
    outer = graph.format(body="g = Gather (x, i) w = Add (v, g)")
    rule = "loop-that-reads-halves"
    assert_yes(Yes(outer, rule, "dtype:Loop.float16", "reject", "", "mnn3.6"))
    assert_no(No(graph.format(body="w = Add (v, v)"), rule, "mnn3.6"))
