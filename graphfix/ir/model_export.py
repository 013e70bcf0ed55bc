"""From a graph and its functions back to a ModelProto.

Shape inference and the checker are given one without the values of big initializers.
"""

from __future__ import annotations

from typing import Any

import onnx
from msgspec import Struct, field
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto

from graphfix.ir.exporting import encode_attribute, export_node, make_info, write_graph, write_nodes
from graphfix.ir.graph import Constant, Function, Graph, Node, Shape, Variable
from graphfix.ir.protos import normal_domain


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
        write_graph(graph, result.graph)
    else:
        result.graph.name = graph.name
        write_light(graph, result.graph)
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


def _write_functions(
    result: ModelProto, original: ModelProto, functions: list[Function], *, copied: bool
) -> None:
    protos: list[onnx.FunctionProto] = []
    changed = len(functions) != len(original.functions)
    for function in functions:
        proto = onnx.FunctionProto()
        proto.CopyFrom(function.function)
        touched = write_nodes(function, proto)
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


_SMALL_BYTES = 4096
# Inference reads integers, such as the sizes of a Split, and of floats the scales of a Resize.
_SMALL_OTHERS = 256
_SIZES = frozenset({TensorProto.INT32, TensorProto.INT64})


class _Light(Struct):
    """A light model while it is written: big initializers of subgraphs become inputs of `main`.

    Two subgraphs may have an initializer of the same name, so these inputs have names of their own.
    """

    graph: Graph
    main: GraphProto
    renamed: dict[int, str] = field(default_factory=dict[int, str])
    taken: set[str] = field(default_factory=set[str])

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


def write_light(graph: Graph, target: GraphProto) -> None:
    """Write a main graph whose big initializers, and those of its subgraphs, are inputs.

    Args:
        graph: The main graph.
        target: What it is written to, which has its name and nothing else.
    """
    _write_light(graph, target, _Light(graph, target))


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
        if id(tensor) in light.renamed:  # a graph outputs what it computes, not what it sees
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
    most = _SMALL_BYTES if weights.proto.data_type in _SIZES else _SMALL_OTHERS
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
    subgraphs = list(node.graphs())
    inputs = [light.name(tensor) for tensor in node.inputs] if light.renamed else None
    if not subgraphs:
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
    inner = dict(subgraphs)
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
