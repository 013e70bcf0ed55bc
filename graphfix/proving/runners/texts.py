"""Texts that onnxruntime loses on the way."""

from __future__ import annotations

import onnx

from graphfix.analysis.shape_inference import infer_shapes
from graphfix.ir.protos import all_graphs, nodes_of_model
from graphfix.proving.runners.evaluators import OpKey, key_of

GATHER: OpKey = ("", "Gather")
_TEXT = onnx.TensorProto.STRING


def gathers_texts(model: onnx.ModelProto) -> bool:
    """Whether a model takes entries out of a tensor of texts by Gather, or may.

    onnxruntime's Gather moves the first text of each run of entries, and leaves the others empty:
    it is right along the last axis alone. Measured with 1.32 and ``Gather <axis = 0> (x, i)``, x of
    [2, 3, 4]; ArrayFeatureExtractor, Compress, Concat, Expand, GatherElements, GatherND, Reshape,
    ReverseSequence, ScatterElements, ScatterND, Slice, Split, Squeeze, Tile, Transpose, Unsqueeze
    and Where move every text.
    """
    if not _has_texts(model):
        return False
    try:
        known = _types(infer_shapes(model))
    except onnx.shape_inference.InferenceError:
        known = _types(model)
    gathers = (n for n in nodes_of_model(model) if key_of(n) == GATHER)
    return any((known.get(node.input[0]) or _TEXT) == _TEXT for node in gathers)


def _has_texts(model: onnx.ModelProto) -> bool:
    if _TEXT in _types(model).values():
        return True
    return any(_makes_texts(node) for node in nodes_of_model(model))


def _types(model: onnx.ModelProto) -> dict[str, int]:
    found: dict[str, int] = {}
    for graph in all_graphs(model.graph):
        for info in (*graph.input, *graph.output, *graph.value_info):
            found[info.name] = info.type.tensor_type.elem_type
        found |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    return found


def _makes_texts(node: onnx.NodeProto) -> bool:
    return any(
        attribute.strings
        or attribute.t.data_type == _TEXT
        or attribute.name == "value_string"
        or (attribute.name == "to" and attribute.i == _TEXT)
        for attribute in node.attribute
    )
