"""What is known of the tensors of a main graph by inference, and nodes found in copies of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import ModelProto, NodeProto, numpy_helper

from graphfix.analysis.shape_inference import infer_shapes
from graphfix.edits.arrays import Array
from graphfix.ir.graph import shape_of_type
from graphfix.ir.protos import constant_of_node, copied, names_read
from graphfix.reduction.tensor_types import Typist

Sizes = tuple["int | str | None", ...]
Shapes = dict[str, Sizes]


def shapes_of(proto: ModelProto) -> Shapes:
    """Return the shapes that inference knows of the main graph."""
    inferred = infer_shapes(proto, data_prop=True)
    found: Shapes = {}
    for info in (*inferred.graph.value_info, *inferred.graph.output, *inferred.graph.input):
        shape = shape_of_type(info.type)[1]
        if shape is not None:
            found[info.name] = shape
    for tensor in inferred.graph.initializer:
        found[tensor.name] = tuple(tensor.dims)
    return found


def is_known(size: int | str | None) -> bool:
    """Say whether a size is a number, or a symbol that the file has (onnx calls its own unk__0)."""
    return isinstance(size, int) or (bool(size) and not str(size).startswith("unk__"))


def measured_shapes(proto: ModelProto, base_dir: str, known: Shapes) -> Shapes:
    """Return the shapes that inference does not know whole, as they are in a run of the model."""
    names = [
        name
        for node in proto.graph.node
        for name in node.output
        if name and not all(isinstance(size, int) for size in known.get(name, "?"))
    ]
    values = Typist(base_dir).values(proto, names) if names else {}
    return {n: value.shape for n, value in values.items() if isinstance(value, np.ndarray)}


def types_of(proto: ModelProto) -> dict[str, int]:
    """Return the element types that inference knows of the main graph."""
    inferred = infer_shapes(proto)
    infos = (*inferred.graph.value_info, *inferred.graph.output)
    return {info.name: info.type.tensor_type.elem_type for info in infos}


def twin(model: ModelProto, node: NodeProto) -> NodeProto:
    """Return the node of a model that computes what another one's does."""
    outputs = list(node.output)
    return next(each for each in model.graph.node if list(each.output) == outputs)


def put_before(model: ModelProto, node: NodeProto, new: Sequence[NodeProto]) -> None:
    """Put nodes before the one of a model that computes what `node` does."""
    outputs = list(node.output)
    old = [copied(each) for each in model.graph.node]
    place = next(i for i, each in enumerate(old) if list(each.output) == outputs)
    model.graph.ClearField("node")
    model.graph.node.extend([*old[:place], *new, *old[place:]])


def constant_of(proto: ModelProto, name: str) -> Array | None:
    """Return the value of a tensor that is stored or that a Constant gives; None for others."""
    for tensor in proto.graph.initializer:
        if tensor.name == name:
            return numpy_helper.to_array(tensor)
    for node in proto.graph.node:
        held = constant_of_node(node) if name in node.output else None
        if held is not None:
            return numpy_helper.to_array(held)
    return None


def nodes_in_use(proto: ModelProto) -> list[NodeProto]:
    """Return the nodes of a main graph that its outputs are computed by, in order."""
    wanted = {info.name for info in proto.graph.output}
    found: list[NodeProto] = []
    for node in reversed(proto.graph.node):
        if wanted.intersection(node.output):
            found.append(node)
            wanted.update(names_read(node))
    return found[::-1]


def drop_unused(proto: ModelProto, before: ModelProto) -> None:
    """Drop the nodes and stored tensors that were in use before, and no longer are, in place."""
    was, now = nodes_in_use(before), nodes_in_use(proto)
    outputs = {info.name for info in proto.graph.output}
    still = {name for node in proto.graph.node for name in node.output}
    kept = {name for node in now for name in node.output}
    gone = {name for node in was for name in node.output} & still - kept
    nodes = [copied(node) for node in proto.graph.node if not gone.issuperset(node.output)]
    read = outputs | {name for node in nodes for name in names_read(node)}
    unread = {name for node in was for name in names_read(node)} - read
    inputs = {info.name for info in proto.graph.input}
    stored = [t for t in proto.graph.initializer if t.name not in unread or t.name in inputs]
    tensors = [copied(tensor) for tensor in stored]
    proto.graph.ClearField("node")
    proto.graph.node.extend(nodes)
    proto.graph.ClearField("initializer")
    proto.graph.initializer.extend(tensors)
