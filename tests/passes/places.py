"""A model inside the branches of an If, and inside a local function."""

from collections.abc import Iterable, Mapping
from typing import Any

from onnx import GraphProto, ModelProto, NodeProto, helper


def in_branch(model: ModelProto) -> ModelProto:
    """Return a model whose nodes are in both branches of an If on the input ``c``."""
    done = ModelProto.FromString(model.SerializeToString())
    outputs = [output.name for output in model.graph.output]
    sides: dict[str, Any] = {
        side: _side(model.graph, side) for side in ("then_branch", "else_branch")
    }
    del done.graph.node[:]
    del done.graph.value_info[:]
    done.graph.node.append(helper.make_node("If", ["c"], outputs, **sides))
    done.graph.input.insert(0, helper.make_tensor_value_info("c", 9, []))
    return done


def in_function(model: ModelProto) -> ModelProto:
    """Return a model that calls a local function of its nodes; initializers are constants there."""
    done = ModelProto.FromString(model.SerializeToString())
    inputs = [value.name for value in model.graph.input]
    outputs = [value.name for value in model.graph.output]
    constants = [
        helper.make_node("Constant", [], [tensor.name], value=tensor)
        for tensor in model.graph.initializer
    ]
    function = helper.make_function(
        "local", "f", inputs, outputs, [*constants, *model.graph.node], model.opset_import
    )
    for field in (done.graph.node, done.graph.value_info, done.graph.initializer):
        del field[:]
    done.graph.node.append(helper.make_node("f", inputs, outputs, domain="local"))
    done.opset_import.append(helper.make_opsetid("local", 1))
    done.functions.append(function)
    return done


def _side(graph: GraphProto, side: str) -> GraphProto:
    """Return a branch that computes what the graph does, under names of its own."""
    prefix = side.partition("_")[0]
    names = {name: f"{prefix}_{name}" for node in graph.node for name in node.output if name}
    side_graph = GraphProto(name=prefix)
    side_graph.node.extend(_renamed(graph.node, names))
    for output in graph.output:
        side_graph.output.add().CopyFrom(output)
        side_graph.output[-1].name = names[output.name]
    return side_graph


def _renamed(nodes: Iterable[NodeProto], names: Mapping[str, str]) -> list[NodeProto]:
    """Return copies of nodes that read and write other names, in their subgraphs too."""
    copies = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
    for node in copies:
        for values in (node.input, node.output):
            renamed = [names.get(name, name) for name in values]
            del values[:]
            values.extend(renamed)
        for attribute in node.attribute:
            for body in [attribute.g] if attribute.HasField("g") else ():
                inside = _renamed(body.node, names)
                del body.node[:]
                body.node.extend(inside)
                for output in body.output:
                    output.name = names.get(output.name, output.name)
    return copies
