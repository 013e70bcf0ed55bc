"""Thin matrices in the place of big ones, for decoders too big to be decoded with as they are.

A matrix W of n rows and m columns becomes the product of two that are drawn, n x 8 and 8 x m, and
what multiplies with W multiplies with one after the other. The static form is made without looking
at such a matrix, so that what two models compute with drawn ones says as much of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphfix.ir.protos import copied, names_read, normal_domain, subgraphs_of
from graphfix.ir.storage.weights import numpy_dtype, stored_bytes
from graphfix.proving.runners.evaluators import weight_bytes

MOST = 1 << 30  # bytes of weights that are decoded with as they are
_BIG = 1 << 20  # bytes of a matrix that is replaced
_RANK = 8
# What multiplies with a matrix, and at which input; Gather takes rows of it.
_CODED = ("com.microsoft", "MatMulNBits")
_PRODUCTS = {("", "MatMul"): 1, ("", "Gemm"): 1, ("", "Gather"): 0, _CODED: 1}
# What a matrix goes through first, whose other inputs are scales.
_CARRIES = frozenset(("", op) for op in ("Cast", "DequantizeLinear", "Identity", "Transpose"))


class Thinned(Struct, frozen=True):
    """Models with thin matrices.

    Attributes:
        protos: The models; as they were where that left more than `MOST` bytes of weights.
        count: How many matrices were replaced.
        bytes: What they take.
    """

    protos: list[ModelProto]
    count: int = 0
    bytes: int = 0


class _Use(Struct, frozen=True):
    """A node that multiplies with a matrix.

    Attributes:
        node: Its place.
        turned: Whether it does with the transpose of what is stored.
        kind: The element type in which it does.
    """

    node: int
    turned: bool
    kind: int


def thinned(protos: Sequence[ModelProto]) -> Thinned:
    """Replace big matrices that all of some models multiply with, alike in all of them."""
    found = [_Readers(proto).products() for proto in protos]
    first = {tensor.name: tensor for tensor in protos[0].graph.initializer}
    common = [
        name
        for name, uses in found[0].items()
        if all(len(each.get(name, ())) == len(uses) for each in found)
    ]
    taken = sum(stored_bytes(first[name]) for name in common)
    if weight_bytes(protos[0]) - taken > MOST:
        return Thinned(list(protos))
    both = zip(protos, found, strict=True)
    made = [_with_thin(proto, {name: uses[name] for name in common}) for proto, uses in both]
    return Thinned(made, len(common), taken)


class _Readers:
    """Who reads what in a model."""

    def __init__(self, proto: ModelProto) -> None:
        self._nodes = proto.graph.node
        self._stored = {tensor.name: tensor for tensor in proto.graph.initializer}
        self._at: dict[str, list[tuple[int, int]]] = {}
        self._shared = {info.name for info in (*proto.graph.output, *proto.graph.input)}
        for place, node in enumerate(self._nodes):
            for at, name in enumerate(node.input):
                self._at.setdefault(name, []).append((place, at))
            if any(True for _ in subgraphs_of(node)):
                self._shared |= set(names_read(node))

    def products(self) -> dict[str, list[_Use]]:
        """Return, for each big matrix, what multiplies with it, if nothing else reads it."""
        big = (t for t in self._stored.values() if stored_bytes(t) >= _BIG)
        found = ((t.name, self._uses(t.name, False, t.data_type, len(t.dims))) for t in big)
        return {name: uses for name, uses in found if uses}

    def _uses(self, name: str, turned: bool, kind: int, rank: int) -> list[_Use] | None:
        if name in self._shared:
            return None
        found: list[_Use] = []
        for place, at in self._at.get(name, ()):
            node = self._nodes[place]
            given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
            operator = (normal_domain(node.domain), node.op_type)
            if _PRODUCTS.get(operator) == at:
                is_coded = operator == _CODED
                if given.get("transA") or given.get("axis") or (rank != 2 and not is_coded):
                    return None
                is_other = is_coded or bool(given.get("transB"))
                kind_here = self._type_of_scale(node, 2) if is_coded else kind
                found.append(_Use(place, turned != is_other, kind_here))
            elif operator in _CARRIES and not at and rank == 2:
                is_other = operator[1] == "Transpose" and list(given.get("perm", (1, 0))) == [1, 0]
                scale = self._type_of_scale(node, 1) if operator[1] == "DequantizeLinear" else 0
                kind_after = given.get("to") or scale or kind
                after = self._uses(node.output[0], turned != is_other, kind_after, rank)
                if after is None:
                    return None
                found += after
            else:
                return None
        return found

    def _type_of_scale(self, node: NodeProto, place: int) -> int:
        scale = self._stored.get(node.input[place]) if len(node.input) > place else None
        return TensorProto.FLOAT if scale is None else scale.data_type


def _with_thin(proto: ModelProto, uses: dict[str, list[_Use]]) -> ModelProto:
    """Return a copy in which nodes multiply with two thin matrices one after the other."""
    result = copied(proto)
    graph = result.graph
    stored = {tensor.name: tensor for tensor in proto.graph.initializer}
    factors: dict[str, TensorProto] = {}
    written = [[node] for node in proto.graph.node]
    for name, found in uses.items():
        for use in found:
            node = proto.graph.node[use.node]
            left, right = _factors(stored[name], node, use)
            factors |= {left.name: left, right.name: right}
            written[use.node] = _parted(node, left.name, right.name)
    read = {info.name for info in graph.output}
    kept: list[NodeProto] = []
    graph.ClearField("node")
    for nodes in reversed(written):
        for node in reversed(nodes):
            if read.intersection(node.output):
                read |= set(names_read(node))
                kept.append(node)
    graph.node.extend(reversed(kept))
    graph.ClearField("initializer")
    graph.initializer.extend(t for t in (*stored.values(), *factors.values()) if t.name in read)
    return result


def _factors(tensor: TensorProto, node: NodeProto, use: _Use) -> tuple[TensorProto, TensorProto]:
    """Return what a node is to multiply with, one after the other."""
    rows, columns = list(tensor.dims)[:2]
    if node.op_type == _CODED[1]:
        given = {a.name: a.i for a in node.attribute}
        rows, columns = given["N"], given["K"]
    random = np.random.default_rng(zlib.crc32(tensor.name.encode()))
    first = random.standard_normal((rows, _RANK), np.float32) / min(rows, columns) ** 0.5
    second = random.standard_normal((_RANK, columns), np.float32) / _RANK**0.5
    left, right = (second.T, first.T) if use.turned else (first, second)
    way = f"{tensor.name}/{use.kind}{'/turned' if use.turned else ''}"
    dtype = numpy_dtype(use.kind)
    return (
        numpy_helper.from_array(np.ascontiguousarray(left, dtype), f"{way}/left"),
        numpy_helper.from_array(np.ascontiguousarray(right, dtype), f"{way}/right"),
    )


def _parted(node: NodeProto, left: str, right: str) -> list[NodeProto]:
    """Return the nodes that multiply with two matrices in the place of one."""
    (out,) = node.output
    thin, whole = f"{out}/thin", f"{out}/whole"
    if node.op_type == "Gather":
        rows = helper.make_node("Gather", [left, node.input[1]], [thin])
        return [rows, helper.make_node("MatMul", [thin, right], [out])]
    first = helper.make_node("MatMul", [node.input[0], left], [thin])
    bias = node.input[5] if node.op_type == _CODED[1] and len(node.input) > 5 else ""
    if node.op_type == "Gemm":
        last = copied(node)
        last.input[0], last.input[1] = thin, right
        kept = [a for a in node.attribute if a.name != "transB"]
        last.ClearField("attribute")
        last.attribute.extend(kept)
        return [first, last]
    if bias:
        return [
            first,
            helper.make_node("MatMul", [thin, right], [whole]),
            helper.make_node("Add", [whole, bias], [out]),
        ]
    return [first, helper.make_node("MatMul", [thin, right], [out])]
