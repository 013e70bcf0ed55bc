"""The types that follow from inputs, weights and nodes alone, whatever else a file declares."""

from collections.abc import Iterator

from onnx import GraphProto, TypeProto

from graphfix.authoring import Graph, Model, Node, Variable, infer_proto
from graphfix.validity.declarations import forget_declared

_SIZES = 3  # the input of Resize that says what no scale has to be multiplied for
Inferred = tuple[Graph, Variable, TypeProto]


def undeclared_types(model: Model) -> Iterator[Inferred]:
    """Yield the outputs of nodes, functions left out, with the scope and the type inferred.

    What inference does not know is left out.
    """
    proto = model.light_proto()
    forget_declared(proto.graph)
    yield from _walk(model.graph, infer_proto(proto).graph)


def shapes_count(model: Model) -> bool:
    """Say whether inference can be believed of sizes, which it cannot in every file.

    It keeps the axis that SplitToSequence drops where that is given a length as well, and rounds
    what a scale gives as a double where engines do it as a float.
    """
    return not any(_is_misjudged(node) for node in model.nodes() if not node.domain)


def _is_misjudged(node: Node) -> bool:
    if node.op == "Resize":
        return len(node.inputs) <= _SIZES or not node.inputs[_SIZES].name
    return node.op in ("SplitToSequence", "Upsample")


def _walk(graph: Graph, proto: GraphProto) -> Iterator[Inferred]:
    found = {info.name: info.type for info in (*proto.value_info, *proto.output)}
    for node, written in zip(graph.nodes, proto.node, strict=False):
        for tensor in node.outputs:
            known = found.get(tensor.name) if tensor.name else None
            if isinstance(tensor, Variable) and known is not None and known.WhichOneof("value"):
                yield graph, tensor, known
        subgraphs = {a.name: a.g for a in written.attribute if a.HasField("g")}
        for name, body in node.graphs():
            if name in subgraphs:
                yield from _walk(body, subgraphs[name])
