"""A walk over the nodes of a file, with the types that follow from what is before each.

A local function has no types of its own: its body is walked once for each way in which it is
called, with the types and the attributes of the call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from onnx import AttributeProto, NodeProto, TensorProto, TypeProto

from graphfix.analysis.inference import form_at, type_of
from graphfix.ir.exporting import export_node, make_info
from graphfix.ir.graph import Function, Graph, Node, Tensor, Variable, shape_of_type
from graphfix.ir.importing import first_misplaced, sorted_nodes
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView
from graphfix.validity.complaints import Complaint, called, element_type_complaints, form_complaints
from graphfix.validity.shapes import (
    CHECKED_HERE,
    FreeSide,
    baked_sizes,
    declared_complaint,
    inferred_types,
    own_complaint,
)

Key = tuple[str, str, str]
MAX_CALLED = 20_000  # nodes of called functions that are looked at
_DEEPEST = 64
_COUNTED = (TensorProto.INT64, TensorProto.BOOL)  # what the body of a Loop has before the states
_COUNTERS = len(_COUNTED)
# Where the outputs of a node begin among those of its subgraphs.
_ENDS = {"If": 0, "Loop": 1, "Scan": 0}


class Calls(Struct):
    """What is known of the calls of local functions, over the whole walk.

    Attributes:
        functions: By domain, name and overload.
        known: The types that a function gives, for the calls that were looked at.
        budget: How many nodes of called functions may still be looked at.
    """

    functions: Mapping[Key, Function]
    known: dict[tuple[object, ...], list[TypeProto | None]] = field(
        default_factory=dict[tuple[object, ...], "list[TypeProto | None]"]
    )
    budget: int = MAX_CALLED


class Walk:
    """One walk over a graph and its subgraphs, or over a function as one call uses it."""

    def __init__(
        self,
        free: Mapping[str, FreeSide],
        calls: Calls,
        *,
        given: Mapping[str, AttributeProto] | None = None,
        depth: int = 0,
    ) -> None:
        """Prepare to walk.

        Args:
            free: What `free_sides` says of the model.
            calls: What is known of its functions.
            given: In a function, the attributes that its call gives, defaults included.
            depth: How many calls lead here.
        """
        self._free = free
        self._calls = calls
        self._given = given
        self._depth = depth
        self._found: dict[int, TypeProto] = {}

    def types(self, tensor: Tensor) -> TypeProto | None:
        """Return what is known of a tensor; None while nothing is."""
        return self._found.get(id(tensor)) or type_of(tensor)

    def graph(self, graph: Graph, *, typed: bool) -> Iterator[Complaint]:
        """Yield what is wrong with the nodes of a graph and its subgraphs, after what they read.

        Args:
            graph: The graph.
            typed: Whether types are known there; a function by itself has none.
        """
        for node in graph.nodes if first_misplaced(graph) is None else sorted_nodes(graph):
            yield from self._node(node, typed=typed)
            subgraphs = dict(node.graphs())
            for body in subgraphs.values():
                if typed:
                    yield from self._enter(node, body)
                yield from self.graph(body, typed=typed)
            if typed and subgraphs:
                yield from self._take(node, self._left(node, list(subgraphs.values())))

    def _enter(self, node: Node, body: Graph) -> Iterator[Complaint]:
        """Give the inputs of the body of a Loop the element types that are fed to it.

        Those of a Scan are declared, and so is what a body does not know by itself. Yield what a
        body of a Loop declares otherwise; inference stops there, if it gets there.
        """
        if node.op != "Loop" or node.domain:
            return
        fed = [self.types(t) if t.name else None for t in node.inputs[_COUNTERS:]]
        states = [shape_of_type(known or TypeProto())[0] for known in fed]
        for tensor, wanted in zip(body.inputs, (*_COUNTED, *states), strict=False):
            one = shape_of_type(type_of(tensor) or TypeProto())[0]
            if wanted and type_of(tensor) is None:
                self._found[id(tensor)] = make_info(Variable(tensor.name, wanted)).type
            elif one and wanted and one != wanted:
                text, view = f"Tensor element type mismatch. {int(wanted)} != {one}", NodeView(node)
                said = f"the body of {called(view)} takes {tensor.name} as {type_name(one)}"
                said += f"; it is {type_name(wanted)}"
                yield Complaint("type-contradiction", said, view, f"[TypeInferenceError] {text}")

    def _left(self, node: Node, subgraphs: Sequence[Graph]) -> dict[str, TypeProto]:
        """Return what is known of the outputs of a node with subgraphs: types, but no sizes."""
        if node.domain or node.op not in _ENDS:
            return {}
        given: dict[str, TypeProto] = {}
        for place, tensor in enumerate(node.outputs):
            ends = [body.outputs[place + _ENDS[node.op] :] for body in subgraphs]
            known = [self.types(end[0]) if end else None for end in ends]
            plain = [each for found in known if found is not None and (each := _unsized(found))]
            if tensor.name and len(plain) == len(ends) and all(each == plain[0] for each in plain):
                given[tensor.name] = plain[0]
        return given

    def _node(self, node: Node, *, typed: bool) -> Iterator[Complaint]:
        form = form_at(node)
        function = self._calls.functions.get((node.domain or "", node.op, node.overload))
        if function is not None:
            if typed:
                yield from self._call(node, function)
            return
        if form is None:
            return
        found = form_complaints(node, form)
        if not found and typed:
            found = element_type_complaints(node, form, self.types)
        yield from found
        if not typed or any(True for _ in node.graphs()):
            return
        if node.op == "Constant" and not node.domain:
            # Before opset 9 its schema has floats alone, and engines never minded.
            yield from self._take(
                node, inferred_types(node, form, self.types, export_node(node))[0]
            )
            return
        if any(each.kind != "type-of-newer-opset" for each in found):
            return
        yield from baked_sizes(node, self.types, self._free)
        own = own_complaint(node, self.types) if node.op in CHECKED_HERE else None
        given, against = inferred_types(node, form, self.types, self._written(node))
        complaint = own or (against if not found else None)
        if complaint is not None:
            yield complaint
        yield from self._take(node, given)

    def _take(self, node: Node, given: Mapping[str, TypeProto]) -> Iterator[Complaint]:
        """Take the types that a node gives; yield where the file declares others."""
        for tensor in node.outputs:
            if tensor.name in given and isinstance(tensor, Variable):
                wrong = declared_complaint(node, tensor, given[tensor.name])
                if wrong is not None:
                    yield wrong
                self._found[id(tensor)] = _filled(given[tensor.name], tensor)

    def _written(self, node: Node) -> NodeProto:
        """Return a node with the attributes of the call in the place of references to them."""
        proto = export_node(node)
        if all(not attribute.ref_attr_name for attribute in proto.attribute):
            return proto
        bound = NodeProto()
        bound.CopyFrom(proto)
        del bound.attribute[:]
        for attribute in proto.attribute:
            if not attribute.ref_attr_name:
                bound.attribute.add().CopyFrom(attribute)
            elif self._given is not None and attribute.ref_attr_name in self._given:
                value = bound.attribute.add()
                value.CopyFrom(self._given[attribute.ref_attr_name])
                value.name = attribute.name
        return bound

    def _call(self, node: Node, function: Function) -> Iterator[Complaint]:
        given = {default.name: default for default in function.function.attribute_proto}
        given.update((attribute.name, attribute) for attribute in self._written(node).attribute)
        types = [self.types(tensor) if tensor.name else None for tensor in node.inputs]
        key = (function.key, *map(_key, types), *sorted((n, _key(a)) for n, a in given.items()))
        outputs = self._calls.known.get(key)
        if outputs is None:
            if self._depth >= _DEEPEST or self._calls.budget < len(function.nodes):
                return
            self._calls.budget -= len(function.nodes)
            inner = Walk({}, self._calls, given=given, depth=self._depth + 1)
            for tensor, known in zip(function.inputs, types, strict=False):
                if known is not None:
                    inner._found[id(tensor)] = known
            for each in inner.graph(function, typed=True):
                place = f"{each.message} (where {called(NodeView(node))} calls it)"
                placed = each.message.endswith("calls it)") or each.node is None
                yield each if placed or not _is_of_types(each) else replace(each, message=place)
            outputs = [inner.types(tensor) for tensor in function.outputs]
            self._calls.known[key] = outputs
        pairs = zip(node.outputs, outputs, strict=False)
        yield from self._take(node, {t.name: known for t, known in pairs if known and t.name})


def _key(proto: TypeProto | AttributeProto | None) -> bytes:
    return proto.SerializeToString(deterministic=True) if proto is not None else b""


def _unsized(known: TypeProto) -> TypeProto | None:
    """Return a type of tensors without sizes, any other as it is; None for one without elements."""
    elem_type = shape_of_type(known)[0]
    if known.WhichOneof("value") == "tensor_type":
        return make_info(Variable("", elem_type)).type if elem_type else None
    return known if known.WhichOneof("value") else None


def _is_of_types(complaint: Complaint) -> bool:
    """Say whether a complaint is about types, which a call gives, and not about the form."""
    return complaint.kind in {
        "element-type",
        "types-differ",
        "type-of-newer-opset",
        "type-contradiction",
        "shape-contradiction",
    }


def _filled(found: TypeProto, tensor: Variable) -> TypeProto:
    """Return what is computed of a type, and what is declared where that says nothing."""
    elem_type, shape = shape_of_type(found)
    if not elem_type:
        return type_of(tensor) or found
    declared = tensor.shape if tensor.elem_type == elem_type else None
    if shape is None:
        shape = declared
    elif declared is not None and len(declared) == len(shape):
        shape = tuple(b if a is None else a for a, b in zip(shape, declared, strict=True))
    return make_info(Variable(tensor.name, elem_type, shape)).type
