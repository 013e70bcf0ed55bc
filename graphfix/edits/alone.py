"""What a main graph computes from some inputs and weights alone.

Exporters compute the shape of a Reshape from whatever tensor is at hand: the keys of a
cross-attention get the batch size of the tokens. Such a Reshape is given numbers here, and the size
that is not known is that of its own data, which the proof of an edit has to show.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphfix.analysis.folding.known_values import Knowledge, know
from graphfix.analysis.folding.partial import Partial
from graphfix.analysis.inference import infer_model
from graphfix.edits.addressing import all_tensors_of, free_name
from graphfix.edits.parts import read_by
from graphfix.edits.step import Subject
from graphfix.ir.graph import Shape, Tensor
from graphfix.ir.model import Model
from graphfix.ir.protos import all_nodes, called_functions, copied, functions_of
from graphfix.ir.views import Value
from graphfix.operators.row import Motion
from graphfix.operators.table import ELEMENTWISE, MAY_DRAW, moving

# What they give is as many numbers as what they read.
_LIGHT = ELEMENTWISE | moving(Motion.SAME, Motion.ORDERED)


@dataclass(frozen=True, slots=True)
class Alone:
    """What depends on some inputs and weights alone.

    Attributes:
        subject: The model; what the other attributes say is computed alone is so in it.
        values: The tensors that depend on the inputs and on nothing else but weights.
        sizes: Those of them that depend on the sizes of the inputs alone.
        given: The Reshapes whose sizes became those of their data.
    """

    subject: Subject
    values: frozenset[str]
    sizes: frozenset[str]
    given: tuple[str, ...]

    def lighter(self, name: str, wanted: Collection[str]) -> str:
        """Return the one of `wanted` tensors that a tensor is a cheap form of; else itself."""
        scope, found = self.subject.scope, name
        while found not in wanted:
            made = scope.makers.get(found)
            if made is None or scope.nodes[made[0]].op_type not in _LIGHT:
                return name
            read = [each for each in read_by(scope, made[0]) if each in self.values]
            if len(read) != 1 or scope.nodes[made[0]].domain:
                return name
            (found,) = read
        return found


def alone(subject: Subject, inputs: Collection[str]) -> Alone:
    """Find what depends on some inputs and weights alone.

    Args:
        subject: The model.
        inputs: The inputs.

    Raises:
        InvalidModel: Its nodes form a cycle.
    """
    proto, scope, known = copied(subject.proto), subject.scope, _Sizes(subject)
    functions = functions_of(proto)
    constant, values, sizes = {*scope.stored} - scope.overridable, set(inputs), set[str]()
    given: list[str] = []
    for index in scope.order:
        node, read = proto.graph.node[index], read_by(scope, index)
        if _draws([node, *(n for f in called_functions([node], functions) for n in f.node)]):
            continue
        computed = _is(node, "Reshape") and node.input[1] not in constant
        shape = known.wanted(node) if computed and node.input[0] in values - sizes else None
        if shape is not None:
            node.input[1] = _stored(proto, f"{node.output[0]}/shape", shape)
            given.append(node.name or node.output[0])
            read = [node.input[0]]
        own = [name for name in node.output if name]
        if constant.issuperset(read):
            constant.update(own)
        elif (constant | values).issuperset(read):
            values.update(own)
            if node.op_type in ("Shape", "Size") or sizes.issuperset({*read} & values):
                sizes.update(own)
    for name in scope.outputs:
        if name in values - sizes:
            _read_turned(proto, name)
    found = Subject(proto, subject.base_dir, subject.proves, subject.inputs)
    return Alone(found, frozenset(values), frozenset(sizes), tuple(given))


def sized_by(found: Alone, cut: Collection[str]) -> Alone:
    """Let sizes of the inputs that a cut goes through be those of its tensors, where they are.

    They are none of what depends on the inputs alone then.
    """
    moved = set[str]()
    proto, known = copied(found.subject.proto), _Sizes(found.subject)
    tensors = [name for name in cut if name not in found.sizes]
    for name in sorted(found.sizes.intersection(cut)):
        size = known.size(name)
        places = [(t, known.axes(t).index(size)) for t in tensors if size in known.axes(t)]
        if size is None or not places:
            continue
        tensor, axis = places[0]
        index = next(i for i, node in enumerate(proto.graph.node) if name in node.output)
        # A vector of one size takes a vector of one index.
        at = _stored(proto, f"{name}/axis", axis if known.rank(name) == 0 else [axis])
        shape = helper.make_node(
            "Shape", [tensor], [free_name(f"{name}/sizes", all_tensors_of(proto))]
        )
        proto.graph.node[index].CopyFrom(helper.make_node("Gather", [shape.output[0], at], [name]))
        proto.graph.node.insert(index, shape)
        moved.add(name)
    subject = Subject(proto, found.subject.base_dir)
    return replace(found, subject=subject, values=found.values - moved, sizes=found.sizes - moved)


class _Sizes:
    """The sizes of tensors of a main graph, as numbers and symbols."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    @cached_property
    def _model(self) -> Model:
        model = Model(copied(self._subject.proto), base_dir=self._subject.base_dir)
        infer_model(model)
        return model

    @cached_property
    def _tensors(self) -> dict[str, Tensor]:
        graph = self._model.graph
        found = {tensor.name: tensor for tensor in (*graph.inputs, *graph.initializers)}
        return found | {t.name: t for node in graph.nodes for t in node.outputs}

    @cached_property
    def _known(self) -> Knowledge:
        return know(self._model)

    def _part(self, name: str) -> Partial | None:
        return self._known.part(Value(self._tensors[name]))

    def axes(self, name: str) -> Shape:
        """Return the sizes of a tensor; nothing where its rank is not known."""
        return self._tensors[name].shape or ()

    def rank(self, name: str) -> int | None:
        """Return the rank of a tensor."""
        shape = self._tensors[name].shape
        return None if shape is None else len(shape)

    def size(self, name: str) -> str | None:
        """Return the symbol that a tensor of int64 with one element holds."""
        part = self._part(name)
        if part is None or part.size != 1 or part.ndim > 1 or self.rank(name) != part.ndim:
            return None
        (found,) = part.reshape(-1).tolist()
        int64 = self._tensors[name].elem_type == TensorProto.INT64
        return found if isinstance(found, str) and int64 else None

    def wanted(self, node: NodeProto) -> list[int] | None:
        """Return the shape of a Reshape in numbers, 0 for a size of its data; None without one.

        A first size that is not known is taken for that of the data: one batch.
        """
        named = {size for tensor in self._model.graph.inputs for size in tensor.shape or ()}
        named.discard(None)
        part, data = self._part(node.input[1]), self.axes(node.input[0])
        zero = any(each.name == "allowzero" and each.i for each in node.attribute)
        if part is None or part.ndim != 1 or not data or zero:
            return None
        sizes: list[int] = []
        for place, size in enumerate(part.tolist()):
            if isinstance(size, int):
                sizes.append(size)
            elif (size is not None and data[place : place + 1] == (size,)) or (
                place == 0 and size not in named
            ):
                sizes.append(0)
            else:
                return None
        return _without_the_rest(sizes, data)


