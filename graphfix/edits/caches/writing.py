"""A decoder once its caches have a fixed length: what was after the past is at a position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import GraphProto, NodeProto, helper, numpy_helper

from graphfix.edits.caches.decoder import GROUPED, Decoder
from graphfix.edits.caches.hiding import Hiding
from graphfix.edits.caches.position import Position
from graphfix.edits.caches.readings import Array, Readings
from graphfix.edits.caches.slicing import Unclear, cut
from graphfix.errors import UsageError
from graphfix.ir.protos import called, copied, names_read, subgraphs_of
from graphfix.operators.table import SIZES

# Operators that read a shape, which the cache is part of, and the total length.
_SHAPED = frozenset({"ConstantOfShape", "Expand", "Reshape"})
_TOTAL = (GROUPED, 6)
_SLIDES = "sliding_window_cache"


class Writer:
    """Writes the nodes of a decoder for caches of a fixed length."""

    def __init__(
        self, graph: GraphProto, decoder: Decoder, readings: Readings, at: Position
    ) -> None:
        """Take what is known of a decoder; nothing is written yet."""
        self._decoder, self._read, self._at = decoder, readings, at
        self._outputs = {info.name for info in graph.output}
        self._dropped: set[str] = set()
        self.hiding = Hiding(graph, readings, at)

    def write(self, node: NodeProto, where: str) -> None:
        """Write a node of the decoder.

        Raises:
            UsageError: What it does with the length of the past is not understood.
        """
        if not any(self._depends(name) for name in names_read(node) if name):
            self._at.nodes.append(node)
            return
        try:
            self._write(node)
        except Unclear as reason:
            who = called(node.op_type, node.name, node.output)
            raise UsageError(f"{who} {reason}", where=where) from None

    def _write(self, node: NodeProto) -> None:
        """Write a node that has to do with the past.

        Raises:
            Unclear: What it does with it is not understood.
        """
        if any(True for _ in subgraphs_of(node)):
            raise Unclear("has a subgraph, in which the length of the past may count")
        op = "" if node.domain else node.op_type
        if self._is_settled(node) or (op == "Concat" and self._joins(node)):
            return
        if op == "Slice":
            cut(node, self._read, self._at)
            return
        if op == "Where" and self.hiding.drop_guard(node):
            return
        if op == "Gather":
            self._check_from_the_front(node)
        if node.op_type == GROUPED:
            self._check_grouped(node)
        copy = copied(node)
        for place, name in enumerate(node.input):
            copy.input[place] = self._operand(node, place, name)
        if op == "Softmax" and not self._decoder.masks:
            self.hiding.mask(copy)
        if op == "Where":
            self.hiding.limit(copy)
        self._at.nodes.append(copy)

    def _check_grouped(self, node: NodeProto) -> None:
        """Check that the cache of GroupQueryAttention does not slide.

        Raises:
            Unclear: It does.
        """
        if any(a.name == _SLIDES and a.i for a in node.attribute):
            raise Unclear("has a cache that slides")

    def _depends(self, name: str) -> bool:
        """Say whether the past has to do with a tensor: its length, or what is computed of it."""
        if self._read.grows(name):
            return True
        values = self._read.known(name)
        return values is not None and any(not np.array_equal(values[0], v) for v in values[1:])

    def _is_settled(self, node: NodeProto) -> bool:
        """Store what follows from sizes, where that is all that a node gives.

        What counts the past is written later, by what it is read for.

        Raises:
            Unclear: What counts the past is an output of the model.
        """
        outputs = [name for name in node.output if name]
        found: dict[str, Array | None] = {}
        for name in outputs:
            values = self._read.known(name)
            if values is None:
                return False
            if len({value.shape for value in values}) > 1:
                found[name] = self._longest(name, values)
                if found[name] is None:
                    return False
            elif all(np.array_equal(values[0], value) for value in values[1:]):
                found[name] = values[0]
            elif self._read.line(values) is None:
                return False
            elif name in self._outputs:
                raise Unclear(f"gives output {name!r}, which counts the past")
            else:
                found[name] = None
        for name, value in found.items():
            if value is None:
                self._dropped.add(name)
            else:
                self._at.stored.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return bool(outputs)

    def _longest(self, name: str, values: Sequence[Array]) -> Array | None:
        """Return the value for a full cache, where those for shorter ones are the begin of it."""
        shapes = zip(*(value.shape for value in values), strict=True)
        wanted = [self._read.as_size(axis) for axis in shapes]
        shape = tuple(-1 if size is None else int(size) for size in wanted)
        full = (*values, self._read.beyond.values.get(name))
        longest = next((v for v in full if v is not None and v.shape == shape), None)
        if longest is None:
            return None
        for value in values:
            common = tuple(slice(0, min(a, b)) for a, b in zip(value.shape, shape, strict=True))
            if not np.array_equal(value[common], longest[common]):
                return None
        return longest

    def _operand(self, node: NodeProto, place: int, name: str) -> str:
        """Return what a node is to read in the place of one of its inputs.

        Raises:
            Unclear: It counts the past, and what the node does with it is not understood.
        """
        if name not in self._dropped:
            return name
        values = self._read.known(name)
        assert values is not None
        reads_size = place in SIZES.get(node.op_type, ())
        if (reads_size and node.op_type in _SHAPED) or (node.op_type, place) == _TOTAL:
            size = self._read.as_size(values)
            if size is None:
                raise Unclear(f"has {name!r} for a size, which is not that of the cache")
            return self._at.constant(size)
        if reads_size:
            raise Unclear(f"reads {name!r}, which counts the past")
        return self.counted(name)

    def counted(self, name: str) -> str:
        """Write what counted the past, with the position for it."""
        values = self._read.known(name)
        line = None if values is None else self._read.line(values)
        assert values is not None
        assert line is not None
        return self._at.line(*line, values[0].dtype)

    def _joins(self, node: NodeProto) -> bool:
        """Write what is new to its place in the cache, where a node puts it after the past.

        Raises:
            Unclear: It puts something else together along an axis that grows.
        """
        if len(node.input) == 1:
            return False
        rank = self._read.rank(node.output[0]) or 0
        axis = next(a.i for a in node.attribute if a.name == "axis") % max(rank, 1)
        if axis not in self._read.grows(node.output[0]):
            return False
        sizes = [self._read.sizes(name, axis) for name in node.input]
        past = [reading.past for reading in self._read.read]
        if self._adds_to_all(sizes):
            return False
        if len(sizes) != 2 or sizes[0] != past or set(sizes[1]) != {self._read.new}:
            raise Unclear("joins other than the past and what is new")
        cache, fresh = node.input
        after = rank - axis - 1
        inside = self._at.inside(after)
        if self._read.new > 1:
            fresh = self._at.add("Gather", fresh, self._at.source(), axis=axis)
        self._at.nodes.append(
            helper.make_node("Where", [inside, fresh, cache], node.output, name=node.name)
        )
        return True

    def _adds_to_all(self, sizes: Sequence[Sequence[int | None]]) -> bool:
        """Say whether something comes after all places, as the score of an attention sink does."""
        total = [reading.past + self._read.new for reading in self._read.read]
        return list(sizes[0]) == total and all(len(set(size) - {None}) == 1 for size in sizes[1:])

    def _check_from_the_front(self, node: NodeProto) -> None:
        """Check that no place is counted from an end that moves.

        Raises:
            Unclear: It is.
        """
        rank = self._read.rank(node.input[0])
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        indices = self._read.known(node.input[1])
        grows = bool(rank) and axis % (rank or 1) in self._read.grows(node.input[0])
        if grows and indices and any((index < 0).any() for index in indices):
            raise Unclear("counts from the end of what is in the cache")
