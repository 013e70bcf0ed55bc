"""Explain the first tensor that differs: the node that makes it, what it reads, what it holds."""

from __future__ import annotations

from collections.abc import Mapping

from onnx import ModelProto

from graphfix.difference.difference import Difference, FieldChange
from graphfix.difference.engine import diff_models
from graphfix.difference.scopes import Scope, inlined
from graphfix.proving.layers.comparison import Comparison, Layer
from graphfix.proving.layers.divergence import Bisection, Divergence, Operand, Origin
from graphfix.report import NodeRef


def located(
    before: ModelProto, after: ModelProto, folders: tuple[str, str], comparison: Comparison
) -> Bisection:
    """Return where two models part.

    Args:
        before: The first model.
        after: The second.
        folders: Where the external data of each lies.
        comparison: Of their tensors inside (`compare_side_by_side` with layers).

    Raises:
        InvalidModel: Nodes form a cycle, or external data cannot be read.
    """
    first = comparison.first
    if first is None:
        return Bisection(comparison)
    one, two = inlined(before), inlined(after)
    site = _Site(Scope.of_graph(one.graph, "main"), comparison, first)
    other = Scope.of_graph(two.graph, "main")
    maker = other.makers.get(first.new_name)
    made_by = other.ref(maker[0]) if maker is not None else NodeRef()
    found = diff_models(one, two, folders)
    return Bisection(
        comparison,
        Divergence(
            first,
            made_by,
            site.operands(),
            site.unseen(),
            (*_operator(first.node, made_by), *site.fields(found)),
            tuple(w for w in found.weights if any(site.holds(node) for node in w.used_by)),
            tuple(c for c in found.nodes if site.holds(c.before) and not site.is_at(c.before)),
        ),
    )


class _Site:
    """The node that makes the first tensor that differs."""

    def __init__(self, scope: Scope, comparison: Comparison, first: Layer) -> None:
        self._scope = scope
        self._index = first.node.index
        self._compared: Mapping[str, Layer] = {layer.name: layer for layer in comparison.layers}
        node = first.node
        self._subgraphs = f"{node.scope}/{node.name or node.op}."

    def is_at(self, node: NodeRef) -> bool:
        """Say whether this is the node itself."""
        return (node.scope, node.index) == (self._scope.name, self._index)

    def holds(self, node: NodeRef) -> bool:
        """Say whether this is the node or one inside its subgraphs."""
        return self.is_at(node) or node.scope.startswith(self._subgraphs)

    def operands(self) -> tuple[Operand, ...]:
        return tuple(Operand(name, self._origin(name)) for name in self._read(self._index))

    def _read(self, index: int) -> list[str]:
        names = [*self._scope.nodes[index].input, *self._scope.captures.get(index, ())]
        return list(dict.fromkeys(name for name in names if name))

    def _origin(self, name: str) -> Origin:
        if name in self._scope.makers:
            return Origin.EQUAL if name in self._compared else Origin.UNSEEN
        return Origin.STORED if name in self._scope.stored else Origin.FED

    def unseen(self) -> tuple[NodeRef, ...]:
        """Return the nodes before this one that only the first model has, in their order."""
        found: set[int] = set()
        pending = [self._index]
        while pending:
            for name in self._read(pending.pop()):
                if self._origin(name) is Origin.UNSEEN:
                    maker = self._scope.makers[name][0]
                    if maker not in found:
                        found.add(maker)
                        pending.append(maker)
        return tuple(self._scope.ref(index) for index in self._scope.order if index in found)

    def fields(self, found: Difference) -> list[FieldChange]:
        """Return what is written differently in the node, or means something else by its opset."""
        domain = self._scope.ref(self._index).domain or "ai.onnx"
        changes = [f for f in found.metadata if (f.where, f.field) == ("model", f"opset {domain}")]
        for change in found.nodes:
            if self.is_at(change.before):
                changes += change.fields
        return changes


def _operator(before: NodeRef, after: NodeRef) -> list[FieldChange]:
    one, two = (f"{n.domain}::{n.op}" if n.domain else n.op for n in (before, after))
    return [FieldChange("node", "operator", one, two)] if one != two else []
