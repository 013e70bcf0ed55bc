"""What is asked of a model before anything interprets it: readable names, sane numbers, a bound.

Protobuf gives a text that is not UTF-8 as bytes, and 64 bits where ONNX's own code takes 32;
neither is known to what comes later. Functions that call each other may stand for more nodes than
any machine holds: inference, checker, inliner and engines all walk through the calls.
"""

from __future__ import annotations

from collections.abc import Iterable

from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

from graphfix.errors import InvalidModel
from graphfix.ir.protos import all_nodes

MAX_EXPANDED = 50_000
_LARGEST = (1 << 31) - 1  # onnx's own code has versions in an int
_SHOWN = 60

Key = tuple[str, str, str]


def vet(proto: ModelProto, where: str) -> None:
    """Check what every reader of a model relies on; linear in nodes, reads no weights.

    Raises:
        InvalidModel: A name is not UTF-8, a version is no version, or the local functions come to
            more than 50,000 nodes once they are called (and to four times what the file has).
    """
    try:
        _vet_versions(proto)
        _vet_names(proto)
        check_expansion(proto)
    except InvalidModel as error:
        raise error.at(where) from None


def _vet_versions(proto: ModelProto) -> None:
    numbers = [("the IR version", proto.ir_version)]
    imports = [e for f in proto.functions for e in f.opset_import]
    _texts("", "the domain of an opset", [e.domain for e in (*proto.opset_import, *imports)])
    for entry in (*proto.opset_import, *imports):
        numbers.append((f"the opset of {entry.domain or 'ai.onnx'!r}", entry.version))
    for what, number in numbers:
        if not -_LARGEST <= number <= _LARGEST:
            raise InvalidModel(f"{what} is {number}, which is no version of anything")


def _texts(where: str, what: str, texts: Iterable[str]) -> None:
    """Check that texts are texts; a fast way for the many that are."""
    given: list[str | bytes] = list(texts)
    try:
        "".join(given)  # type: ignore[arg-type]
    except TypeError:
        shown = next(str(text[:_SHOWN]) for text in given if isinstance(text, bytes))
        raise InvalidModel(
            f"{what}, {shown}, is not UTF-8", where=where, hint="the file is damaged"
        ) from None


def _vet_names(proto: ModelProto) -> None:
    texts = [text for entry in proto.metadata_props for text in (entry.key, entry.value)]
    _texts("metadata_props", "a text of the metadata", texts)
    _texts("", "the producer", [proto.producer_name, proto.producer_version, proto.domain])
    subgraphs = [(proto.graph, "main")]
    for function in proto.functions:
        scope = f"function:{function.domain}::{function.name}"
        names = [function.domain, function.name, function.overload]
        names += [*function.input, *function.output, *function.attribute]
        names.extend(attribute.name for attribute in function.attribute_proto)
        _texts(scope, "a name of the function", names)
        for node in function.node:
            subgraphs.extend(_vet_node(node, scope))
    while subgraphs:
        graph, scope = subgraphs.pop()
        subgraphs.extend(_vet_graph(graph, scope))


def _vet_graph(graph: GraphProto, scope: str) -> list[tuple[GraphProto, str]]:
    names = [graph.name]
    for infos in (graph.input, graph.output, graph.value_info):
        for info in infos:
            names.append(info.name)
            names.extend(dim.dim_param for dim in info.type.tensor_type.shape.dim)
    _texts(scope, "the name of a tensor or size", names)
    for tensor in graph.initializer:
        _vet_tensor(tensor, scope)
    for sparse in graph.sparse_initializer:
        _vet_tensor(sparse.values, scope)
    return [body for node in graph.node for body in _vet_node(node, scope)]


def _vet_tensor(tensor: TensorProto, scope: str) -> None:
    texts = [tensor.name]
    for entry in tensor.external_data:
        texts += (entry.key, entry.value)
    _texts(scope, "the name or place of a tensor", texts)


def _vet_node(node: NodeProto, scope: str) -> list[tuple[GraphProto, str]]:
    subgraphs: list[tuple[GraphProto, str]] = []
    texts = [node.op_type, node.domain, node.overload, node.name, *node.input, *node.output]
    for attribute in node.attribute or ():
        texts += (attribute.name, attribute.ref_attr_name)
        if attribute.HasField("t"):
            _vet_tensor(attribute.t, scope)
        if attribute.HasField("g"):
            subgraphs.append((attribute.g, scope))
        subgraphs.extend((graph, scope) for graph in attribute.graphs)
    _texts(scope, "a name of a node", texts)
    return subgraphs


def check_expansion(proto: ModelProto) -> None:
    """Check that the calls of local functions come to a number of nodes that can be held.

    Raises:
        InvalidModel: They come to more than `MAX_EXPANDED`, and to more than four times the nodes
            that the file has.
    """
    if not proto.functions:
        return
    functions = {(f.domain, f.name, f.overload): f for f in proto.functions}
    written = len(list(all_nodes(proto.graph.node)))
    calls = {key: list(_calls(f.node, functions)) for key, f in functions.items()}
    own = {key: sum(1 for _ in all_nodes(f.node)) for key, f in functions.items()}
    sizes = _sizes(own, calls)
    main = list(_calls(proto.graph.node, functions))
    total = written + sum(sizes[key] for key in main)
    if total <= max(MAX_EXPANDED, 4 * (written + sum(own.values()))):
        return
    worst = max(main, key=lambda key: sizes[key])
    shown = str(total) if total < 1 << 64 else f"2^{total.bit_length() - 1}"
    raise InvalidModel(
        f"its local functions come to {shown} nodes once they are called: "
        f"{'::'.join(filter(None, worst))!r} alone makes "
        f"{sizes[worst] if sizes[worst] < 1 << 64 else 'more than 2^64'}",
        hint=f"at most {MAX_EXPANDED:,} nodes are worked on",
    )


def _calls(nodes: Iterable[NodeProto], functions: dict[Key, FunctionProto]) -> Iterable[Key]:
    for node in all_nodes(nodes):
        key = (node.domain, node.op_type, node.overload)
        if key in functions:
            yield key


def _sizes(own: dict[Key, int], calls: dict[Key, list[Key]]) -> dict[Key, int]:
    """Return the nodes of each function with those that it calls; a cycle counts once."""
    sizes: dict[Key, int] = {}
    entered: set[Key] = set()
    for start in own:
        pending = [start]
        while pending:
            key = pending[-1]
            if key in sizes:
                pending.pop()
                continue
            waiting = [k for k in dict.fromkeys(calls[key]) if k not in sizes and k not in entered]
            entered.add(key)
            if waiting:
                pending.extend(waiting)
                continue
            sizes[key] = own[key] + sum(sizes.get(k, 0) for k in calls[key])
            pending.pop()
    return sizes
