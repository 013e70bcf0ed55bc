"""From protos to the graph that passes edit; nothing is read that a pass does not ask for.

ONNX asks that each name is written once (https://onnx.ai/onnx/repo-docs/IR.html#graphs: single
static assignment). onnxruntime refuses two computing nodes that write one name ("Duplicate
definition of name"). Of initializers and Constants of one name it takes the latest, Constants
after initializers (graph.cc, Graph::Graph: "the model will use the latest encountered
initializer").

The order of nodes is looked at here, too: whether each comes after what it uses.
"""

from __future__ import annotations

import gc
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from heapq import heapify, heappop, heappush

from msgspec import Struct, field
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    ValueInfoProto,
)

from graphfix.errors import InvalidModel
from graphfix.ir.graph import (
    Constant,
    Function,
    Graph,
    Node,
    Tensor,
    Variable,
    Weights,
    shape_of_type,
)
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import Attributes
from graphfix.operators.table import MAY_DRAW

_GRAPH = AttributeProto.GRAPH
_LOOKED_AT = 10_000  # names that are compared with one that is lost
_ALIKE = 0.7  # how much alike two names are that may be of one tensor, see difflib
_HINT = (
    "who reads it may mean the last of them, or the latest before itself, and the file does not "
    "say which: each name is to be written once; rename one of them, or export the file again"
)


class UndefinedName(InvalidModel):
    """A node reads what nothing around it defines."""


class _Scope(Struct):
    """Names that a node may refer to: those of its graph, then those of the graphs around it."""

    tensors: dict[str, Tensor] = field(default_factory=dict[str, Tensor])
    outer: _Scope | None = None

    def find(self, name: str) -> Tensor | None:
        scope: _Scope | None = self
        while scope is not None:
            tensor = scope.tensors.get(name)
            if tensor is not None:
                return tensor
            scope = scope.outer
        return None

    def names(self) -> list[str]:
        """Return all names that may be referred to."""
        outer = self.outer.names() if self.outer is not None else []
        return [*filter(None, self.tensors), *outer]


