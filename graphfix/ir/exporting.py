"""From the graph back to protos: what no one touched is written as it came in."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import onnx
from onnx import (
    AttributeProto,
    GraphProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
    ValueInfoProto,
)

from graphfix.errors import PassBug
from graphfix.ir.graph import Constant, Function, Graph, Node, Variable
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import AttributeRef, form_of


def write_graph(graph: Graph, target: GraphProto) -> bool:
    """Bring `target`, a copy of the graph's original, up to date; say whether that changed it."""
    touched = write_nodes(graph, target)
    touched = _write_initializers(graph, target) or touched
    # A tensor that is input and output at once is declared twice, maybe not in the same words.
    source = graph.proto
    unchanged = [] if source is None else [*source.input, *source.output]
    for tensors, declared in ((graph.inputs, target.input), (graph.outputs, target.output)):
        infos = [_declaration(tensor) for tensor in tensors]
        if [declaration.name for declaration in declared] == [tensor.name for tensor in tensors]:
            infos = [None if _within(info, unchanged) else info for info in infos]
        names = [declaration.name for declaration in declared]
        if names != [tensor.name for tensor in tensors] or any(
            info is not None and info != declaration
            for info, declaration in zip(infos, declared, strict=True)
        ):
            touched = True
            before = {declaration.name: declaration for declaration in declared}
            fresh = [
                info or before.get(t.name) or make_info(t)
                for info, t in zip(infos, tensors, strict=True)
            ]
            copies = [_copied(info, t.name) for info, t in zip(fresh, tensors, strict=True)]
            del declared[:]
            declared.extend(copies)
    return _write_value_infos(graph, target) or touched


def _copied(info: ValueInfoProto, name: str) -> ValueInfoProto:
    copy = ValueInfoProto()
    copy.CopyFrom(info)
    if copy.name != name:  # the tensor was renamed
        copy.name = name
    return copy


def _within(info: ValueInfoProto | None, known: list[ValueInfoProto]) -> bool:
    return any(info is declaration for declaration in known)


def _declaration(tensor: Variable | Constant) -> ValueInfoProto | None:
    return tensor.info if isinstance(tensor, Variable) else None


def make_info(tensor: Variable | Constant, name: str = "") -> ValueInfoProto:
    """Return a declaration of what is known of a tensor."""
    info = ValueInfoProto(name=name or tensor.name)
    if isinstance(tensor, Variable) and tensor.opaque is not None:
        info.type.CopyFrom(tensor.opaque)
        return info
    if not tensor.elem_type and tensor.shape is None:
        return info  # nothing is known, not even that it is a tensor
    info.type.tensor_type.elem_type = tensor.elem_type
    if tensor.shape is not None:
        info.type.tensor_type.shape.SetInParent()
        for dim in tensor.shape:
            entry = info.type.tensor_type.shape.dim.add()
            if isinstance(dim, int):
                entry.dim_value = dim
            elif dim is not None:
                entry.dim_param = dim
    return info


def write_nodes(graph: Graph, target: GraphProto | onnx.FunctionProto) -> bool:
    """Bring the nodes of `target`, a copy of the original, up to date; say if that changed it."""
    protos: list[NodeProto] = []
    same = len(graph.nodes) == len(target.node)
    original = (
        graph.function.node
        if isinstance(graph, Function)
        else (graph.proto.node if graph.proto is not None else ())
    )
    for position, node in enumerate(graph.nodes):
        proto = export_node(node)
        if same and (
            proto is not node.proto or position >= len(original) or proto is not original[position]
        ):
            same = position < len(original) and proto == original[position]
        protos.append(proto)
    if same:
        return False
    # The originals lie in the loaded model, never in `target`, so nothing is lost by clearing it.
    del target.node[:]
    target.node.extend(protos)
    return True


def export_node(node: Node) -> NodeProto:
    """Return the proto of a node: its own where nothing changed, else an updated copy."""
    proto = node.proto
    if proto is not None and not node.notes and _is_untouched(node, proto):
        return proto
    if proto is None:
        return _new_proto(node)
    fresh = NodeProto()
    fresh.CopyFrom(proto)
    _write_notes(node, fresh)
    fresh.op_type = node.op
    if normal_domain(fresh.domain) != node.domain:
        fresh.domain = node.domain
    if fresh.name != node.name:
        fresh.name = node.name
    if fresh.overload != node.overload:
        fresh.overload = node.overload
    for field, tensors in ((fresh.input, node.inputs), (fresh.output, node.outputs)):
        names = [tensor.name for tensor in tensors]
        if names != list(field):
            del field[:]
            field.extend(names)
    _write_attributes(node, fresh)
    return proto if fresh == proto else fresh


def _new_proto(node: Node) -> NodeProto:
    """Return the proto of a node that no file has; nothing of it is there to be compared with."""
    fresh = NodeProto(
        op_type=node.op,
        input=[tensor.name for tensor in node.inputs],
        output=[tensor.name for tensor in node.outputs],
    )
    if node.inherit is not None:
        fresh.doc_string = node.inherit.doc_string
        fresh.metadata_props.extend(node.inherit.metadata_props)
    _write_notes(node, fresh)
    if node.domain:
        fresh.domain = node.domain
    if node.name:
        fresh.name = node.name
    if node.overload:
        fresh.overload = node.overload
    fresh.attribute.extend(encode_attribute(node, name, node.attrs[name]) for name in node.attrs)
    return fresh


