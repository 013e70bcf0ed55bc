"""Nodes that read weights of few bits by blocks, and those that read the floats instead."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import msgspec
from onnx import GraphProto, ModelProto, NodeProto, TensorProto, helper

from graphfix.edits.addressing import graphs_of, tensors_of
from graphfix.edits.blocks.weights import (
    LOOKUP,
    PLAIN,
    PRODUCT,
    Blocks,
    Noted,
    as_blocks,
    as_floats,
    digest_of,
    filler_of,
    note,
    notes_of,
    rest_of,
)
from graphfix.edits.step import Subject
from graphfix.edits.unread import drop, names_read_in
from graphfix.errors import UsageError
from graphfix.ir.protos import called, copied, normal_domain, subgraphs_of
from graphfix.ir.storage.weights import load_array, type_name

CONTRIB = "com.microsoft"
# Where operators have the tensor of few bits, its scales, zero points and order.
_PLACES = {PRODUCT: (1, 2, 3, 4), LOOKUP: (0, 2, 3, None), PLAIN: (0, 1, 2, None)}
_BIAS = 5
_FEW = ("int2", "uint2", "int4", "uint4", "int8", "uint8")
_HALVES = ("int2", "uint2", "int4", "uint4")  # of few bits whatever the blocks are


class Held(NamedTuple):
    """A stored tensor, and the graph that holds it."""

    tensor: TensorProto
    graph: GraphProto


Known = ChainMap[str, Held]


@dataclass(slots=True)
class Rewritten:
    """A model whose weights are written otherwise.

    Attributes:
        proto: The model.
        said: What was done, one line each.
        left: What could not be done.
        rounds: Whether weights were rounded.
    """

    proto: ModelProto
    said: list[str] = field(default_factory=list[str])
    left: list[str] = field(default_factory=list[str])
    rounds: bool = False


class LeftError(Exception):
    """Why a node or a weight is left as it is."""


def stored_in(graph: GraphProto, outer: Known | None = None) -> Iterator[tuple[GraphProto, Known]]:
    """Walk a graph and those inside, with what is stored there or further out.

    An initializer that a caller may replace is not counted among these.
    """
    known: Known = ChainMap({}, *(outer.maps if outer is not None else ()))
    given = {info.name for info in graph.input}
    for tensor in graph.initializer:
        if tensor.name not in given:
            known[tensor.name] = Held(tensor, graph)
    for node in graph.node:
        if node.op_type == "Constant" and not normal_domain(node.domain):
            for attribute in node.attribute:
                if attribute.name == "value":
                    known[node.output[0]] = Held(attribute.t, graph)
    yield graph, known
    for node in graph.node:
        for body in subgraphs_of(node):
            yield from stored_in(body, known)


def to_floats(subject: Subject, where: str) -> Rewritten:
    """Make floats of all weights of few bits by blocks.

    Raises:
        UsageError: There are none, or none of them can be.
    """
    writer = _Floats(subject)
    # What is inside comes first: the nodes around it are copied.
    for graph, known in reversed(list(stored_in(writer.done.proto.graph))):
        writer.graph(graph, known)
    done = writer.done
    if not writer.noted:
        why = "; ".join(done.left) or "no node reads weights of few bits by blocks"
        raise UsageError(why, where=where)
    writer.drop_unread()
    note(done.proto, [*notes_of(done.proto), *writer.noted.values()])
    counts: dict[str, int] = {}
    for each in writer.noted.values():
        counts[each.op] = counts.get(each.op, 0) + 1
    for op, count in counts.items():
        some = f"{count} weight{'s' * (count > 1)} of {op}"
        done.said.append(f"{some} {'are' if count > 1 else 'is'} stored as floats")
    done.said.append("scales and zero points stay stored, noted for --weights-to blocks")
    return done


class Names:
    """Names of tensors that are free in a whole model."""

    def __init__(self, proto: ModelProto) -> None:
        self.taken = {name for graph in graphs_of(proto.graph) for name in tensors_of(graph)}

    def free(self, wish: str) -> str:
        name, number = wish, 2
        while name in self.taken:
            name, number = f"{wish}_{number}", number + 1
        self.taken.add(name)
        return name


class _Floats:
    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.done = Rewritten(copied(subject.proto))
        self.names = Names(self.done.proto)
        self.noted: dict[tuple[int, str], Noted] = {}
        self.data: set[str] = set()

    def graph(self, graph: GraphProto, known: Known) -> None:
        """Rewrite the nodes of a graph, those in its subgraphs apart."""
        outputs = {info.name for info in graph.output}
        nodes: list[NodeProto] = []
        for node in graph.node:
            try:
                found = self._read(node, known, outputs)
            except LeftError as late:
                name = called(node.op_type, node.name, node.output)
                self.done.left.append(f"{name} stays: {late}")
                found = None
            if found is None:
                nodes.append(node)
                continue
            nodes += [] if node.op_type == PLAIN else self._instead(node, found, known)
        made = [copied(node) for node in nodes]
        graph.ClearField("node")
        graph.node.extend(made)

    def _read(self, node: NodeProto, known: Known, outputs: set[str]) -> Noted | None:
        """Return what is noted of the weight of a node, once its floats are stored.

        Raises:
            LeftError: It cannot be written otherwise.
        """
        if normal_domain(node.domain) != _domain(node.op_type) or node.op_type not in _PLACES:
            return None
        places = _PLACES[node.op_type]
        names = ["" if p is None or p >= len(node.input) else node.input[p] for p in places]
        held = [known.get(name) if name else None for name in names]
        data = held[0]
        if node.op_type == PLAIN and (data is None or not _by_blocks(node, data.tensor)):
            return None
        words = ("the weights", "the scales", "the zero points", "the order of the columns")
        for name, each, word in zip(names, held, words, strict=True):
            if name and each is None:
                raise LeftError(f"{word} are computed at run time, or may be replaced by a caller")
        if data is None or held[1] is None:
            raise LeftError("weights or scales are missing")
        attributes = {a.name: a.i for a in node.attribute}
        if attributes.pop("weight_prepacked", 0):
            raise LeftError("the weights are packed for one processor")
        if attributes.get("output_dtype", 0) not in (0, held[1].tensor.data_type):
            raise LeftError("the result is not of the type of the scales")
        if node.op_type == PLAIN and node.output[0] in outputs:
            raise LeftError("it gives an output of its graph")
        noted = Noted(
            "",
            node.op_type,
            names[0],
            type_name(data.tensor.data_type),
            tuple(data.tensor.dims),
            names[1],
            names[2],
            names[3],
            bias=node.input[_BIAS] if node.op_type == PRODUCT and len(node.input) > _BIAS else "",
            node=node.name if node.op_type == PLAIN else "",
            attributes=attributes,
        )
        if noted.type not in _FEW or not noted.dims:
            raise LeftError(f"the weights are {noted.type}{list(noted.dims)}")
        if noted.op == PRODUCT and noted.type != "uint8":
            raise LeftError(f"the weights are {noted.type}, not bytes")
        if noted.op == LOOKUP and noted.is_packed:
            along, rows = noted.attribute("quantize_axis"), noted.attribute("gather_axis")
            if len(noted.dims) != 2 or along not in (1, -1) or rows not in (0, -2):
                raise LeftError("bytes are looked up otherwise than by rows of a matrix")
        wish = node.output[0] if noted.op == PLAIN else f"{noted.data}_floats"
        key = (id(data.graph), wish if noted.op == PLAIN else msgspec.json.encode(noted).decode())
        if key not in self.noted:
            self.noted[key] = self._stored(noted, wish, held, data)
        return self.noted[key]

    def _stored(self, noted: Noted, wish: str, held: list[Held | None], data: Held) -> Noted:
        folder = self.subject.base_dir
        arrays = [None if each is None else load_array(each.tensor, folder) for each in held]
        numbers, scales = arrays[0], arrays[1]
        assert numbers is not None  # the caller has seen to it
        assert scales is not None
        blocks = Blocks(scales, arrays[2], arrays[3])
        try:
            noted = msgspec.structs.replace(noted, filler=filler_of(noted, numbers, blocks))
            weights = as_floats(noted, numbers, blocks)
            rest = rest_of(numbers, as_blocks(noted, weights, blocks))
        except (ValueError, IndexError) as error:
            raise LeftError(f"the sizes of weights and scales do not fit: {error}") from None
        name = wish if noted.op == PLAIN else self.names.free(wish)
        noted = msgspec.structs.replace(noted, weight=name, digest=digest_of(numbers))
        graph = data.graph
        if len(rest):
            noted = msgspec.structs.replace(noted, rest=self.names.free(f"{noted.data}_rest"))
            graph.initializer.append(self.subject.store.tensor(noted.rest, rest))
        graph.initializer.append(self.subject.store.tensor(name, weights))
        kept = [copied(info) for info in graph.value_info if info.name != name]
        graph.ClearField("value_info")
        graph.value_info.extend(kept)
        self.data.add(noted.data)
        return noted

    def _instead(self, node: NodeProto, noted: Noted, known: Known) -> list[NodeProto]:
        """Return the nodes that read the floats."""
        if noted.op == LOOKUP:
            axis = noted.attribute("gather_axis")
            inputs = [noted.weight, node.input[1]]
            return [helper.make_node("Gather", inputs, node.output, node.name, axis=axis)]
        kind = known[noted.scales].tensor.data_type
        nodes: list[NodeProto] = []

        def wide(name: str) -> str:
            if kind == TensorProto.FLOAT:
                return name
            made = self.names.free(f"{name}_float32")
            nodes.append(helper.make_node("Cast", [name], [made], made, to=TensorProto.FLOAT))
            return made

        made = helper.make_node("MatMul", [wide(node.input[0]), noted.weight], [""], node.name)
        steps = [made]
        if noted.bias:
            steps.append(helper.make_node("Add", ["", wide(noted.bias)], [""]))
        if kind != TensorProto.FLOAT:
            steps.append(helper.make_node("Cast", [""], [""], to=kind))
        for one, after in pairwise(steps):
            one.output[0] = after.input[0] = self.names.free(f"{node.output[0]}_{one.op_type}")
            after.name = f"{one.output[0]}_{after.op_type}"
        steps[-1].output[0] = node.output[0]
        return [*nodes, *steps]

    def drop_unread(self) -> None:
        """Take the tensors of few bits out that nothing reads any more."""
        drop(self.done.proto.graph, self.data - names_read_in(self.done.proto.graph))


def _domain(op: str) -> str:
    return "" if op == PLAIN else CONTRIB


def _by_blocks(node: NodeProto, data: TensorProto) -> bool:
    kind = type_name(data.data_type)
    blocks = any(a.name == "block_size" and a.i for a in node.attribute)
    return kind in _HALVES or (blocks and kind in _FEW)
