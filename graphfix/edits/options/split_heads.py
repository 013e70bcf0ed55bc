"""The edit that splits attention over several heads into one of each head."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper

from graphfix.edits.addressing import all_tensors_of, find_nodes, free_name
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.parts import read_by
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.addressing import listed
from graphfix.ir.model import Model
from graphfix.ir.protos import called, copied
from graphfix.operators.table import ELEMENTWISE
from graphfix.reduction.tensor_types import Types, Typist

# What they give at one place they compute from that place alone.
_BY_PLACE = ELEMENTWISE | {"IsInf", "IsNaN"}
_RANK, _HEADS = 4, 1  # of [batch, heads, tokens, width], and the axis of the heads


@dataclass(frozen=True, slots=True)
class SplitHeads:
    """Compute each head of an attention by nodes of its own, for devices that have no batches.

    An attention is MatMul, Softmax over the last axis and MatMul, with what is between them place
    by place, on [batch, heads, tokens, width].

    Attributes:
        name: The Softmax, or a pattern.
    """

    name: str
    option: str = field(default="--split-heads", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Split them; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.name}"
        graph = subject.proto.graph
        named = [place.node for place in find_nodes(subject.proto, self.name, where)]
        softmaxes = [
            index
            for index, node in enumerate(graph.node)
            if node.op_type == "Softmax" and not node.domain and any(node is n for n in named)
        ]
        if not softmaxes:
            raise UsageError("no Softmax of the main graph is named so", where=where)
        found, reasons = list[_Attention](), list[str]()
        for index in softmaxes:
            try:
                found.append(_Attention(subject, index, where))
            except UsageError as error:
                reasons.append(error.message)
        unknown = list(dict.fromkeys(name for each in found for name in each.unknown()))
        values = Typist(subject.base_dir).values(subject.proto, unknown) if unknown else {}
        measured = {n: each.shape for n, each in values.items() if isinstance(each, np.ndarray)}
        for each in found[:]:
            try:
                each.learn(measured)
            except UsageError as error:
                reasons.append(error.message)
                found.remove(each)
        if not found or (reasons and len(softmaxes) == 1):
            raise UsageError(reasons[0], where=where)
        proto = copied(subject.proto)
        gone = {index for each in found for index in each.inner}
        # The last node of each comes after all that its nodes read.
        ends = {each.inner[-1]: each for each in found}
        proto.graph.ClearField("node")
        for index, node in enumerate(graph.node):
            if index in ends:
                proto.graph.node.extend(ends[index].heads(proto))
            elif index not in gone:
                proto.graph.node.append(node)
        said = [f"{each.text}: {each.count} heads, each by nodes of its own" for each in found]
        if measured:
            said.append(f"heads are as they were when the model was run: {listed(measured)}")
        said += [f"stays: {reason}" for reason in reasons]
        claim = Equal("it computes what the model did", subject.proto, proto)
        return Step(proto, tuple(said), (claim,))


@option(
    "split-heads",
    "SOFTMAX",
    "Compute each head of an attention by its own nodes.",
    Group.NODES,
    long_form="SOFTMAX, the name of a node, a pattern, or op:Softmax",
)
def read_split_heads(given: Given) -> SplitHeads:
    """Return the edit that a text asks for."""
    return SplitHeads(given.text)


def split_heads(model: ModelLike, name: str, **how: Unpack[How]) -> Edited:
    """Compute each head of attentions, which are named by their Softmax, by nodes of its own."""
    return edit(model, [SplitHeads(name)], **how)


class _Attention:
    """What is between two MatMuls around a Softmax.

    Attributes:
        text: The Softmax, as a sentence names it.
        count: How many heads there are.
        inner: Its nodes, in the order of the file.
        end: The MatMul with the values.
    """

    def __init__(self, subject: Subject, index: int, where: str) -> None:
        """Find it.

        Raises:
            UsageError: It is none, or its heads have no sizes.
        """
        self._scope, self._types, self._where = subject.scope, subject.types, where
        self._proto = subject.proto
        node = self._scope.nodes[index]
        self.text = called(node.op_type, node.name, node.output)
        sizes = _sizes(self._types, node.output[0]) or _sizes(self._types, node.input[0])
        self.count = sizes[_HEADS] if sizes is not None and len(sizes) == _RANK else None
        axis = [each.i for each in node.attribute if each.name == "axis"]
        if axis not in ([-1], [_RANK - 1]) and (axis or Model(subject.proto).opset < 13):
            raise self._refused("is not over the last axis")
        if self.count is None or self.count < 2:
            raise self._refused("is not known to have several heads, on axis 1 of 4")
        ends = self._forward(index)
        self.inner = sorted({index, *ends, *self._backward(index)})
        (self.end,) = (each for each in ends if self._op(each) == "MatMul")
        self._measured: Mapping[str, tuple[int, ...]] = {}
        inner = {*self.inner}
        for index in self.inner:
            for name in self._scope.nodes[index].output if index != self.end else ():
                readers = {reader for reader, _ in self._scope.readers.get(name, ())}
                if name in self._scope.outputs or not readers <= inner:
                    raise self._refused(f"has {name!r} next to it, which is read elsewhere too")

    def unknown(self) -> list[str]:
        """Return what it reads of which it is not known whether each head has its own."""
        return [name for name in self._outer() if self._place(name) is None]

    def learn(self, measured: Mapping[str, tuple[int, ...]]) -> None:
        """Take the sizes that tensors have when the model runs; a proof shows that they stay.

        Raises:
            UsageError: One that is needed is not there, or fits no heads.
        """
        self._measured = measured
        for name in self._outer():
            size = self._place(name)
            if size not in (1, self.count):
                raise self._refused(
                    f"reads {name!r}, of which it is not known whether it is by head"
                )

    def _refused(self, why: str) -> UsageError:
        return UsageError(f"{self.text} {why}", where=self._where)

    def _forward(self, index: int) -> list[int]:
        """Return what reads the Softmax, up to the MatMul with the values."""
        found: list[int] = []
        pending = [index]
        while pending:
            for name in self._scope.nodes[pending.pop()].output:
                for reader, place in self._scope.readers.get(name, ()):
                    op = self._op(reader)
                    if op == "MatMul" and place == 0:
                        found.append(reader)
                    elif op in _BY_PLACE and reader not in found:
                        found.append(reader)
                        pending.append(reader)
                    elif reader not in found:
                        raise self._refused(f"is read by {self._called(reader)}")
        if sum(self._op(each) == "MatMul" for each in found) != 1:
            raise self._refused("is not read by one MatMul")
        return found

    def _backward(self, index: int) -> set[int]:
        """Return what computes what the Softmax reads, from the MatMul with the keys on."""
        ahead: set[int] = set()
        pending = [index]
        while pending:
            for name in read_by(self._scope, pending.pop()):
                made = self._scope.makers.get(name, (-1, 0))[0]
                sizes = _sizes(self._types, name)
                if made in {*ahead, -1} or sizes is None or len(sizes) != _RANK:
                    continue
                if sizes[_HEADS] != 1 and self._op(made) in {*_BY_PLACE, "MatMul"}:
                    ahead.add(made)
                    if self._op(made) != "MatMul":
                        pending.append(made)
        products = {each for each in ahead if self._op(each) == "MatMul"}
        if len(products) != 1:
            raise self._refused("does not read one MatMul, through what computes place by place")
        found = products
        for each in self._ordered(ahead):
            makers = {self._scope.makers.get(n, (-1, 0))[0] for n in read_by(self._scope, each)}
            if makers & found:
                found.add(each)
        return found

    def _outer(self) -> list[str]:
        """Return what its nodes read that is not computed by them."""
        made = {name for each in self.inner for name in self._scope.nodes[each].output}
        read = [name for each in self.inner for name in self._scope.nodes[each].input]
        return list(dict.fromkeys(name for name in read if name and name not in made))

    def _place(self, name: str) -> int | None:
        """Return the size of a tensor on the axis of the heads; None where it is not known."""
        sizes = self._shape(name)
        if sizes is None:
            return None
        axis = len(sizes) - _RANK + _HEADS
        return sizes[axis] if axis >= 0 else 1

    def _shape(self, name: str) -> list[int | None] | None:
        if name in self._measured:
            return [*self._measured[name]]
        stored = self._scope.stored.get(name)
        return _sizes(self._types, name) if stored is None else [*stored.dims]

    def _op(self, index: int) -> str:
        node = self._scope.nodes[index]
        return node.op_type if not node.domain else ""

    def _called(self, index: int) -> str:
        node = self._scope.nodes[index]
        return called(node.op_type, node.name, node.output)

    def heads(self, proto: ModelProto) -> Iterator[NodeProto]:
        """Yield the nodes of each head; what they need is stored in a model."""
        count = self.count or 0
        parts: dict[str, list[str]] = {}
        taken = all_tensors_of(self._proto) | all_tensors_of(proto)
        for name in self._outer():
            if self._place(name) == count:
                parts[name] = [free_name(f"{name}/head{n}", taken) for n in range(count)]
                yield self._split(proto, name, parts[name])
        made = [name for i in self.inner for name in self._scope.nodes[i].output if name]
        own = {name: [free_name(f"{name}/head{n}", taken) for n in range(count)] for name in made}
        parts |= own
        for number in range(count):
            for index in self._ordered({*self.inner}):
                node = copied(self._scope.nodes[index])
                node.name = f"{node.name}/head{number}" if node.name else ""
                for names in (node.input, node.output):
                    names[:] = [parts[n][number] if n in parts else n for n in names]
                yield node
        (last,) = self._scope.nodes[self.end].output
        yield helper.make_node("Concat", own[last], [last], name=f"{last}/heads", axis=_HEADS)

    def _ordered(self, nodes: Collection[int]) -> list[int]:
        return [index for index in self._scope.order if index in nodes]

    def _split(self, proto: ModelProto, name: str, outputs: list[str]) -> NodeProto:
        axis = len(self._shape(name) or ()) - _RANK + _HEADS
        node = helper.make_node("Split", [name], outputs, name=f"{outputs[0]}/Split", axis=axis)
        if Model(self._proto).opset < 13:
            node.attribute.append(helper.make_attribute("split", [1] * len(outputs)))
            return node
        sizes = free_name(f"{outputs[0]}/sizes", all_tensors_of(proto))
        ones = np.ones(len(outputs), np.int64)
        proto.graph.initializer.append(numpy_helper.from_array(ones, sizes))
        node.input.append(sizes)
        return node


def _sizes(types: Types, name: str) -> list[int | None] | None:
    kind = types[name].tensor_type if name in types else None
    if kind is None or not kind.HasField("shape"):
        return None
    return [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
