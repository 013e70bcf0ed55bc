"""Run ONNX files in the HTP backend of QNN, simulated on the CPU, by onnxruntime's provider.

It is self-contained: Python 3.8 or newer, numpy, onnx and `onnxruntime-qnn`. No node may be left to
the CPU, and nothing is quantized: floats are computed in float16.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

onnx: Any = import_module("onnx")
onnxruntime: Any = import_module("onnxruntime")
qnn: Any = import_module("onnxruntime_qnn")

_NAME = "QNN"
# Snapdragon X Elite. Without a name the simulation computes in float32, which no device does.
_OPTIONS = {"backend_path": qnn.get_qnn_htp_path(), "soc_model": "60"}
_ALONE = "session.disable_cpu_ep_fallback"
_FOLDER = "session.model_external_initializers_file_folder_path"
_RECORDED = "session.record_ep_graph_assignment_info"
_LEFT = "assigned to the default CPU EP"
_SILENT = 4
_NAMED = 20  # of the nodes that are left to the CPU

onnxruntime.set_default_logger_severity(_SILENT)
onnxruntime.register_execution_provider_library(_NAME, qnn.get_library_path())


class RefusedError(Exception):
    """Nodes are left to the CPU."""

    stage = "assign"


def version() -> str:
    """Return the version of the provider."""
    return _version("onnxruntime-qnn")


def load(
    path: str, shapes: dict[str, list[int]]
) -> Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]:
    """Prepare a file for inputs of these shapes.

    Args:
        path: The .onnx file.
        shapes: The name of an input -> its shape, to which open sizes are bound.

    Returns:
        A function from the inputs by name to the outputs by name.

    Raises:
        RefusedError: A node is left to the CPU.
    """
    model = _bound(path, shapes)
    try:
        session = _session(model, path, {_ALONE: "1"})
    except Exception as error:  # onnxruntime's have no common base
        if _LEFT not in str(error):
            raise
        raise RefusedError(_left(model, path)) from None
    outputs = [output.name for output in session.get_outputs()]

    def run(feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return dict(zip(outputs, session.run(None, feed)))  # noqa: B905 (Python 3.8 has none)

    return run


def _session(model: bytes, path: str, entries: dict[str, str]) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = _SILENT
    options.add_session_config_entry(_FOLDER, os.path.dirname(os.path.abspath(path)))
    for key, value in entries.items():
        options.add_session_config_entry(key, value)
    device = next(d for d in onnxruntime.get_ep_devices() if d.ep_name == _NAME)
    options.add_provider_for_devices([device], _OPTIONS)
    session = onnxruntime.InferenceSession(model, options)
    session.disable_fallback()  # to the CPU, where a run fails
    return session


def _left(model: bytes, path: str) -> str:
    """Say which nodes are left to the CPU."""
    nodes = [
        f"{node.op_type}('{node.name}')"
        for group in _session(model, path, {_RECORDED: "1"}).get_provider_graph_assignment_info()
        if group.ep_name != _NAME
        for node in group.get_nodes()
    ]
    more = f" and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else ""
    return f"left to the CPU: {', '.join(nodes[:_NAMED])}{more}"


def _bound(path: str, shapes: dict[str, list[int]]) -> bytes:
    model = onnx.load(path, load_external_data=False)
    for info in model.graph.input:
        for dim, size in zip(info.type.tensor_type.shape.dim, shapes.get(info.name, ())):  # noqa: B905
            dim.dim_value = size
    for node in model.graph.node:
        node.name = node.name or next((name for name in node.output if name), "")
    serialized: bytes = model.SerializeToString()
    return serialized