def _without_the_rest(sizes: list[int], data: Shape) -> list[int]:
    """Write 0 for -1 where that is the size of the data; engines refuse -1 for an empty batch."""
    place = sizes.index(-1) if -1 in sizes else len(data)
    after = [size for size in data[place + 1 :] if isinstance(size, int)]
    if place >= len(data) or any(sizes[:place]) or len(after) < len(data) - place - 1:
        return sizes
    same = np.prod(sizes[place + 1 :]) == np.prod(after)
    return [0 if same and at == place else size for at, size in enumerate(sizes)]


def _read_turned(proto: ModelProto, name: str) -> None:
    """Let Transposes of what an output is a Transpose of read the output, in place.

    Keys are wanted as they are multiplied and as they are kept; one of them is enough then.
    """
    nodes = proto.graph.node
    place = next((at for at, node in enumerate(nodes) if name in node.output), None)
    if place is None or not _is(nodes[place], "Transpose"):
        return
    made, order = copied(nodes[place]), _order(nodes[place])
    turned: list[int] = []
    for at, node in enumerate(nodes):
        own = _order(node) if _is(node, "Transpose") else []
        if at != place and node.input[:1] == made.input and 0 < len(own) == len(order):
            node.input[:] = [name]
            del node.attribute[:]
            node.attribute.append(helper.make_attribute("perm", [order.index(a) for a in own]))
            turned.append(at)
    if turned and turned[0] < place:  # what they read comes first
        del nodes[place]
        nodes.insert(turned[0], made)


def _order(node: NodeProto) -> list[int]:
    return [axis for each in node.attribute if each.name == "perm" for axis in each.ints]


def _is(node: NodeProto, op: str) -> bool:
    return node.op_type == op and not node.domain


def _draws(nodes: Iterable[NodeProto]) -> bool:
    return any(node.op_type in MAY_DRAW for node in all_nodes(nodes))


def _stored(proto: ModelProto, name: str, numbers: int | list[int]) -> str:
    """Store integers in a main graph; return their name."""
    name = free_name(name, all_tensors_of(proto))
    proto.graph.initializer.append(numpy_helper.from_array(np.array(numbers, np.int64), name))
    return name
