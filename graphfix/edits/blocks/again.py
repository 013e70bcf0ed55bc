"""Floats put into the blocks of few bits that they were in, and the nodes that read these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, helper

from graphfix.edits.arrays import Array
from graphfix.edits.blocks.to_floats import (
    CONTRIB,
    Held,
    LeftError,
    Names,
    Rewritten,
    stored_in,
)
from graphfix.edits.blocks.weights import (
    LOOKUP,
    PLAIN,
    PRODUCT,
    Blocks,
    Noted,
    as_blocks,
    as_floats,
    digest_of,
    error_of,
    note,
    notes_of,
    with_rest,
)
from graphfix.edits.step import Subject
from graphfix.edits.unread import drop, drop_unread
from graphfix.errors import UsageError
from graphfix.ir.addressing import listed
from graphfix.ir.protos import called, copied, normal_domain
from graphfix.ir.storage.weights import load_array, type_name


def to_blocks(subject: Subject, where: str, *, rounded: bool) -> Rewritten:
    """Put all weights that were in blocks into them again.

    Args:
        subject: The model.
        where: What is said with errors.
        rounded: Whether weights that are not what their blocks gave any more are rounded.

    Raises:
        UsageError: Nothing is noted of blocks, nothing can be done, or weights would be rounded.
    """
    noted = notes_of(subject.proto)
    if not noted:
        why = "the metadata says of no weight that it was in blocks of few bits"
        raise UsageError(why, where=where, hint="--weights-to floats writes it")
    writer = _Blocks(subject)
    for each in noted:
        writer.weight(each, rounded)
    if writer.changed:
        raise UsageError(
            "weights are not what their blocks gave any more, and would be rounded: "
            + "; ".join(writer.changed[:3]),
            where=where,
            hint="--weights-to blocks,rounded",
        )
    done = writer.finished()
    if not writer.made:
        gone = [f"noted and gone: {listed(writer.gone)}"] if writer.gone else []
        raise UsageError("; ".join([*done.left, *gone]), where=where)
    return done


class _Reader(NamedTuple):
    """A node that is to read blocks: its name, where it ends, its inputs, what it leaves unread."""

    name: str
    last: NodeProto
    inputs: list[str]
    spent: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Readers:
    """The nodes of a model that are still to be rewritten, by what they read and make."""

    of: dict[str, list[NodeProto]] = field(default_factory=dict[str, list[NodeProto]])
    makers: dict[str, NodeProto] = field(default_factory=dict[str, NodeProto])
    outputs: set[str] = field(default_factory=set[str])

    @classmethod
    def in_graphs(cls, graphs: list[GraphProto]) -> _Readers:
        found = cls()
        for graph in graphs:
            found.outputs.update(info.name for info in graph.output)
            for node in graph.node:
                for name in dict.fromkeys(node.input):
                    found.of.setdefault(name, []).append(node)
                found.makers.update((name, node) for name in node.output)
        return found

    def only(self, name: str, op: str) -> NodeProto | None:
        """Return the one node that reads a tensor, where it is of an operator."""
        readers = self.of.get(name, [])
        if len(readers) != 1 or name in self.outputs:
            return None
        node = readers[0]
        return node if node.op_type == op and not normal_domain(node.domain) else None


class _Blocks:
    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.done = Rewritten(copied(subject.proto))
        self.names = Names(self.done.proto)
        walked = list(stored_in(self.done.proto.graph))
        self.graphs = [graph for graph, _ in walked]
        self.known: dict[str, Held] = {}
        for _, known in walked:
            self.known.update({k: v for k, v in known.items() if k not in self.known})
        self.readers = _Readers.in_graphs(self.graphs)
        self.changed: list[str] = []
        self.gone: list[str] = []
        self.others = False  # whether numbers are other than they were
        self.made: list[Noted] = []
        self.kept: list[Noted] = []
        self.spent: set[str] = set()  # tensors and nodes that may be needless now
        self.dropped: set[str] = set()  # tensors that a node computes now
        self.first: dict[int, list[NodeProto]] = {}  # nodes that come first in a graph

    def weight(self, noted: Noted, rounded: bool) -> None:
        """Put one weight into its blocks."""
        held = self.known.get(noted.weight)
        if held is None:
            self.gone.append(noted.weight)
            return
        try:
            self._put(noted, held, rounded)
        except LeftError as late:
            self.done.left.append(f"weight {noted.weight!r} stays as floats: {late}")
            self.kept.append(noted)

    def _put(self, noted: Noted, held: Held, rounded: bool) -> None:
        scales = self._array(noted.scales)
        assert scales is not None  # it has a name
        blocks = Blocks(scales, self._array(noted.zeros), self._array(noted.order))
        kind = given = self.known[noted.scales].tensor.data_type
        if noted.op == PRODUCT:
            kind = TensorProto.FLOAT
        if held.tensor.data_type != kind:
            raise LeftError(f"it is {type_name(held.tensor.data_type)}, not {type_name(kind)}")
        rewrite = list(self._readers(noted, half=given != TensorProto.FLOAT))
        weights = load_array(held.tensor, self.subject.base_dir)
        data = self._data(noted, weights, blocks, rounded)
        if data is None:
            return
        name = self._stored(noted, data, held)
        for each in rewrite:
            inputs = [name if one == noted.data else one for one in each.inputs]
            while not inputs[-1]:
                inputs.pop()
            each.last.CopyFrom(_node(noted, inputs, each.last.output, each.name))
            self.spent.update(each.spent)
        if noted.op == PLAIN:
            inputs = [name, noted.scales, *([noted.zeros] if noted.zeros else [])]
            made = _node(noted, inputs, [noted.weight], noted.node)
            self.first.setdefault(id(held.graph), []).append(made)
            self.dropped.add(noted.weight)
        self.made.append(noted)
        self.spent.update((noted.weight, noted.rest))

    def _array(self, name: str) -> Array | None:
        if not name:
            return None
        if name not in self.known:
            raise LeftError(f"{name!r} is not stored any more")
        return load_array(self.known[name].tensor, self.subject.base_dir)

    def _data(self, noted: Noted, weights: Array, blocks: Blocks, rounded: bool) -> Array | None:
        """Return the numbers of few bits; None where they would be rounded, which is not asked for.

        Raises:
            LeftError: The weights are not of the shape of their blocks, or not finite.
        """
        try:
            nearest = as_blocks(noted, weights, blocks)
            rest = self._array(noted.rest)
            data = nearest if rest is None else with_rest(nearest, rest)
            error, largest = error_of(weights, as_floats(noted, data, blocks))
            if error and rest is not None:  # it is of what the weights were before
                other, _ = error_of(weights, as_floats(noted, nearest, blocks))
                data, error = (data, error) if error <= other else (nearest, other)
        except (ValueError, IndexError) as failed:
            raise LeftError(f"it does not fit the blocks any more: {failed}") from None
        self.others |= digest_of(data) != noted.digest
        if not error:
            return data
        if not np.isfinite([error, largest]).all():
            raise LeftError("it is not finite")
        text = f"{noted.weight!r} by up to {error:.3g}, its largest number is {largest:.3g}"
        if not rounded:
            self.changed.append(text)
            return None
        self.done.rounds = True
        self.done.said.append(f"rounded: {text}")
        return data

    def _stored(self, noted: Noted, data: Array, held: Held) -> str:
        """Store the numbers; return what they are called."""
        made = self.subject.store.tensor(noted.data, data)
        there = self.known.get(noted.data)
        if there is not None:
            same = list(there.tensor.dims) == list(made.dims)
            if same and there.tensor.data_type == made.data_type:
                old = load_array(there.tensor, self.subject.base_dir)
                if np.array_equal(old.view(np.uint8), data.view(np.uint8)):
                    return noted.data
        if noted.data in self.names.taken:
            made.name = self.names.free(noted.data)
        self.names.taken.add(made.name)
        held.graph.initializer.append(made)
        self.known[made.name] = Held(made, held.graph)
        return made.name

    def _readers(self, noted: Noted, *, half: bool) -> Iterator[_Reader]:
        """Yield what is to be a node that reads the blocks.

        Raises:
            LeftError: Something else reads the floats.
        """
        if noted.op == PLAIN:
            return
        if noted.weight in self.readers.outputs:
            raise LeftError("it is an output")
        readers = self.readers.of.get(noted.weight, [])
        if not readers:
            raise LeftError("nothing reads it")
        for node in readers:
            name = called(node.op_type, node.name, node.output)
            if noted.op == LOOKUP:
                axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
                rank = len(noted.dims)
                same = axis % rank == noted.attribute("gather_axis") % rank
                if node.op_type != "Gather" or node.input[0] != noted.weight or not same:
                    raise LeftError(f"{name} reads it, which is no such lookup")
                inputs = [noted.data, node.input[1], noted.scales, noted.zeros]
                yield _Reader(node.name, node, inputs)
                continue
            if node.op_type != "MatMul" or node.input[1] != noted.weight:
                raise LeftError(f"{name} reads it, which is no product with it")
            yield self._product(noted, node, half)

    def _product(self, noted: Noted, node: NodeProto, half: bool) -> _Reader:
        last, x, bias = node, node.input[0], ""
        spent: set[str] = set()
        if noted.bias:
            add = self.readers.only(last.output[0], "Add")
            given = self._source(noted.bias, add) if add is not None else ""
            if add is not None and given:
                spent |= {last.output[0], given}
                last, bias = add, noted.bias
        if half:
            maker = self.readers.makers.get(x)
            after = self.readers.only(last.output[0], "Cast")
            if maker is None or maker.op_type != "Cast" or after is None:
                raise LeftError(
                    f"{called(node.op_type, node.name, node.output)} computes in float32"
                )
            spent |= {last.output[0], x}
            last, x = after, maker.input[0]
        inputs = [x, noted.data, noted.scales, noted.zeros, noted.order, bias]
        return _Reader(node.name, last, inputs, frozenset(spent - set(last.output)))

    def _source(self, bias: str, add: NodeProto) -> str:
        """Return the operand of a sum that is a bias, or a cast of it; empty where none is."""
        for name in add.input:
            maker = self.readers.makers.get(name)
            cast = maker is not None and maker.op_type == "Cast" and maker.input[0] == bias
            if name == bias or cast:
                return name
        return ""

    def finished(self) -> Rewritten:
        """Return the model without what nothing needs any more."""
        proto = self.done.proto
        for graph in reversed(self.graphs):  # what is inside comes first
            later = list(graph.node) if id(graph) in self.first else []
            if later:
                graph.ClearField("node")
                graph.node.extend((*self.first[id(graph)], *map(copied, later)))
        drop(proto.graph, self.dropped)
        drop_unread(proto, self.spent)
        if all(normal_domain(entry.domain) != CONTRIB for entry in proto.opset_import):
            proto.opset_import.add(domain=CONTRIB, version=1)
        note(proto, self.kept)
        counts: dict[str, int] = {}
        for each in self.made:
            counts[each.op] = counts.get(each.op, 0) + 1
        for op, count in counts.items():
            some = f"{count} weight{'s' * (count > 1)} of {op} {'are' if count > 1 else 'is'}"
            self.done.said.append(f"{some} in {'their' if count > 1 else 'its'} blocks again")
        if not self.others:
            self.done.said.append("the stored bytes are those from before")
        if self.gone:
            self.done.said.append(f"noted and gone from the model: {listed(self.gone)}")
        return self.done


def _node(noted: Noted, inputs: Sequence[str], outputs: Sequence[str], name: str) -> NodeProto:
    """Return the node that reads the blocks."""
    domain = None if noted.op == PLAIN else CONTRIB
    node = helper.make_node(noted.op, inputs, outputs, name, domain=domain)
    node.attribute.extend(helper.make_attribute(k, v) for k, v in noted.attributes.items())
    return node
