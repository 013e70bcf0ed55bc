"""Random operators: what they draw becomes an input of both models."""

from __future__ import annotations

import contextlib

import onnx
from msgspec import Struct

from graphfix.analysis.shape_inference import REFUSALS, infer_shapes
from graphfix.ir.protos import add_outputs, all_nodes, copied
from graphfix.operators.table import DRAWS_BY_DATA, RANDOM
from graphfix.proving.inputs.uses import attribute_of


class WithoutRandom(Struct, frozen=True):
    """A pair of models whose random operators became inputs.

    Attributes:
        before: The original without its random operators; None where there are none.
        after: The other model without the producers of the same names.
        source: The original, giving the drawn values as outputs.
        names: The outputs of random operators, now inputs of both.
        probes: Inputs of random operators, now outputs of both.
        nodes: The random nodes of the original.
        reason: Why the models cannot be compared; empty if they can.
    """

    before: onnx.ModelProto | None = None
    after: onnx.ModelProto | None = None
    source: onnx.ModelProto | None = None
    names: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    nodes: tuple[onnx.NodeProto, ...] = ()
    reason: str = ""


def is_random(node: onnx.NodeProto, opset: int, constants: dict[str, bool]) -> bool:
    """Whether a node draws random numbers.

    Dropout does with training_mode (opset 12, a constant true or anything not constant) and, up
    to opset 6, without is_test (operator pages of ONNX).
    """
    if node.domain not in ("", "ai.onnx"):
        return False
    if node.op_type in RANDOM:
        return True
    if node.op_type != "Dropout":
        return False
    if opset <= 6:
        attribute = attribute_of(node, "is_test")
        return attribute is None or attribute.i == 0
    if len(node.input) < 3 or not node.input[2]:
        return False
    return constants.get(node.input[2], True)


def _true_constants(graph: onnx.GraphProto) -> dict[str, bool]:
    tensors = {tensor.name: tensor for tensor in graph.initializer}
    for node in all_nodes(graph.node):
        attribute = attribute_of(node, "value")
        if node.op_type == "Constant" and attribute is not None:
            tensors[node.output[0]] = attribute.t
    return {
        name: bool(onnx.numpy_helper.to_array(tensor).any())
        for name, tensor in tensors.items()
        if tensor.data_type == onnx.TensorProto.BOOL
    }


def without_random(before: onnx.ModelProto, after: onnx.ModelProto) -> WithoutRandom:
    """Turn the random operators of the original into inputs of both models."""
    opset = next((e.version for e in before.opset_import if e.domain in ("", "ai.onnx")), 1)
    constants = _true_constants(before.graph)
    outer = [node for node in before.graph.node if is_random(node, opset, constants)]
    inner = [
        node
        for function in before.functions
        for node in function.node
        if is_random(node, opset, {})
    ]
    inner += [
        node
        for node in all_nodes(before.graph.node)
        if is_random(node, opset, constants) and not any(node is known for known in outer)
    ]
    if inner:
        return WithoutRandom(
            reason=f"{inner[0].op_type} draws random numbers inside a body or a function"
        )
    if not outer:
        return WithoutRandom()
    names = tuple(name for node in outer for name in node.output if name)
    made = {name for node in after.graph.node for name in node.output}
    for name in names:
        if name not in made:
            return WithoutRandom(reason=f"{name}, drawn at random, has no counterpart of that name")
    inputs = {info.name for info in before.graph.input}
    initializers = {tensor.name for tensor in before.graph.initializer}
    outputs = {info.name for info in before.graph.output}
    probes: list[str] = []
    for node in outer:
        # What is drawn depends on the values of the input, which therefore is compared as well.
        data = node.input[0] if node.op_type in DRAWS_BY_DATA and node.input else ""
        if not data or data in inputs | initializers | outputs | set(names) | set(probes):
            continue
        if data not in made:
            return WithoutRandom(
                reason=f"{data}, which {node.op_type} draws from, has no counterpart"
            )
        probes.append(data)
    types = _types(before)
    unknown = [name for name in names if name not in types]
    if unknown:
        return WithoutRandom(reason=f"the type of {unknown[0]}, drawn at random, is unknown")
    source = copied(before)
    # What random nodes read is needed to draw again.
    read = {name for node in outer for name in node.input if name} - inputs - initializers
    add_outputs(source.graph, [*names, *sorted(read)])
    return WithoutRandom(
        _without(before, names, types, probes),
        _without(after, names, types, probes),
        source,
        names,
        tuple(probes),
        tuple(outer),
    )


def _types(model: onnx.ModelProto) -> dict[str, onnx.TypeProto]:
    # It refuses some valid models; declared types remain.
    with contextlib.suppress(*REFUSALS):
        model = infer_shapes(model)
    infos = [*model.graph.value_info, *model.graph.output]
    return {info.name: info.type for info in infos if info.type.WhichOneof("value")}


def _without(
    model: onnx.ModelProto,
    names: tuple[str, ...],
    types: dict[str, onnx.TypeProto],
    probes: list[str],
) -> onnx.ModelProto:
    """Return a copy in which `names` are inputs and `probes` outputs."""
    copy = copied(model)
    kept: list[onnx.NodeProto] = []
    for node in copy.graph.node:
        for position, output in enumerate(node.output):
            if output in names:
                node.output[position] = ""
        if any(node.output):
            kept.append(node)
    nodes = [onnx.NodeProto.FromString(node.SerializeToString()) for node in kept]
    del copy.graph.node[:]
    copy.graph.node.extend(nodes)
    # An output of the model that is drawn would be both input and output: it says nothing.
    outputs = [info for info in copy.graph.output if info.name not in names]
    remaining = [onnx.ValueInfoProto.FromString(info.SerializeToString()) for info in outputs]
    del copy.graph.output[:]
    copy.graph.output.extend(remaining)
    for name in names:
        info = copy.graph.input.add()
        info.name = name
        info.type.tensor_type.elem_type = types[name].tensor_type.elem_type
    add_outputs(copy.graph, probes)
    return copy