@contextmanager
def paused_collector() -> Generator[None]:
    """Let the collector wait, where it is on: what is made meanwhile is held or freed by itself.

    It would look again and again at all parts of a graph that grows, which all stay.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@paused_collector()
def import_main(proto: ModelProto, base_dir: str) -> Graph:
    """Build the main graph of a model.

    Raises:
        InvalidModel: A node uses a name that nothing defines, a name is defined twice, or an
            attribute has no type.
    """
    opsets = {normal_domain(o.domain): o.version for o in proto.opset_import}
    graph = Graph(proto.graph.name, opsets, proto=proto.graph)
    _fill(graph, proto.graph, _Scope(), base_dir, overridable=proto.ir_version >= 4)
    return graph


def import_function(proto: FunctionProto, base_dir: str) -> Function:
    """Build the body of a local function; its inputs have no types of their own."""
    function = Function(proto)
    infos = {info.name: info for info in proto.value_info}
    scope = _Scope()
    inputs: list[Tensor] = []
    definitions = Definitions(function.scope)
    for name in proto.input:
        definitions.given(name)
        variable = Variable(name, info=infos.get(name))
        scope.tensors[name] = variable
        inputs.append(variable)
    function.inputs = inputs
    _fill_nodes(function, list(proto.node), scope, infos, definitions, base_dir)
    function.set_outputs([_output(scope, name, function) for name in proto.output])
    return function


def _fill(
    graph: Graph, proto: GraphProto, scope: _Scope, base_dir: str, *, overridable: bool
) -> None:
    tensors = scope.tensors
    definitions = Definitions(graph.scope)
    dense = [Constant(stored.name, Weights(stored, base_dir)) for stored in proto.initializer]
    sparse = [
        Constant(stored.values.name, Weights(stored, base_dir))
        for stored in proto.sparse_initializer
    ]
    for constant in (*dense, *sparse):
        graph.add_initializer(constant)
        definitions.stored(constant.name)
        tensors[constant.name] = constant
    inputs: list[Tensor] = []
    for info in proto.input:
        definitions.given(info.name)
        known = tensors.get(info.name)
        if isinstance(known, Constant):
            known.overridable = overridable
            known.declared = shape_of_type(_without_negative_sizes(info).type)[1]
            inputs.append(known)
            continue
        variable = Variable(info.name, info=_without_negative_sizes(info))
        tensors[info.name] = variable
        inputs.append(variable)
    graph.inputs = inputs
    declared = (*proto.value_info, *proto.output)
    infos = {info.name: _without_negative_sizes(info) for info in declared}
    _fill_nodes(graph, list(proto.node), scope, infos, definitions, base_dir)
    graph.set_outputs([_output(scope, info.name, graph) for info in proto.output])


def _without_negative_sizes(info: ValueInfoProto) -> ValueInfoProto:
    """Return a declaration with unknown sizes for the negative ones by which some files mean that.

    Engines take -1 for a dynamic size; the inference of onnx computes with it.
    """
    if all(dim.dim_value >= 0 for dim in info.type.tensor_type.shape.dim):
        return info
    known = ValueInfoProto()
    known.CopyFrom(info)
    for dim in known.type.tensor_type.shape.dim:
        if dim.dim_value < 0:
            dim.ClearField("dim_value")
    return known


def _output(scope: _Scope, name: str, graph: Graph) -> Tensor:
    tensor = scope.find(name)
    if tensor is None:
        raise InvalidModel(
            f"output {name!r} is not defined by any node, input or initializer",
            where=graph.scope,
            hint="the file was cut or edited wrongly; export it again",
        )
    return tensor


def _fill_nodes(
    graph: Graph,
    protos: list[NodeProto],
    scope: _Scope,
    infos: Mapping[str, object],
    definitions: Definitions,
    base_dir: str,
) -> None:
    # Outputs are declared before any input is looked up, so that a file whose nodes are not
    # sorted still gets one object for each tensor.
    tensors = scope.tensors
    produced: list[list[Tensor]] = []
    for index, proto in enumerate(protos):
        variables: list[Tensor] = []
        for name in proto.output:
            variable = Variable(name, info=infos.get(name) if name else None)  # type: ignore[arg-type]
            variables.append(variable)
            if name and not definitions.written(name, index, proto):
                tensors[name] = variable
        produced.append(variables)
    nodes: list[Node] = []
    ops: dict[str, str] = {}  # a proto makes a new text each time that it is asked
    for index, (proto, outputs) in enumerate(zip(protos, produced, strict=True)):
        inputs: list[Tensor] = []
        for name in proto.input:
            if not name:
                inputs.append(Variable(""))
                continue
            tensor = scope.find(name)
            if tensor is None:
                raise UndefinedName(
                    f"node {index} ({proto.op_type} {proto.name!r}) uses {name!r}, "
                    "which no node, input or initializer defines",
                    where=graph.scope,
                    hint=f"{_two_readings(name, scope)}; export it again",
                )
            inputs.append(tensor)
        attributes = proto.attribute or ()
        node = Node(
            ops.setdefault(proto.op_type, proto.op_type),
            graph,
            name=proto.name,
            domain=normal_domain(proto.domain),
            attrs=Attributes(attributes),
            proto=proto,
            overload=proto.overload,
            index=index,
        )
        # Copies, which have no room for more, as lists have that have grown.
        node.attach(inputs[:], outputs[:])
        nodes.append(node)
        for attribute in attributes:
            if attribute.type == _GRAPH:
                _import_body(node, attribute, scope, base_dir)
    graph.nodes = nodes


def _two_readings(name: str, scope: _Scope) -> str:
    """Say how a node may be meant that reads what nothing defines, as a rewriting leaves it."""
    known = get_close_matches(name, scope.names()[:_LOOKED_AT], 1, _ALIKE)
    other = f"another name of {known[0]!r}" if known else "an input that is lost"
    return f"it may be {other}, or what was to be left out, and the file does not say which"


def _import_body(node: Node, attribute: AttributeProto, scope: _Scope, base_dir: str) -> None:
    body = Graph(
        attribute.g.name,
        node.graph.opsets,
        proto=attribute.g,
        parent=node,
        attribute=attribute.name,
    )
    if node.op == "If":
        # ONNX allows no inputs here, but some files write what a branch captures as its inputs.
        for info in attribute.g.input:
            captured = scope.find(info.name)
            if captured is not None:
                captured.output_count += 1  # its name must stay, and with it what computes it
    _fill(body, attribute.g, _Scope(outer=scope), base_dir, overridable=False)
    node.attrs.adopt_graph(attribute.name, body)


class Definitions:
    """Who writes the names of one scope.

    Constants may do so again, and the last one counts; so may a node that is the same in all, and
    then nothing reads the later ones (`repeats`).
    """

    def __init__(self, scope: str) -> None:
        """Begin with nothing; `scope` is the scope as reports name it."""
        self._scope = scope
        self._inputs: set[str] = set()
        self._stored: set[str] = set()
        self._nodes: dict[str, tuple[int, NodeProto]] = {}

    def stored(self, name: str) -> None:
        """Take down an initializer."""
        self._stored.add(name)

    def given(self, name: str) -> None:
        """Take down an input.

        Raises:
            InvalidModel: There is one of this name.
        """
        if name in self._inputs:
            raise self._refused(f"two inputs are called {name!r}")
        self._inputs.add(name)

    def written(self, name: str, index: int, node: NodeProto) -> bool:
        """Take down what a node writes; say whether it repeats a node that did before.

        Raises:
            InvalidModel: The name is defined already, and one of both is computed or given.
        """
        known = self._nodes.get(name)
        if known is not None and known[0] == index:
            raise self._refused(f"{_shown(index, node)} writes {name!r} twice")
        if known is None:
            known = self._nodes[name] = (index, node)
        if known[0] != index:
            if not (_is_constant(node) and _is_constant(known[1])):
                if repeats(node, known[1]):
                    return True
                both = f"{_shown(*known)} and {_shown(index, node)}"
                raise self._refused(f"{both} both write {name!r}")
        elif name in self._stored and not _is_constant(node):
            raise self._refused(f"{_shown(index, node)} writes {name!r}, which is an initializer")
        elif name in self._inputs and name not in self._stored:
            raise self._refused(f"{_shown(index, node)} writes {name!r}, which is an input")
        return False

    def _refused(self, message: str) -> InvalidModel:
        return InvalidModel(message, where=self._scope, hint=_HINT)


def repeats(node: NodeProto, other: NodeProto) -> bool:
    """Say whether two nodes are the same in all but their names, and compute the same twice.

    One that draws at random, or has subgraphs that may, does not.
    """
    if node.op_type in MAY_DRAW or any(a.HasField("g") or a.graphs for a in node.attribute):
        return False
    same = ("op_type", "overload", "input", "output")
    return (
        normal_domain(node.domain) == normal_domain(other.domain)
        and all(getattr(node, field) == getattr(other, field) for field in same)
        and sorted(a.SerializeToString(deterministic=True) for a in node.attribute)
        == sorted(a.SerializeToString(deterministic=True) for a in other.attribute)
    )


def _shown(index: int, node: NodeProto) -> str:
    name = f" {node.name!r}" if node.name else ""
    return f"node {index} ({node.op_type}{name})"


def _is_constant(node: NodeProto) -> bool:
    return node.op_type == "Constant" and node.domain in ("", "ai.onnx")


def first_misplaced(graph: Graph) -> Node | None:
    """Return the first node that is before a node of its graph that it needs."""
    later = {id(t) for node in graph.nodes for t in node.outputs if t.name}
    nodes: list[Node] = graph.nodes
    for node in nodes:
        if not later.isdisjoint(map(id, tensors_read(node))):
            return node
        later.difference_update(map(id, node.outputs))
    return None


def tensors_read(node: Node) -> list[Tensor]:
    """Return what a node reads, and its subgraphs read or hand on."""
    if not node.attrs.own:
        return node.inputs
    used: list[Tensor] = list(node.inputs)
    for _, body in node.graphs():
        for inner in body.walk():
            used.extend(inner.outputs)
            for inner_node in inner.nodes:
                used.extend(inner_node.inputs)
    return used


def sort_graph(graph: Graph) -> None:
    """Sort the nodes of one scope in place; see `sorted_nodes`."""
    graph.nodes = sorted_nodes(graph)


def sorted_nodes(graph: Graph) -> list[Node]:
    """Return the nodes of one scope in order; of those that are ready the first goes first.

    Raises:
        InvalidModel: The nodes form a cycle.
    """
    makers = {id(t): i for i, node in enumerate(graph.nodes) for t in node.outputs if t.name}
    needs: list[set[int]] = []
    for index, node in enumerate(graph.nodes):
        needs.append({makers[id(t)] for t in tensors_read(node) if id(t) in makers} - {index})
        if any(makers.get(id(t)) == index for t in node.inputs):
            raise _cycle(graph, node)
    order = in_order(needs)
    if len(order) != len(graph.nodes):
        done = set(order)
        stuck = next(index for index in range(len(graph.nodes)) if index not in done)
        raise _cycle(graph, graph.nodes[stuck])
    return [graph.nodes[index] for index in order]


def in_order(needs: Sequence[Collection[int]]) -> list[int]:
    """Return places so that each comes after those it needs; of those ready the least is first.

    Args:
        needs: For each place those that it needs. What is in a cycle or after one is left out.
    """
    waiting = [len(each) for each in needs]
    followers: dict[int, list[int]] = {}
    for index, each in enumerate(needs):
        for need in each:
            followers.setdefault(need, []).append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    heapify(ready)
    order: list[int] = []
    while ready:
        index = heappop(ready)
        order.append(index)
        for follower in followers.get(index, ()):
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heappush(ready, follower)
    return order


def _cycle(graph: Graph, node: Node) -> InvalidModel:
    return InvalidModel(
        f"the nodes form a cycle through {node.op} {node.name!r}",
        where=graph.scope,
        hint="the file was edited wrongly; export it again",
    )