def _write_notes(node: Node, fresh: NodeProto) -> None:
    if node.notes:
        known = {entry.key: entry for entry in fresh.metadata_props}
        for key, value in node.notes.items():
            entry = known.get(key) or fresh.metadata_props.add(key=key)
            entry.value = value


def _is_untouched(node: Node, proto: NodeProto) -> bool:
    return (
        not node.attrs.own
        and not node.attrs.replaced()
        and proto.input == [tensor.name for tensor in node.inputs]
        and proto.output == [tensor.name for tensor in node.outputs]
        and proto.op_type == node.op
        and proto.name == node.name
        and normal_domain(proto.domain) == node.domain
    )


def _write_attributes(node: Node, fresh: NodeProto) -> None:
    written: set[str] = set()
    for position in reversed(range(len(fresh.attribute))):
        attribute = fresh.attribute[position]
        if attribute.name not in node.attrs:
            del fresh.attribute[position]
        elif node.attrs.proto(attribute.name) is None:
            attribute.CopyFrom(encode_attribute(node, attribute.name, node.attrs[attribute.name]))
            written.add(attribute.name)
        else:
            value = node.attrs[attribute.name]
            if isinstance(value, Graph):
                write_graph(value, attribute.g)
            written.add(attribute.name)
    for name in node.attrs:
        if name not in written:
            fresh.attribute.add().CopyFrom(encode_attribute(node, name, node.attrs[name]))


def encode_attribute(node: Node, name: str, value: Any) -> AttributeProto:
    """Return the proto of a new attribute value.

    Raises:
        PassBug: The value is of a kind that no attribute can have.
    """
    if isinstance(value, AttributeProto):
        return value
    if isinstance(value, Graph):
        proto = AttributeProto(name=name, type=AttributeProto.GRAPH)
        proto.g.name = value.name
        write_graph(value, proto.g)
        return proto
    if isinstance(value, AttributeRef):
        return AttributeProto(name=name, type=value.type, ref_attr_name=value.name)
    if isinstance(value, np.ndarray):
        value = onnx.numpy_helper.from_array(cast("Any", value))
    elif isinstance(value, np.generic):
        value = cast("Any", value).item()
    elif isinstance(value, bool):
        value = int(value)
    kind = _schema_type(node, name) if isinstance(value, list | tuple) and not value else None
    if kind is None and isinstance(value, int) and _schema_type(node, name) == AttributeProto.FLOAT:
        value = float(value)
    try:
        return onnx.helper.make_attribute(name, value, attr_type=kind)
    except (TypeError, ValueError) as error:
        raise PassBug(f"attribute {name!r} of {node.op}: {error}") from error


def _schema_type(node: Node, name: str) -> int:
    form = form_of(node.op, node.graph.opsets.get(node.domain, 1), node.domain)
    # A step of the opset may be under way: then the form is that of the other one.
    return AttributeProto.INTS if form is None else form.kinds.get(name, AttributeProto.INTS)


def _write_initializers(graph: Graph, target: GraphProto) -> bool:
    touched = False
    known = {
        id(constant.weights.proto)
        for constant in graph.initializers
        if _stored_name(constant.weights.proto) == constant.name
    }
    originals: set[int] = set()
    source = graph.proto
    for field, copies in (
        (source.initializer if source is not None else (), target.initializer),
        (source.sparse_initializer if source is not None else (), target.sparse_initializer),
    ):
        gone: list[int] = []
        for position, proto in enumerate(field):
            if id(proto) in known:
                originals.add(id(proto))
            else:
                gone.append(position)
        for position in reversed(gone):
            del copies[position]
        touched = touched or bool(gone)
    for constant in graph.initializers:
        proto = constant.weights.proto
        if id(proto) in originals:
            continue
        touched = True
        if isinstance(proto, TensorProto):
            target.initializer.add().CopyFrom(proto)
            target.initializer[-1].name = constant.name
        else:
            target.sparse_initializer.add().CopyFrom(proto)
            target.sparse_initializer[-1].values.name = constant.name
    return touched


def _stored_name(proto: TensorProto | SparseTensorProto) -> str:
    return proto.values.name if isinstance(proto, SparseTensorProto) else proto.name


def _write_value_infos(graph: Graph, target: GraphProto) -> bool:
    source = graph.proto
    if source is None or not target.value_info:
        return False
    kept = {tensor.name: _declaration(tensor) for node in graph.nodes for tensor in node.outputs}
    kept.update((constant.name, None) for constant in graph.initializers)
    computed = {name for node in source.node for name in node.output}
    before = computed | {initializer.name for initializer in source.initializer}
    folded = computed & {constant.name for constant in graph.initializers}
    touched = False
    for position in reversed(range(len(source.value_info))):
        original = source.value_info[position]
        # A constant says its own shape; what is declared may hold symbols that are numbers now.
        gone = original.name in folded or (original.name in before and original.name not in kept)
        if gone or original.name in graph.redeclared:
            del target.value_info[position]
            touched = True
            continue
        info = kept.get(original.name)
        if info is not None and info is not original and info != original:
            target.value_info[position].CopyFrom(info)
            touched = True
    declared = (info for name, info in graph.redeclared.items() if name in kept)
    target.value_info.extend(info for info in declared if info is not None)
    return touched
