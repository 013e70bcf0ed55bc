"""What a pattern found at a node, and why it found nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from graphfix.errors import PassBug
from graphfix.ir.graph import Node
from graphfix.ir.views import Array, NodeView, Refuse, Value


class Unmatched(Refuse):
    """Raised where a pattern is not what is at a node.

    Attributes:
        reason: What is there instead, at the place that is furthest inside.
        depth: How many nodes of the pattern were found there.
    """

    def __init__(self, reason: str, depth: int) -> None:
        """Say what is there instead."""
        super().__init__(reason)
        self.depth = depth


class Match(Struct, frozen=True):
    """The place of one pattern in a graph, read-only.

    Attributes:
        node: The node that gives the first output of the pattern.
        nodes: All nodes that the pattern stands for, the first output's first.
        roots: Those of them that give outputs of the pattern, `node` first.
        outputs: For each output of the pattern its root, counted from 0, and its place there.
        values: What the names of the pattern are bound to; attributes as they are read.
        labels: The nodes that were given a label.
    """

    node: NodeView
    nodes: tuple[Node, ...]
    roots: tuple[Node, ...]
    outputs: tuple[tuple[int, int], ...]
    values: Mapping[str, object]
    labels: Mapping[str, Node]

    def __getitem__(self, name: str) -> Value:
        """Return the value that a name is bound to.

        Raises:
            Refuse: The name is in a part of the pattern that is not there.
            PassBug: It is bound to an attribute.
        """
        value = self.get(name)
        if value is None:
            raise Refuse(f"{name} must be given")
        return value

    def get(self, name: str) -> Value | None:
        """Return the value that a name is bound to; None where its part of the pattern is not."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, Value):
            raise PassBug(f"{name} is an attribute: match.attribute({name!r})")
        return value

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return the attribute that a name is bound to, or `default`."""
        return self.values.get(name, default)

    def array(self, name: str) -> Array:
        """Return the array of a constant.

        Raises:
            Refuse: It is computed at run time.
        """
        array = self[name].array()
        if array is None:
            raise Refuse(f"{name} must be a constant; it is computed at run time")
        return array

    def number(self, name: str) -> float:
        """Return the number in a constant of one element.

        Raises:
            Refuse: It is computed at run time, or has more elements.
        """
        array = self.array(name)
        if array.size != 1:
            raise Refuse(f"{name} must be one number; it has {array.size} elements")
        return float(array.reshape(()))

    def called(self, label: str) -> NodeView:
        """Return the node with a label.

        Raises:
            Refuse: It is in a part of the pattern that is not there.
        """
        node = self.labels.get(label)
        if node is None:
            raise Refuse(f"the node {label} must be there")
        return NodeView(node)

    def has(self, name: str) -> bool:
        """Say whether a name is bound, or a node with this label there."""
        return name in self.values or name in self.labels

    def aligned(self, results: Sequence[Value | None]) -> list[Value | None]:
        """Return what stands for the outputs of all roots, in their order.

        Raises:
            PassBug: There are not as many results as the pattern has outputs.
        """
        if len(results) != len(self.outputs):
            raise PassBug(f"{len(results)} results for the {len(self.outputs)} of the pattern")
        starts = [0]
        for node in self.roots:
            starts.append(starts[-1] + len(node.outputs))
        aligned: list[Value | None] = [None] * starts[-1]
        for (root, place), result in zip(self.outputs, results, strict=True):
            aligned[starts[root] + place] = result
        return aligned
