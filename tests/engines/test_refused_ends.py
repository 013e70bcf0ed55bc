"""Sparse initializers and empty outputs, which several engines refuse."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphfix.engines.targets import load_target
from tests.engines.cases import check, model_of


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
