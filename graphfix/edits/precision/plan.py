"""Which nodes may compute in another float type, and what of them is of that type."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto

from graphfix.ir.protos import names_read, normal_domain, subgraphs_of
from graphfix.ir.schemas import form_of
from graphfix.ir.storage.weights import load_array, type_name
from graphfix.operators.table import PLACES, READS_SHAPE
from graphfix.reduction.tensor_types import Types

FLOATS: dict[str, int] = {
    "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16,
    "float32": TensorProto.FLOAT,
}
# The largest finite number of a type, and the smallest above 0 that does not become 0.
RANGES: dict[int, tuple[float, float]] = {
    TensorProto.FLOAT16: (65504.0, 2.0**-25),
    TensorProto.BFLOAT16: (3.3895e38, 2.0**-134),
    TensorProto.FLOAT: (3.4028234e38, 2.0**-150),
}


@dataclass(frozen=True, slots=True)
class Slots:
    """The inputs and outputs of a node that are of the new type once it is converted.

    Attributes:
        inputs: Places of inputs.
        outputs: Places of outputs.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(slots=True)
class Plan:
    """What becomes of the nodes of a main graph.

    Attributes:
        source: The element types that are converted.
        target: The type that they are converted to.
        slots: Place of a node -> what is converted of it.
        kept: Place of a node with floats that stays as it is -> why.
        either: Places of nodes that read floats of any type and give none, such as Shape.
        summed: Places of nodes of `slots` that take and give the type, and add up in the old one.
    """

    source: frozenset[int]
    target: int
    slots: dict[int, Slots]
    kept: dict[int, str]
    either: set[int]
    summed: set[int] = field(default_factory=set[int])

    def keep(self, place: int, reason: str) -> None:
        """Leave a node as it is."""
        self.summed.discard(place)
        if self.slots.pop(place, None) is not None:
            self.kept[place] = reason


def plan_of(
    proto: ModelProto, types: Types, source: frozenset[int], target: int, base_dir: str
) -> Plan:
    """Return what may be converted by what operators take, and by the range of what is stored.

    Args:
        proto: The model.
        types: What is known of its tensors.
        source: The element types to convert.
        target: The type to convert them to.
        base_dir: Where external data lies.
    """
    versions = {normal_domain(entry.domain): entry.version for entry in proto.opset_import}
    graph, plan = proto.graph, Plan(source, target, {}, {}, set())
    elements = element_types(graph, types)
    sized = _computing_sizes(graph)
    stored = {tensor.name: tensor for tensor in graph.initializer}
    judged = {name: _stored_reason(t, target, base_dir) for name, t in stored.items()}
    for place, node in enumerate(graph.node):
        if not any(elements.get(name) in source for name in (*node.input, *node.output)):
            continue
        if _gives_sizes(node):
            plan.either.add(place)
            continue
        found = _slots(node, elements, versions, source, target)
        if isinstance(found, str):
            plan.kept[place] = found
        elif place in sized:
            plan.kept[place] = "it computes from sizes alone"
        elif found.inputs or found.outputs:
            plan.slots[place] = found
            reason = next(filter(None, (judged.get(n) for n in node.input)), "")
            if node.op_type == "Constant":
                reason = _stored_reason(node.attribute[0].t, target, base_dir)
            if reason:
                plan.keep(place, reason)
    return plan


def element_types(graph: GraphProto, types: Types) -> dict[str, int]:
    """Return the element types of the tensors of a graph; 0 where unknown or no tensor."""
    found = {name: _element(kind) for name, kind in types.items()}
    found.update((tensor.name, tensor.data_type) for tensor in graph.initializer)
    found.update((info.name, _element(info.type)) for info in graph.input if info.name not in found)
    return found


def _element(kind: TypeProto) -> int:
    return kind.tensor_type.elem_type if kind.HasField("tensor_type") else 0


def _slots(
    node: NodeProto,
    elements: Mapping[str, int],
    versions: Mapping[str, int],
    source: Collection[int],
    target: int,
) -> Slots | str:
    """Return what is converted of a node, or why it stays."""
    domain = normal_domain(node.domain)
    form = form_of(node.op_type, versions.get(domain, 1), domain)
    if form is None:
        return "ONNX does not know the operator"
    if any(True for _ in subgraphs_of(node)):
        return "it has subgraphs"
    if node.op_type == "Constant":
        return _constant(node, source)
    if node.op_type == "Cast":
        return _cast(node, elements, source)
    allowed = {
        one.type_param_str: f"tensor({type_name(target).replace('float32', 'float')})"
        in one.allowed_type_strs
        for one in form.schema.type_constraints
    }
    inputs: list[int] = []
    bound: set[str] = set()
    for place, name in enumerate(node.input):
        parameter = form.schema.inputs[min(place, len(form.inputs) - 1)].type_str
        if not name or elements.get(name) not in source or parameter not in allowed:
            continue
        if not allowed[parameter]:
            return f"the operator takes no {type_name(target)}"
        inputs.append(place)
        bound.add(parameter)
    outputs: list[int] = []
    for place, name in enumerate(node.output):
        parameter = form.schema.outputs[min(place, len(form.outputs) - 1)].type_str
        if not name or elements.get(name) not in source:
            continue
        if parameter not in bound:
            return "its type does not follow from its inputs"
        outputs.append(place)
    return Slots(tuple(inputs), tuple(outputs))


def _constant(node: NodeProto, source: Collection[int]) -> Slots | str:
    attribute = node.attribute[0]
    if attribute.name == "value" and attribute.t.data_type in source:
        return Slots((), (0,))
    return "its value is no tensor"


def _cast(node: NodeProto, elements: Mapping[str, int], source: Collection[int]) -> Slots | str:
    inputs = (0,) if elements.get(node.input[0]) in source else ()
    return Slots(inputs, (0,) if elements.get(node.output[0]) in source else ())


def _stored_reason(tensor: TensorProto, target: int, base_dir: str) -> str:
    """Return why stored numbers do not go into a type; empty where they do."""
    if tensor.data_type not in FLOATS.values():
        return ""
    values = np.abs(np.asarray(load_array(tensor, base_dir), np.float64))
    finite = values[np.isfinite(values)]
    largest, least = RANGES[target]
    if finite.size and finite.max() > largest:
        return f"{tensor.name or 'its value'} has {finite.max():.3g}"
    nonzero = finite[finite > 0]
    if nonzero.size and nonzero.max() < least:
        return f"{tensor.name or 'its value'} would be 0"
    return ""


def _gives_sizes(node: NodeProto) -> bool:
    """Say whether a node reads the shape of a tensor, and gives nothing but sizes."""
    return node.op_type in READS_SHAPE & PLACES.keys() and not normal_domain(node.domain)


def _computing_sizes(graph: GraphProto) -> set[int]:
    """Return the nodes that compute from the sizes of tensors and constants alone."""
    known = {tensor.name for tensor in graph.initializer}
    sized: set[str] = set()
    found: set[int] = set()
    for place, node in enumerate(graph.node):
        read = [*names_read(node)]
        if node.op_type == "Constant" and not read:
            known.update(node.output)
        elif _gives_sizes(node) or (
            any(name in sized for name in read) and all(n in known or n in sized for n in read)
        ):
            sized.update(node.output)
            found.add(place)
    return found


def tensors_of_subgraphs(graph: GraphProto) -> Iterator[str]:
    """Yield the names that subgraphs read from the main graph."""
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
                yield from names_read(node)
                break
