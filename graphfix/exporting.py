"""From the graph back to protos: what nobody touched is written as it came in."""

from __future__ import annotations

import dataclasses
from typing import Any, cast

import numpy as np
import onnx
from onnx import (
    AttributeProto,
    GraphProto,
    ModelProto,
    NodeProto,
    SparseTensorProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
)

from graphfix.attributes import AttributeRef
from graphfix.errors import PassBug
from graphfix.graph import Constant, Function, Graph, Node, Shape, Variable
from graphfix.protos import normal_domain


def export_model(
    original: ModelProto, graph: Graph, functions: list[Function], *, weights: bool = True
) -> ModelProto:
    """Return a new ModelProto.

    Args:
        original: The model as it was loaded; everything that the graph does not hold is its.
        graph: The main graph.
        functions: The local functions that are left.
        weights: False leaves the values of big initializers out and makes graph inputs of
            them, for shape inference and the checker.
    """
    result = ModelProto()
    if weights:
        result.CopyFrom(original)
    else:
        _copy_without(original, result, {"graph", "functions", "training_info"})
    _write_opsets(result.opset_import, graph.opsets)
    if weights:
        _write_graph(graph, result.graph)
    else:
        result.graph.name = graph.name
        _write_light(graph, result.graph, _Light(graph, result.graph))
    _write_functions(result, original, functions, copied=weights)
    return result


def _copy_without(source: Any, target: Any, names: set[str]) -> None:
    for descriptor, value in source.ListFields():
        if descriptor.name in names:
            continue
        if descriptor.is_repeated:
            getattr(target, descriptor.name).extend(value)
        elif descriptor.message_type is not None:
            getattr(target, descriptor.name).CopyFrom(value)
        else:
            setattr(target, descriptor.name, value)


def _write_opsets(target: Any, opsets: dict[str, int]) -> None:
    seen: set[str] = set()
    kept: list[int] = []
    for position, entry in enumerate(target):
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        if domain in opsets and domain not in seen:
            seen.add(domain)
            if entry.version != opsets[domain]:
                entry.version = opsets[domain]
            kept.append(position)
    for position in reversed(range(len(target))):
        if position not in kept:
            del target[position]
    for domain, version in opsets.items():
        if domain not in seen:
            target.add(domain=domain, version=version)


def _write_functions(
    result: ModelProto, original: ModelProto, functions: list[Function], *, copied: bool
) -> None:
    protos: list[onnx.FunctionProto] = []
    changed = len(functions) != len(original.functions)
    for function in functions:
        proto = onnx.FunctionProto()
        proto.CopyFrom(function.function)
        touched = _write_nodes(function, proto)
        names = [tensor.name for tensor in function.outputs]
        if names != list(proto.output):
            touched = True
            del proto.output[:]
            proto.output.extend(names)
        before = {normal_domain(o.domain): o.version for o in proto.opset_import}
        if before != function.opsets:
            touched = True
            _write_opsets(proto.opset_import, function.opsets)
        changed = changed or touched
        protos.append(proto)
    if changed or not copied:
        del result.functions[:]
        result.functions.extend(protos)


def _write_graph(graph: Graph, target: GraphProto) -> bool:
    """Bring `target`, a copy of the graph's original, up to date; say whether that changed it."""
    touched = _write_nodes(graph, target)
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


def _write_nodes(graph: Graph, target: GraphProto | onnx.FunctionProto) -> bool:
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
    fresh = NodeProto()
    if proto is not None:
        fresh.CopyFrom(proto)
    elif node.inherit is not None:
        fresh.doc_string = node.inherit.doc_string
        fresh.metadata_props.extend(node.inherit.metadata_props)
    if node.notes:
        known = {entry.key: entry for entry in fresh.metadata_props}
        for key, value in node.notes.items():
            entry = known.get(key) or fresh.metadata_props.add(key=key)
            entry.value = value
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
    if proto is not None and fresh == proto:
        return proto
    return fresh


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
                _write_graph(value, attribute.g)
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
        _write_graph(value, proto.g)
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
    version = node.graph.opsets.get(node.domain, 1)
    try:
        schema = onnx.defs.get_schema(node.op, version, node.domain)
    except onnx.defs.SchemaError:
        return AttributeProto.INTS
    attribute = schema.attributes.get(name)
    if attribute is None:  # a step of the opset is under way, and the form is that of the other one
        return AttributeProto.INTS
    # At run time the type is an enumeration of C++, whatever the stub says.
    return int(cast("Any", attribute.type).value)


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


SMALL_BYTES = 4096
# Inference reads whole numbers, such as the sizes of a Split, and of floats the scales of a Resize.
_SMALL_OTHERS = 256
_SIZES = frozenset({TensorProto.INT32, TensorProto.INT64})


