"""The model as it came: what a result is compared with, and by which its edits are described.

What each node, interface and weight of a model is are its fingerprints. A second try starts from
the model as it came.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import Struct
from onnx import ModelProto

from graphfix.authoring.declaring import Pass
from graphfix.authoring.editing import Editor
from graphfix.ir.graph import Constant, Graph, Node, Shape, Tensor
from graphfix.ir.model import Model
from graphfix.ir.schemas import CLOCK
from graphfix.pipeline.model_types import evaluators_for
from graphfix.pipeline.op_types import OperatorTypes, stand_ins
from graphfix.pipeline.validation import (
    Validity,
    misdeclared_outputs,
    validity_of,
    with_mistyped_outputs,
)
from graphfix.report import FileFacts

_Types = tuple[list[int], list[Shape | None]]
_Said = tuple[str, str, list[Tensor], list[Tensor], list[str]]


class _Print:
    """What a graph and its nodes are, property by property: lists compare at once, node by node.

    Attributes:
        graph: The graph.
        ends: Its inputs, outputs and their names.
        constants: Its initializers, with the names and weights that they had.
        nodes: Its nodes, which are kept alive.
    """

    __slots__ = (
        "_attributes",
        "_domains",
        "_elem_types",
        "_inputs",
        "_ops",
        "_outputs",
        "_shapes",
        "constants",
        "ends",
        "graph",
        "nodes",
    )

    def __init__(self, graph: Graph) -> None:
        """Take down what `graph` is now."""
        nodes = graph.nodes.copy()
        self.graph = graph
        self.ends = _ends(graph)
        self.constants = [(each, each.name, each.weights) for each in graph.initializers]
        self.nodes = nodes
        self._ops = [node.op for node in nodes]
        self._domains = [node.domain for node in nodes]
        self._inputs = [node.inputs.copy() for node in nodes]
        self._outputs = [node.outputs.copy() for node in nodes]
        self._attributes = _replaced(nodes)
        # The types of all outputs, one after the other.
        self._elem_types = [tensor.elem_type for node in nodes for tensor in node.outputs]
        self._shapes = [tensor.shape for node in nodes for tensor in node.outputs]

    def holds(self, *, lists_alone: bool) -> bool:
        """Say whether the graph is what it was; tensors are compared by identity.

        Args:
            lists_alone: Whether no field was set since, which counts as an edit by itself: what
                is left to look at is lists, which a pass may have changed after our back.
        """
        graph, nodes = self.graph, self.nodes
        return (
            graph.nodes == nodes
            and self.ends == _ends(graph)
            and self.constants == [(each, each.name, each.weights) for each in graph.initializers]
            and self._inputs == [node.inputs for node in nodes]
            and self._outputs == [node.outputs for node in nodes]
            and (lists_alone or self._holds_fields())
        )

    def _holds_fields(self) -> bool:
        nodes = self.nodes
        return (
            self._ops == [node.op for node in nodes]
            and self._domains == [node.domain for node in nodes]
            and self._attributes == _replaced(nodes)
            and self._elem_types == [tensor.elem_type for node in nodes for tensor in node.outputs]
            and self._shapes == [tensor.shape for node in nodes for tensor in node.outputs]
        )

    def places(self) -> Iterator[tuple[Node, int, int]]:
        """Yield each node with its place, and that of the first of its outputs among all."""
        start = 0
        for place, (node, outputs) in enumerate(zip(self.nodes, self._outputs, strict=True)):
            yield node, place, start
            start += len(outputs)

    def said(self, place: int) -> _Said:
        """Return what the node at a place was."""
        replaced = self._attributes.get(id(self.nodes[place]), [])
        ends = self._inputs[place], self._outputs[place]
        return self._ops[place], self._domains[place], *ends, replaced

    def types(self, place: int, start: int) -> _Types:
        """Return the types that the outputs of the node at a place had."""
        taken = slice(start, start + len(self._outputs[place]))
        return self._elem_types[taken], self._shapes[taken]


_Ends = tuple[list[Tensor], list[Tensor], list[str]]


class Fingerprints:
    """What was in a model; things are compared by identity."""

    __slots__ = ("_edits", "_prints")

    def __init__(self, model: Model) -> None:
        """Take down what is in a model now."""
        self._take(model)

    def _take(self, model: Model) -> None:
        self._edits = CLOCK.count
        self._prints = {id(graph): _Print(graph) for graph in model.graphs()}

    def update(self, model: Model, editor: Editor) -> Node | Graph | Constant | None:
        """Take down what is in the model now; return what changed outside of a recorded site.

        What a tensor that stays was known to be is to be known of it still.

        Args:
            model: The model after a pass.
            editor: The editor of the pass, finished.
        """
        if not editor.recorded and self.still_hold(model):
            return None
        before = self._prints
        self._take(model)
        edits = [recorded.edit for recorded in editor.recorded]
        if any(edit is None for edit in edits):  # of the whole file, such as inlining
            return None
        rebuilt = {id(edit.graph) for edit in edits if edit is not None}
        nodes = {
            id(node): (known, place, start)
            for known in before.values()
            for node, place, start in known.places()
        }
        constants = {id(each[0]): each for known in before.values() for each in known.constants}
        allowed = _recorded_nodes(editor)
        for key, now in self._prints.items():
            # What is new came with a site; a body may output another tensor at one.
            was = before.get(key) if key not in rebuilt else None
            if was is not None and was.ends != now.ends:
                return now.graph
            for fresh in now.constants:
                if constants.get(id(fresh[0]), fresh) != fresh:
                    return fresh[0]
            for node, place, start in now.places():
                if id(node) not in nodes:
                    if id(node) not in allowed:
                        return node
                    continue
                known, at, first = nodes[id(node)]
                if known.said(at) != now.said(place) and id(node) not in allowed:
                    return node
                old, new = known.types(at, first), now.types(place, start)
                if old != new and _worse(old, new):
                    return node
        return None

    def still_hold(self, model: Model) -> bool:
        """Say whether all is as it was; most passes leave a model alone."""
        count, edits = 0, CLOCK.count
        for graph in model.graphs():
            known = self._prints.get(id(graph))
            if known is None or not known.holds(lists_alone=edits == self._edits):
                return False
            count += 1
        if count != len(self._prints):
            return False
        self._edits = edits
        return True


def _ends(graph: Graph) -> _Ends:
    names = [tensor.name for tensor in (*graph.inputs, *graph.outputs)]
    return list(graph.inputs), list(graph.outputs), names


def _replaced(nodes: list[Node]) -> dict[int, list[str]]:
    """Return the names of the attributes of the nodes that have others than in the file."""
    touched = [node for node in nodes if node.attrs.own or node.attrs.dropped]
    return {id(node): sorted(node.attrs) for node in touched if node.attrs.replaced()}


def _recorded_nodes(editor: Editor) -> set[int]:
    allowed: set[int] = set()
    for recorded in editor.recorded:
        edit = recorded.edit
        if edit is None:
            continue
        for group in (edit.added, edit.removed, edit.touched):
            allowed.update(map(id, group))
        for node in edit.added:
            for _, body in node.graphs():  # what came in a new body came with its node
                allowed.update(id(inner) for graph in body.walk() for inner in graph.nodes)
    return allowed


def _worse(known: _Types, now: _Types) -> bool:
    """Say whether something that was known of tensors is another thing now, or forgotten."""
    if len(known[0]) != len(now[0]):
        return False
    for old, new, old_shape, new_shape in zip(known[0], now[0], known[1], now[1], strict=True):
        if old and new != old:
            return True
        if old_shape is None:
            continue
        if new_shape is None or len(new_shape) != len(old_shape):
            return True
        if any(isinstance(a, int) and a != b for a, b in zip(old_shape, new_shape, strict=True)):
            return True
    return False


class Given(Struct, frozen=True):
    """What is known of the file that a run was given, where the model does not say it.

    Attributes:
        facts: What identifies it; None for what identifies the model.
        notes: Sentences that belong to no finding.
    """

    facts: FileFacts | None = None
    notes: tuple[str, ...] = ()


NOTHING = Given()


class Original(Struct, frozen=True):
    """What must be known of the model before a pass touches it.

    Attributes:
        proto: The model; never changed.
        path: The file that holds just this model; None where there is none.
        base_dir: The folder of its external data.
        facts: What identifies it.
        validity: What the checker said of it.
        misdeclared: Outputs that it declares with a shape that they do not have.
        evaluators: Where the numpy models of its operators without schema are.
    """

    proto: ModelProto
    path: Path | None
    base_dir: str
    facts: FileFacts
    validity: Validity
    misdeclared: frozenset[str]
    evaluators: dict[tuple[str, str], str]

    @classmethod
    def of(
        cls, model: Model, passes: tuple[Pass, ...], op_types: Sequence[OperatorTypes] = ()
    ) -> Original:
        """Look at a model that no pass has touched yet.

        Args:
            model: The model.
            passes: Passes that may know what its operators compute.
            op_types: What the user says of the types of operators that nothing else knows.
        """
        found = validity_of(model)
        complaints = with_mistyped_outputs(found.complaints, model, passes)
        return cls(
            model.proto,
            model.path,
            model.base_dir,
            facts_of(model),
            replace(found, complaints=complaints),
            misdeclared_outputs(model, passes),
            {**(stand_ins(model, op_types) if op_types else {}), **evaluators_for(model, passes)},
        )

    def again(self) -> Model:
        """Return the model once more, to be edited."""
        return Model(
            self.proto,
            path=self.path,
            sha256=self.facts.sha256,
            size=self.facts.bytes,
            base_dir=self.base_dir,
        )


def facts_of(model: Model) -> FileFacts:
    """Return what identifies the model."""
    return FileFacts(
        path=str(model.path) if model.path is not None else "",
        sha256=model.sha256,
        opset=model.opset,
        ir_version=model.ir_version,
        nodes=model.node_count(),
        bytes=model.size,
    )
