"""What is in the body of an If, Loop or Scan, taken out of it; functions and constants too."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import GraphProto, ModelProto, NodeProto, TensorProto, TypeProto
from onnx.helper import make_tensor_type_proto

from graphfix.difference.renaming import rename_tensors
from graphfix.difference.scopes import Scope, inlined, subgraphs_of
from graphfix.errors import GraphfixError, PassBug
from graphfix.ir.model import Model
from graphfix.ir.protos import with_graph
from graphfix.pipeline.finishing import finish
from graphfix.pipeline.model_files import documented
from graphfix.pipeline.settings import RunOptions
from graphfix.reduction.oracle import Oracle
from graphfix.reduction.tensor_types import Types, declaration, is_full

# What leaves fewer nodes and changes nothing.
_SIMPLER = ("constant-to-initializer", "fold-constants", "identity-elimination", "dead-code")


def simpler(proto: ModelProto, oracle: Oracle) -> ModelProto:
    """Return the model with functions inlined and constants computed, if it fails like that."""
    if proto.functions:
        flat = inlined(proto)
        if oracle.accepts(flat):
            proto = flat
    folded = _folded(proto, oracle.base_dir)
    if folded is not None and folded != proto and oracle.accepts(folded):
        return folded
    return proto


def _folded(proto: ModelProto, base_dir: str) -> ModelProto | None:
    settings = RunOptions(passes=_SIMPLER, verify="off").settings()
    try:
        with documented(proto):
            model = finish(Model(proto, base_dir=base_dir), settings, ()).model
    except (GraphfixError, PassBug):
        return None  # what cannot be made simpler is shrunk as it is
    return model.to_proto()


def without_a_body(proto: ModelProto, oracle: Oracle) -> ModelProto | None:
    """Return the model with the nodes of one body in place of the node that holds it.

    The inputs of the body become inputs of the model, its outputs outputs of the model, and what
    other nodes read of the node is fed. None where no such model fails.
    """
    types: Types | None = None
    for index, node in enumerate(proto.graph.node):
        for _, body in subgraphs_of(node):
            if types is None:
                types = oracle.typist.types(proto)
            candidate = _hoisted(proto, index, body, types)
            if oracle.accepts(candidate):
                return candidate
    return None


def _hoisted(proto: ModelProto, index: int, body: GraphProto, types: Types) -> ModelProto:
    node: NodeProto = proto.graph.node[index]
    inner = _with_free_names(proto.graph, body)
    known = dict(types)
    for old, new in zip(_names(body), _names(inner), strict=True):
        if old in types:
            known[new] = types[old]
    for name, kind in _border(node, inner, types):
        if not is_full(known.get(name)):
            known[name] = kind
    graph = GraphProto()
    graph.CopyFrom(proto.graph)
    del graph.node[index]
    for place, other in enumerate(inner.node):
        graph.node.insert(index + place, other)
    graph.initializer.extend(inner.initializer)
    graph.sparse_initializer.extend(inner.sparse_initializer)
    graph.value_info.extend(inner.value_info)
    scope = Scope.of_graph(graph, "main")
    made = {name for name in node.output if name}
    for name in sorted(made & set(scope.readers)):
        graph.input.append(declaration(name, None, known))
    stored = set(scope.stored)
    graph.input.extend(declaration(i.name, i, known) for i in inner.input if i.name not in stored)
    kept = [info for info in graph.output if info.name not in made]
    del graph.output[:]
    graph.output.extend(kept)
    for info in inner.output:
        if info.name in scope.makers and all(info.name != one.name for one in kept):
            graph.output.append(declaration(info.name, info, known))
    return with_graph(proto, graph)


def _border(node: NodeProto, body: GraphProto, types: Types) -> Iterator[tuple[str, TypeProto]]:
    """Walk what the node tells of the types of the inputs and outputs of its body.

    A branch of an If gives what the node gives. The body of a Loop takes a number, a condition
    and the states, and gives a condition, the states and parts of what is collected
    (https://onnx.ai/onnx/operators/onnx__Loop.html).
    """
    results, reads = [info.name for info in body.output], [info.name for info in body.input]
    pairs: list[tuple[str, str]] = []
    if node.op_type == "If":
        pairs += zip(results, node.output, strict=False)
    elif node.op_type == "Loop" and len(reads) >= 2:
        states = len(reads) - 2
        pairs += zip(reads[2:], node.input[2:], strict=False)
        pairs += zip(results[1 : 1 + states], node.output, strict=False)
        yield reads[0], make_tensor_type_proto(TensorProto.INT64, ())
        for name in (reads[1], *results[:1]):
            yield name, make_tensor_type_proto(TensorProto.BOOL, ())
    for name, other in pairs:
        if other in types:
            yield name, types[other]


def _with_free_names(graph: GraphProto, body: GraphProto) -> GraphProto:
    """Return the body with names that the graph does not have; what it captures keeps its own."""
    taken: set[str] = set()

    def note(name: str, _is_main: bool) -> str:
        taken.add(name)
        return name

    outer = GraphProto()
    outer.CopyFrom(graph)
    rename_tensors(outer, note)
    fresh = GraphProto()
    fresh.CopyFrom(body)

    def choose(name: str, _is_main: bool) -> str:
        free, number = f"{name}_inner", 1
        while free in taken:
            free, number = f"{name}_inner{number}", number + 1
        taken.add(free)
        return free

    rename_tensors(fresh, choose)
    return fresh


def _names(graph: GraphProto) -> list[str]:
    given = [info.name for info in graph.input]
    return given + [name for node in graph.node for name in node.output]
