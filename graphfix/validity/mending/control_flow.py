"""Reads branches that give two types, and states of loops that change theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct
from onnx import AttributeProto, GraphProto, NodeProto, TypeProto

from graphfix.ir.graph import Graph, Node
from graphfix.ir.views import NodeView
from graphfix.report import NodeRef
from graphfix.validity.mending.kinds import Kind, of_rules
from graphfix.validity.mending.operands import Unclear, elem_name
from graphfix.validity.mending.promotion import joined
from graphfix.validity.mending.scopes import Scope, number_of, set_elem, tensor_type

_ROUNDS = 4  # after which a state has the widest type that there is
_COUNTERS = 2  # what a Loop and its body have before the states
_SCAN_WITHOUT_LENGTHS = 9
Given = dict[str, "TypeProto | None"]


class Reader(Protocol):
    """What walks over the nodes of a graph; see `graphfix.validity.mending.walk`."""

    opsets: dict[str, int]

    def entered(
        self, graph: GraphProto, outer: Scope | None, given: Mapping[str, TypeProto | None]
    ) -> Scope:
        """Return the scope of a graph before its first node."""
        ...

    def nodes(self, graph: Graph, scope: Scope) -> None:
        """Read the nodes of a graph."""
        ...

    def leave(self, scope: Scope) -> None:
        """Put what was read into the graph."""
        ...

    def add(self, node: NodeRef, said: str, kind: Kind) -> None:
        """Take down a reading."""
        ...

    def mark(self) -> tuple[int, int]:
        """Return how much was taken down."""
        ...

    def rewind(self, mark: tuple[int, int]) -> None:
        """Drop what was taken down since."""
        ...


class _Loop(Struct, frozen=True):
    """A Loop or a Scan.

    Attributes:
        node: The node.
        proto: The same as it is written.
        body: Its body.
        written: The same as it is written.
        first: Where the states begin, among the inputs of both.
        states: The names of what they begin with.
        ends: Where they begin among the outputs of the body.
    """

    node: Node
    proto: NodeProto
    body: Graph
    written: GraphProto
    first: int
    states: list[str]
    ends: int

    def inputs(self, scope: Scope, wanted: Sequence[str], written: GraphProto) -> Given:
        """Return the types of the inputs of the body, as far as they are known better there."""
        given: Given = {}
        elems = [*wanted, *(scope.elem(n) for n in self.proto.input[self.first + len(wanted) :])]
        for info, elem in zip(written.input[self.first :], elems, strict=False):
            if elem:
                given[info.name] = tensor_type(number_of(elem))
        return given


def given_by(reader: Reader, node: Node, proto: NodeProto, scope: Scope) -> Given | None:
    """Read a node with subgraphs, and return what it gives; None for any other node.

    Raises:
        Unclear: Branches or states have types that nothing joins.
    """
    subgraphs = dict(node.graphs())
    if not subgraphs:
        return None
    written = {a.name: a.g for a in proto.attribute if a.type == AttributeProto.GRAPH}
    if proto.op_type == "If" and len(subgraphs) == len(written):
        return _branches(reader, node, proto, scope, subgraphs, written)
    lengths = proto.op_type == "Scan" and reader.opsets.get("", 0) < _SCAN_WITHOUT_LENGTHS
    if proto.op_type in ("Loop", "Scan") and "body" in subgraphs and not lengths:
        scanned = _scanned(proto)
        first = _COUNTERS if scanned is None else 0
        states = list(proto.input)[first : len(proto.input) - (scanned or 0)]
        ends = 1 if scanned is None else 0  # the body of a Loop gives its condition first
        loop = _Loop(node, proto, subgraphs["body"], written["body"], first, states, ends)
        return _settled(reader, loop, scope, _types_of_states(reader, loop, scope))
    for name, body in subgraphs.items():
        inner = reader.entered(written[name], scope, {})
        reader.nodes(body, inner)
        reader.leave(inner)
    return dict.fromkeys(proto.output)


def _branches(
    reader: Reader,
    node: Node,
    proto: NodeProto,
    scope: Scope,
    subgraphs: Mapping[str, Graph],
    written: Mapping[str, GraphProto],
) -> Given:
    inner = {name: reader.entered(written[name], scope, {}) for name in subgraphs}
    for name, body in subgraphs.items():
        reader.nodes(body, inner[name])
    (kind,) = of_rules("branch")
    given: Given = {}
    for place, name in enumerate(proto.output):
        found = [each.elem(_output(each, place)) for each in inner.values()]
        if not all(found):
            kinds = [each.type_of(_output(each, place)) for each in inner.values()]
            given[name] = kinds[0] if kinds[0] == kinds[-1] else None
            continue
        wanted = _common(found)
        if not wanted:
            raise Unclear(
                f"there are two readings of If: {name} is {found[0]} in one branch and "
                f"{found[1]} in the other, and the file does not say which is meant"
            )
        for branch, each in inner.items():
            _give(reader, node, each, place, wanted, f"{branch} gives", kind)
        given[name] = tensor_type(number_of(wanted))
    for each in inner.values():
        reader.leave(each)
    return given


def _types_of_states(reader: Reader, loop: _Loop, scope: Scope) -> list[str]:
    """Return the types that hold a state as it begins, as it is declared and as it becomes."""
    wanted: list[str] = []
    for place, name in enumerate(loop.states):
        given = scope.elem(name)
        listed = list(loop.written.input)[loop.first + place :]
        declared = elem_name(listed[0].type.tensor_type.elem_type) if listed else ""
        wanted.append(_widest(given, declared, loop.node) if given and declared else given)
    for _ in range(_ROUNDS):
        mark = reader.mark()
        copy = GraphProto()
        copy.CopyFrom(loop.written)
        inner = reader.entered(copy, scope, loop.inputs(scope, wanted, copy))
        reader.nodes(loop.body, inner)
        found = [inner.elem(info.name) for info in copy.output][loop.ends :]
        reader.rewind(mark)
        pairs = zip(wanted, found, strict=False)
        wider = [_widest(now, then, loop.node) if now and then else now for now, then in pairs]
        wider += wanted[len(wider) :]
        if wider == wanted:
            break
        wanted = wider
    return wanted


def _settled(reader: Reader, loop: _Loop, scope: Scope, wanted: list[str]) -> Given:
    """Write what the states are, and return what the node gives."""
    (kind,) = of_rules("state")
    ref = NodeView(loop.node).ref()
    given = loop.inputs(scope, wanted, loop.written)
    inner = reader.entered(loop.written, scope, given)
    for place, info in enumerate(loop.written.input):
        elem, known = elem_name(info.type.tensor_type.elem_type), inner.elem(info.name)
        outside = list(loop.proto.input)[place : place + 1]
        if scope.is_touched(outside):
            inner.touched.add(info.name)
        if info.name in given and elem and known and elem != known:
            reader.add(ref, f"{info.name}, declared as {elem}, is {known}: {kind.reading}", kind)
            set_elem(info.type, number_of(known))
            inner.touched.add(info.name)
    for place, name in enumerate(loop.states):
        elem = scope.elem(name)
        if wanted[place] and elem != wanted[place]:
            said = f"{name} ({elem}) is read as {wanted[place]}: {kind.reading}"
            reader.add(ref, said, kind)
            loop.proto.input[loop.first + place] = scope.cast(name, wanted[place])
    reader.nodes(loop.body, inner)
    for place, elem in enumerate(wanted):
        if elem:
            _give(reader, loop.node, inner, loop.ends + place, elem, "the body gives", kind)
    result: Given = {}
    for place, name in enumerate(loop.proto.output):
        inside = _output(inner, loop.ends + place)
        elem = inner.elem(inside)
        result[name] = tensor_type(number_of(elem)) if elem else inner.type_of(inside)
        if elem and inner.is_touched([inside]):
            set_elem(inner.graph.output[loop.ends + place].type, number_of(elem))
    reader.leave(inner)
    return result


def _give(
    reader: Reader, node: Node, inner: Scope, place: int, wanted: str, who: str, kind: Kind
) -> None:
    """Let a body give an output in a type, and declare it."""
    if place >= len(inner.graph.output):
        return
    info = inner.graph.output[place]
    elem = inner.elem(info.name)
    if elem and elem != wanted:
        said = f"{who} {info.name} ({elem}), which is read as {wanted}: {kind.reading}"
        reader.add(NodeView(node).ref(), said, kind)
        info.name = inner.cast(info.name, wanted)
    if info.type.tensor_type.elem_type and elem:
        set_elem(info.type, number_of(wanted))


def _output(scope: Scope, place: int) -> str:
    return scope.graph.output[place].name if place < len(scope.graph.output) else ""


def _scanned(proto: NodeProto) -> int | None:
    """Return how many inputs a Scan takes apart; None for a Loop."""
    if proto.op_type != "Scan":
        return None
    return next((a.i for a in proto.attribute if a.name == "num_scan_inputs"), 0)


def _common(types: Sequence[str]) -> str:
    """Return the type that holds all of these; empty where truth values are next to numbers."""
    if len(set(types)) == 1:
        return types[0]
    return "" if "bool" in types else joined(types)


def _widest(one: str, other: str, node: Node) -> str:
    wanted = _common((one, other))
    if not wanted:
        raise Unclear(
            f"there are two readings of {node.op}: a state that is {one} throughout, or one that "
            f"is {other}, and the file does not say which"
        )
    return wanted
