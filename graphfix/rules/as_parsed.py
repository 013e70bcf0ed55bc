"""The model as an engine reads it that misreads newer forms: without what it never looks at.

Checked with the same rules, it shows where a misread shape makes a later node fail.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from graphfix.model import Model

_REDUCE = frozenset(
    [
        "ReduceL1",
        "ReduceL2",
        "ReduceLogSumExp",
        "ReduceMax",
        "ReduceMean",
        "ReduceMin",
        "ReduceProd",
        "ReduceSumSquare",
    ]
)


def as_parsed(model: Model) -> tuple[Model, str] | None:
    """Return the model as a parser up to 9.3 reads it, and what shape inference says against it.

    Shapes that the file states are left out, except those of the inputs. None where inference has
    something against the model as it is, or the model cannot be taken apart.
    """
    light = model.light_proto()
    _forget_shapes(light.graph)
    if _complaint(light):
        return None
    for graph in _graphs(light.graph):
        for node in graph.node:
            _misread(node)
    complaint = _complaint(light)
    return Model(light, path=model.path), complaint


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _forget_shapes(graph: GraphProto) -> None:
    for each in _graphs(graph):
        del each.value_info[:]
        for output in each.output:
            if output.type.HasField("tensor_type"):
                output.type.tensor_type.ClearField("shape")


def _complaint(proto: ModelProto) -> str:
    try:
        onnx.shape_inference.infer_shapes(proto, strict_mode=True, data_prop=True)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError) as error:
        return str(error)
    return ""


def _misread(node: NodeProto) -> None:
    """Change a node to what the engine takes it for."""
    if node.op_type == "Shape":
        _drop(node, "start", "end")
    elif node.op_type in _REDUCE:
        del node.input[1:]
        _drop(node, "noop_with_empty_axes")
    elif node.op_type in ("ReduceSum", "ReduceLogSum"):
        _drop(node, "noop_with_empty_axes")
    elif node.op_type in ("LSTM", "GRU", "RNN"):
        _drop(node, "layout")
    elif node.op_type == "Constant":
        _zero(node)


def _drop(node: NodeProto, *names: str) -> None:
    kept = [attribute for attribute in node.attribute if attribute.name not in names]
    if len(kept) != len(node.attribute):
        copies = [type(attribute).FromString(attribute.SerializeToString()) for attribute in kept]
        del node.attribute[:]
        node.attribute.extend(copies)


def _zero(node: NodeProto) -> None:
    for name, dims in (("value_int", []), ("value_ints", [0])):
        if any(attribute.name == name for attribute in node.attribute):
            values = [0] if not dims else []
            tensor = onnx.helper.make_tensor("", TensorProto.INT64, dims, values)
            del node.attribute[:]
            node.attribute.append(onnx.helper.make_attribute("value", tensor))