@dataclasses.dataclass(slots=True)
class _Light:
    """A light model while it is written: big initializers of bodies become inputs of `main`.

    Two bodies may have an initializer of the same name, so these inputs have names of their own.
    """

    graph: Graph
    main: GraphProto
    renamed: dict[int, str] = dataclasses.field(default_factory=dict[int, str])
    taken: set[str] = dataclasses.field(default_factory=set[str])

    def stub(self, constant: Constant) -> str:
        """Name the input that stands for an initializer of a body."""
        if not self.taken:
            for graph in self.graph.walk():
                self.taken.update(t.name for t in (*graph.inputs, *graph.initializers))
                self.taken.update(t.name for node in graph.nodes for t in node.outputs)
        count = 0
        while (name := f"{constant.name}/stub_{count}") in self.taken:
            count += 1
        self.taken.add(name)
        self.renamed[id(constant)] = name
        return name

    def name(self, tensor: Variable | Constant) -> str:
        """Return the name of a tensor in the light model."""
        return self.renamed.get(id(tensor), tensor.name)


def _write_light(graph: Graph, target: GraphProto, light: _Light) -> None:
    """Write a graph whose big initializers are inputs of main, with the types that are known."""
    inside = target is not light.main
    declared: set[str] = set()
    for tensor in graph.inputs:
        if isinstance(tensor, Variable):
            target.input.add().CopyFrom(tensor.info or make_info(tensor))
            declared.add(tensor.name)
        else:
            target.input.add().CopyFrom(make_info(tensor))
            if tensor.overridable or _is_big(tensor):
                declared.add(tensor.name)
    last = {constant.name: constant for constant in graph.initializers}  # of one name, it counts
    for constant in graph.initializers:
        if constant.name not in declared and last[constant.name] is constant:
            _write_light_constant(constant, target, light, inside=inside)
    target.node.extend(_light_node(node, light) for node in graph.nodes)
    outputs = {tensor.name for tensor in graph.outputs}
    for tensor in graph.outputs:
        info = tensor.info if isinstance(tensor, Variable) else None
        target.output.add().CopyFrom(info or make_info(tensor))
        if id(tensor) in light.renamed:  # a graph gives out what it computes, not what it sees
            target.node.add(op_type="Identity", input=[light.name(tensor)], output=[tensor.name])
    _write_types(graph, target, outputs)


def _write_types(graph: Graph, target: GraphProto, outputs: set[str]) -> None:
    """Declare what is known of the tensors between the nodes; many are of one type."""
    types: dict[tuple[int, Shape | None], TypeProto] = {}
    for node in graph.nodes:
        for tensor in node.outputs:
            name, elem_type = tensor.name, tensor.elem_type
            if not name or name in outputs:
                continue
            if tensor.opaque is not None:
                target.value_info.add(name=name, type=tensor.opaque)
            elif elem_type:
                key = elem_type, tensor.shape
                known = types.get(key)
                if known is None:
                    known = types[key] = make_info(tensor).type
                target.value_info.add(name=name, type=known)


def _is_big(constant: Constant) -> bool:
    weights = constant.weights
    if not isinstance(weights.proto, TensorProto):
        return True
    most = SMALL_BYTES if weights.proto.data_type in _SIZES else _SMALL_OTHERS
    return weights.nbytes > most


def _write_light_constant(
    constant: Constant, target: GraphProto, light: _Light, *, inside: bool
) -> None:
    proto = constant.weights.proto
    if not isinstance(proto, TensorProto) or _is_big(constant):
        # A body cannot have further inputs; it sees those of the main graph.
        name = light.stub(constant) if inside else constant.name
        light.main.input.add().CopyFrom(make_info(constant, name))
        return
    small = target.initializer.add()
    if proto.data_location == TensorProto.EXTERNAL:
        small.CopyFrom(onnx.numpy_helper.from_array(constant.weights.load()))
        small.data_type = proto.data_type
    else:
        small.CopyFrom(proto)
    small.name = constant.name


def _light_node(node: Node, light: _Light) -> NodeProto:
    if not node.attrs.own and not light.renamed:
        return export_node(node)
    bodies = list(node.graphs())
    inputs = [light.name(tensor) for tensor in node.inputs] if light.renamed else None
    if not bodies:
        proto = export_node(node)
        if inputs is None or inputs == list(proto.input):
            return proto
        copy = NodeProto()
        copy.CopyFrom(proto)
        del copy.input[:]
        copy.input.extend(inputs)
        return copy
    fresh = NodeProto(
        op_type=node.op,
        domain=node.domain,
        name=node.name,
        overload=node.overload,
        input=[light.name(tensor) for tensor in node.inputs],
        output=[tensor.name for tensor in node.outputs],
    )
    inner = dict(bodies)
    for name in node.attrs:
        if name in inner:
            attribute = fresh.attribute.add(name=name, type=AttributeProto.GRAPH)
            attribute.g.name = inner[name].name
            _write_light(inner[name], attribute.g, light)
        else:
            known = node.attrs.proto(name)
            fresh.attribute.add().CopyFrom(
                known if known is not None else encode_attribute(node, name, node.attrs[name])
            )
    return fresh
