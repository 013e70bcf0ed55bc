"""The model as an engine reads it that misreads newer forms: without what it never looks at.

Checked with the same rules, it shows where a misread shape makes a later node fail. What is misread
is what a rule of the target says is: each version misreads other forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import onnx
from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from graphfix.analysis.shape_inference import infer_shapes
from graphfix.ir.graph import Graph
from graphfix.ir.model import Model

# Scope and position of a node -> the feature of its misread form.
Misread = Mapping[tuple[str, int], str]


def engine_view(model: Model, misread: Misread) -> tuple[Model, str] | None:
    """Return the model as the engine reads it, and what shape inference says against it.

    Shapes that the file states are left out, except those of the inputs. None where inference has
    something against the model as it is, or the model cannot be taken apart.

    Args:
        model: The model.
        misread: The nodes that are misread, with what a rule of the target says of each.
    """
    light = model.light_proto()
    for graph in (light.graph, *_subgraphs(light.graph)):
        _forget_shapes(graph)
    if _complaint(light):
        return None
    _misread_all(model.graph, light.graph, misread)
    complaint = _complaint(light)
    return Model(light, path=model.path), complaint


def _subgraphs(graph: GraphProto) -> list[GraphProto]:
    own = [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return [*own, *chain.from_iterable(map(_subgraphs, own))]


def _forget_shapes(graph: GraphProto) -> None:
    del graph.value_info[:]
    for output in graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")


def _complaint(proto: ModelProto) -> str:
    try:
        infer_shapes(proto, strict_mode=True, data_prop=True)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError) as error:
        return str(error)
    return ""


def _misread_all(graph: Graph, proto: GraphProto, misread: Misread) -> None:
    """Misread the nodes of a graph and its subgraphs; both hold the same nodes in one order."""
    scope = graph.scope
    for index, (node, written) in enumerate(zip(graph.nodes, proto.node, strict=True)):
        subgraphs = {a.name: a.g for a in written.attribute if a.HasField("g")}
        for name, body in node.graphs():
            _misread_all(body, subgraphs[name], misread)
        feature = misread.get((scope, index))
        if feature is not None:
            _misread(written, feature)


def _misread(node: NodeProto, feature: str) -> None:
    """Change a node to what the engine takes it for."""
    form = feature.rpartition(".")[2]
    if form == "start-end":
        _drop(node, "start", "end")
    elif form == "axes-input":
        del node.input[1:]
        _drop(node, "noop_with_empty_axes")
    elif form in ("noop_with_empty_axes", "layout"):
        _drop(node, form)
    elif form in ("value_int", "value_ints"):
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
