"""Reads a file node by node: where types do not fit, a cast says how they are read.

A node is looked at once, with the types that follow from what is before it, those that were read
in another type included. So a reading reaches as far as it has to: up to an operator that says
itself of what type it is, or to an output that is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import onnx
from msgspec import Struct
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TypeProto

from graphfix.analysis.shape_inference import read_by_inference
from graphfix.ir.graph import Graph, Node
from graphfix.ir.protos import all_graphs, constant_of_node, normal_domain
from graphfix.ir.schemas import Form, form_of
from graphfix.ir.views import NodeView
from graphfix.report import NodeRef
from graphfix.validity.mending.control_flow import given_by
from graphfix.validity.mending.forms import Forms
from graphfix.validity.mending.kinds import Kind, of_rules
from graphfix.validity.mending.operands import (
    Operand,
    Reading,
    Unclear,
    elem_name,
    formal_at,
    formals,
    inserted,
    plain,
    readings,
)
from graphfix.validity.mending.promotion import is_float
from graphfix.validity.mending.scopes import (
    Names,
    Scope,
    cast_node,
    number_of,
    opsets_of,
    set_elem,
    tensor_type,
)

_OVERRIDABLE = 4  # the IR version from which on an initializer may be listed as an input


class Place(Struct, frozen=True):
    """One place of a file, with the reading that it is given.

    Attributes:
        node: The node, or the tensor as its output.
        said: The reading.
        kind: Which it is.
    """

    node: NodeRef
    said: str
    kind: Kind


class Walk:
    """One walk over the main graph and its subgraphs."""

    def __init__(
        self,
        proto: ModelProto,
        functions: set[tuple[str, str, str]],
        forms: Forms | None = None,
    ) -> None:
        """Prepare to walk over `proto`, which is edited; with `forms` these alone are read."""
        self.proto = proto
        self.places: list[Place] = []
        self.unclear: list[tuple[NodeView, str]] = []
        self.names = Names(proto)
        self.opsets = opsets_of(proto)
        self._functions = functions
        self._forms = forms

    def add(self, node: NodeRef, said: str, kind: Kind) -> None:
        """Take down a reading."""
        self.places.append(Place(node, said, kind))

    def mark(self) -> tuple[int, int]:
        """Return how much was taken down."""
        return len(self.places), len(self.unclear)

    def rewind(self, mark: tuple[int, int]) -> None:
        """Drop what was taken down since."""
        del self.places[mark[0] :], self.unclear[mark[1] :]

    def main(self, graph: Graph, *, every: bool = False) -> bool:
        """Read the main graph, and give its outputs the types that they are declared with.

        Args:
            graph: The graph.
            every: Whether that is for outputs as well whose types follow from no reading, where
                nothing else is read.

        Returns:
            Whether such outputs were looked at.
        """
        scope = self.entered(self.proto.graph, None, {})
        self.nodes(graph, scope)
        self._keep_outputs(graph, scope, every=False)
        alone = every and not self.places and not self.unclear
        if alone:
            self._keep_outputs(graph, scope, every=True)
        self.leave(scope)
        _drop_unread(self.proto, self.names.replaced)
        return alone

    def entered(
        self, graph: GraphProto, outer: Scope | None, given: Mapping[str, TypeProto | None]
    ) -> Scope:
        """Return the scope of a graph before its first node.

        Args:
            graph: The graph.
            outer: The scope around it.
            given: The types of its inputs, where they are known better than they are declared.
        """
        scope = Scope(graph, self.names, outer)
        listed = {info.name: info for info in graph.input}
        for name, info in listed.items():
            scope.types[name] = given.get(name, info.type)
        overridable = self.proto.ir_version >= _OVERRIDABLE
        for tensor in graph.initializer:
            scope.types[tensor.name] = tensor_type(tensor.data_type)
            known = listed.get(tensor.name)
            if known is None or not overridable:
                scope.constants[tensor.name] = tensor
            if known is not None:
                self._stored(known, tensor.data_type, scope)
        for sparse in graph.sparse_initializer:
            scope.types[sparse.values.name] = tensor_type(sparse.values.data_type)
        return scope

    def _stored(self, info: onnx.ValueInfoProto, elem_type: int, scope: Scope) -> None:
        """Declare an initializer that is listed as an input in the type that it is stored in."""
        declared = info.type.tensor_type.elem_type
        if not declared or declared == elem_type:
            return
        (kind,) = of_rules("stored")
        said = f"{info.name} is declared as {elem_name(declared)} and stored as "
        said += f"{elem_name(elem_type)}: {kind.reading}"
        self.add(NodeRef(outputs=(info.name,)), said, kind)
        set_elem(info.type, elem_type)
        scope.touched.add(info.name)

    def nodes(self, graph: Graph, scope: Scope) -> None:
        """Read the nodes of a graph in their order."""
        written = list(scope.graph.node)
        for node, proto in zip(graph.nodes, written, strict=True):
            scope.nodes += self._node(node, proto, scope)

    def leave(self, scope: Scope) -> None:
        """Put what was read into the graph of a scope."""
        del scope.graph.node[:]
        scope.graph.node.extend(scope.nodes)
        for info in scope.graph.value_info:
            known = scope.elem(info.name)
            if known and info.name in scope.touched:
                set_elem(info.type, number_of(known))

    def _node(self, node: Node, proto: NodeProto, scope: Scope) -> list[NodeProto]:
        """Read one node; return what is written for it."""
        domain = normal_domain(proto.domain)
        form = form_of(proto.op_type, self.opsets.get(domain, 0), domain)
        if form is None or (proto.domain, proto.op_type, proto.overload) in self._functions:
            self._declared(proto, scope)
            return [proto]
        touched = scope.is_touched(proto.input)
        before = len(self.places)
        nodes = [proto]
        try:
            if self._forms is None:
                self._take(NodeView(node), proto, scope)
            elif not domain:
                nodes = self._reformed(node, proto, scope, self._forms)
            given = given_by(self, node, proto, scope) or self._given(proto, form, scope)
        except Unclear as reason:
            self.unclear.append((NodeView(node), str(reason)))
            self.forget(proto, scope)
            return [proto]
        touched = touched or len(self.places) > before
        for name in proto.output:
            if name:
                scope.types[name] = given.get(name)
                if touched:
                    scope.touched.add(name)
        if proto.op_type == "Constant" and not domain:
            stored = constant_of_node(proto)
            if stored is not None:
                scope.constants[proto.output[0]] = stored
        return nodes

    def _reformed(
        self, node: Node, proto: NodeProto, scope: Scope, forms: Forms
    ) -> list[NodeProto]:
        """Return a node in the form of the file, as it is where it has that."""
        found = forms.read(node, proto, self.opsets[""], scope)
        if found is None:
            return [proto]
        said = f"{proto.op_type} is read in the form of opset {found.opset}: {found.kind.reading}"
        self.add(NodeView(node).ref(), said, found.kind)
        scope.graph.initializer.extend(found.constants)
        for tensor in found.constants:
            scope.types[tensor.name] = tensor_type(tensor.data_type)
            scope.constants[tensor.name] = tensor
        return found.nodes

    def _take(self, view: NodeView, proto: NodeProto, scope: Scope) -> None:
        """Put in the casts that a node needs, and say how its operands are read.

        Raises:
            Unclear: There is more than one reading.
        """
        found = self._readings(proto, scope)
        if proto.op_type == "SequenceInsert" and not normal_domain(proto.domain):
            found = inserted(proto, scope.type_of(proto.input[0]), scope.elem(proto.input[1]))
        for each in found:
            name = each.operand.name
            proto.input[each.operand.place] = scope.cast(name, each.type)
            said = f"{name} ({each.operand.type}) is read as {each.type}: {each.kind.reading}"
            self.add(view.ref(), said, each.kind)

    def _readings(self, proto: NodeProto, scope: Scope) -> list[Reading]:
        domain = normal_domain(proto.domain)
        opset = self.opsets.get(domain, 0)
        known = formals(proto.op_type, opset, domain)
        operands = [
            Operand(
                place,
                name,
                formal_at(known, place),
                scope.elem(name),
                partial(scope.values, name),
            )
            for place, name in enumerate(proto.input)
            if known and name and scope.elem(name)
        ]
        return readings(proto, opset, operands)

    def _given(self, proto: NodeProto, form: Form, scope: Scope) -> dict[str, TypeProto | None]:
        """Return the types that a node gives, with what it takes as it is read."""
        bound: dict[str, int] = {}
        given: dict[str, TypeProto] = {}
        known = formals(proto.op_type, form.since, normal_domain(proto.domain))
        for place, name in enumerate(proto.input):
            elem = scope.elem(name) if name else ""
            found = scope.type_of(name) if name else None
            if found is not None and found.WhichOneof("value"):
                given[name] = tensor_type(number_of(elem)) if elem else found
            if elem and known:
                bound.setdefault(formal_at(known, place).parameter, number_of(elem))
        try:
            inferred = onnx.shape_inference.infer_node_outputs(
                form.schema,
                read_by_inference(proto, given),
                given,
                opset_imports=[onnx.helper.make_opsetid(d, v) for d, v in self.opsets.items()],
            )
        except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, RuntimeError):
            inferred = {}
        except (ValueError, KeyError):
            inferred = {}
        result: dict[str, TypeProto | None] = {}
        outputs = form.schema.outputs
        for place, name in enumerate(proto.output):
            formal = outputs[min(place, len(outputs) - 1)]
            found = inferred.get(name)
            if found is not None and found.WhichOneof("value") == "tensor_type":
                result[name] = tensor_type(found.tensor_type.elem_type)
            elif found is not None and found.WhichOneof("value"):
                result[name] = found
            elif formal.type_str in bound:
                result[name] = tensor_type(bound[formal.type_str])
            elif plain(formal.type_str):
                result[name] = tensor_type(number_of(plain(formal.type_str)))
        return result

    def _declared(self, proto: NodeProto, scope: Scope) -> None:
        """Believe what the file says of the outputs of a node that ONNX does not know."""
        infos = (*scope.graph.value_info, *scope.graph.output)
        known = {info.name: info.type for info in infos}
        for name in proto.output:
            found = known.get(name)
            scope.types[name] = found if found is not None and found.WhichOneof("value") else None

    def forget(self, proto: NodeProto, scope: Scope) -> None:
        """Know nothing of what a node gives that could not be read."""
        for name in proto.output:
            scope.types[name] = None

    def _keep_outputs(self, graph: Graph, scope: Scope, *, every: bool) -> None:
        (kind,) = of_rules("declared")
        made_by = {t.name: node for node in graph.nodes for t in node.outputs}
        made = {name: node for node in scope.nodes for name in node.output}
        for info in scope.graph.output:
            declared = elem_name(info.type.tensor_type.elem_type)
            found = scope.elem(info.name)
            if not declared or not found or declared == found:
                continue
            node = made.get(info.name)
            if node is None or not (every or info.name in scope.touched):
                continue
            if is_float(declared) != is_float(found) or "bool" in (declared, found):
                said = (
                    f"there are two readings of the output {info.name}: {found}, as it is "
                    f"computed, or {declared}, as it is declared; the file does not say which"
                )
                self.unclear.append((NodeView(made_by[info.name]), said))
                continue
            wide = self.names.new(f"{info.name}_as_{found}")
            _rename(scope.nodes, info.name, wide)
            cast = cast_node(wide, info.name, number_of(declared), self.names)
            scope.nodes.append(cast)
            scope.types[wide], scope.types[info.name] = (
                tensor_type(number_of(found)),
                tensor_type(number_of(declared)),
            )
            ref = NodeRef(outputs=(info.name,))
            said = f"{info.name} is computed as {found} and given as {declared}: {kind.reading}"
            self.add(ref, said, kind)


def _drop_unread(model: ModelProto, replaced: set[str]) -> None:
    """Drop the constants that nothing reads once they are stored in another type as well."""
    graphs = list(all_graphs(model.graph))
    read = {name for graph in graphs for node in graph.node for name in node.input}
    read |= {info.name for graph in graphs for info in (*graph.output, *graph.input)}
    for graph in graphs:
        for place in reversed(range(len(graph.initializer))):
            name = graph.initializer[place].name
            if name in replaced and name not in read:
                del graph.initializer[place]


def _rename(nodes: list[NodeProto], old: str, new: str) -> None:
    """Call a tensor something else where it is made and read, in subgraphs as well."""
    for node in nodes:
        for names in (node.input, node.output):
            for place, name in enumerate(names):
                if name == old:
                    names[place] = new
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                inner = list(attribute.g.node)
                _rename(inner, old, new)
                for info in attribute.g.output:
                    if info.name == old:
                        info.name = new
