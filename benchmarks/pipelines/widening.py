"""A network of float16 as an engine computes it that has float32 alone: no module of graphfix."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np

_HALF, _FLOAT = 10, 1  # of TensorProto
_TYPES = ("to", "dtype", "output_dtype", "stash_type")


def widened(described: bytes) -> bytes:
    """Return a file that computes in float32 where the given one does in float16.

    Args:
        described: The file. The values of its weights stay as they are; inputs and outputs become
            float32 too.
    """
    onnx: Any = import_module("onnx")
    model = onnx.load_from_string(described)
    _widen([model.graph, *model.functions], onnx)
    return bytes(model.SerializeToString())


def fed(feed: dict[str, Any]) -> dict[str, Any]:
    """Return inputs for the widened file."""
    return {name: _wide(value) for name, value in feed.items()}


def _wide(value: Any) -> Any:
    return value.astype(np.float32) if getattr(value, "dtype", None) == np.float16 else value


def _widen(graphs: Iterable[Any], onnx: Any) -> None:
    for graph in graphs:
        stored = list(getattr(graph, "initializer", ()))
        for name in ("input", "output", "value_info"):
            for info in getattr(graph, name):
                _widen_type(getattr(info, "type", None))  # those of functions are names
        for node in graph.node:
            for each in node.attribute:
                if each.name in _TYPES and each.i == _HALF:
                    each.i = _FLOAT
                stored += [each.t, *each.tensors]
                _widen([each.g, *each.graphs], onnx)
        for tensor in stored:
            if tensor.data_type == _HALF and not tensor.external_data:
                values = onnx.numpy_helper.to_array(tensor).astype(np.float32)
                tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))


def _widen_type(kind: Any) -> None:
    if kind is None:
        return
    held = kind.WhichOneof("value")
    if held == "tensor_type" and kind.tensor_type.elem_type == _HALF:
        kind.tensor_type.elem_type = _FLOAT
    elif held in ("sequence_type", "optional_type"):
        _widen_type(getattr(kind, held).elem_type)
