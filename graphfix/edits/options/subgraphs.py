"""A graph in an attribute of a node as a model of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Unpack

from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper

from graphfix.difference.scopes import Scope
from graphfix.edits.addressing import find_node
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.parts import branch_of, declared
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import all_graphs, copied, with_graph
from graphfix.reduction.tensor_types import declaration, is_full

_INSIDE = "graphfix/inside"  # before the names of tensors of the node that it is compared in


@dataclass(frozen=True, slots=True)
class ExtractBody:
    """Take the graph in an attribute of a node out, such as the decoder of BeamSearch.

    Weights that it reads from the graphs around it come along; other values that it reads from
    there become inputs after its own.

    Attributes:
        node: The node; a name, a pattern, ``op:If``, ``index:12``.
        attribute: The attribute.
    """

    node: str
    attribute: str
    option: str = field(default="--extract-body", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Return the body; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.node}.{self.attribute}"
        place = find_node(subject.proto, self.node, where)
        graph = copied(self._body(place.node, where))
        captured = sorted(Scope.of_graph(graph, "body").free)
        stored = [t for g in all_graphs(subject.proto.graph) for t in g.initializer]
        weights = [tensor for tensor in stored if tensor.name in captured]
        known = {tensor.name for tensor in weights}
        graph.initializer.extend(weights)
        others = [name for name in captured if name not in known]
        graph.input.extend(declared(subject, name, where) for name in others)
        self._type_outputs(subject, graph, where)
        taken = with_graph(subject.proto, graph)
        said = f"{self.attribute} of {place.text}, {len(graph.node)} nodes"
        if others:
            said += f"; from around it it reads {', '.join(others)}, inputs now"
        text = "it computes what it does inside of a node"
        return Step(taken, (said,), (Equal(text, _inside(taken), taken),))

    def _body(self, node: NodeProto, where: str) -> GraphProto:
        for attribute in node.attribute:
            if attribute.name == self.attribute and attribute.type == AttributeProto.GRAPH:
                return attribute.g
        names = [a.name for a in node.attribute if a.type == AttributeProto.GRAPH]
        known = f"it has: {', '.join(names)}" if names else "it has none"
        raise UsageError(f"the node has no graph {self.attribute!r} ({known})", where=where)

    def _type_outputs(self, subject: Subject, graph: GraphProto, where: str) -> None:
        for info in (*graph.input, *graph.output):
            if is_full(info.type):
                continue
            found = declaration(info.name, info, subject.inferred)
            if not is_full(found.type):
                raise UsageError(f"the type of tensor {info.name!r} is not known", where=where)
            info.CopyFrom(found)


@option("extract-body", "NODE.ATTRIBUTE", "Take out the graph inside of a node.", Group.PARTS)
def read_extract_body(given: Given) -> ExtractBody:
    """Return the edit that a text asks for."""
    node, dot, attribute = given.text.rpartition(".")
    if not dot or not node or not attribute:
        raise given.malformed()
    return ExtractBody(node, attribute)


def extract_body(model: ModelLike, node: str, attribute: str, **how: Unpack[How]) -> Edited:
    """Take the graph in an attribute of a node out as a model of its own."""
    return edit(model, [ExtractBody(node, attribute)], **how)


def _inside(taken: ModelProto) -> ModelProto:
    """Return a model that computes it in a branch of If, with the weights around it."""
    whole = copied(taken)
    graph = whole.graph
    branches = [branch_of(graph, f"{_INSIDE}/{index}/") for index in range(2)]
    graph.ClearField("node")
    graph.ClearField("value_info")
    condition = helper.make_tensor(f"{_INSIDE}/yes", TensorProto.BOOL, [], [True])
    graph.initializer.append(condition)
    results = [info.name for info in graph.output]
    node = helper.make_node(
        "If", [condition.name], results, then_branch=branches[0], else_branch=branches[1]
    )
    graph.node.append(node)
    return whole
