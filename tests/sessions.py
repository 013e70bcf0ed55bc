"""Running one model on many inputs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from onnx import ModelProto


def session_of(model: ModelProto) -> Any:
    """Return an onnxruntime session that runs a model as it is written."""
    onnxruntime: Any = import_module("onnxruntime")  # it has no types
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
