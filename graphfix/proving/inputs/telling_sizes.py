"""Sizes at which a model that turns sizes into values may change what it computes.

A model that reads a Shape computes with a size, compares it, looks it up in a table, casts it to a
type that does not hold it. What it computes at a few small sizes says nothing of the sizes beyond:
those next to each number that a size meets, and next to the end of each type, are tried too. So are
those next to the bounds of a Slice, which sizes meet without being read.

Integers wrap at the ends of their types; of the integers a float holds all up to two to the
digits of its mantissa (IEEE 754; bfloat16 has 8 digits, and float8 4 and 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isqrt

import onnx
from msgspec import Struct, field
from onnx import TensorProto

from graphfix.ir.protos import all_graphs, all_nodes, constant_of_node
from graphfix.operators.table import COMPARISONS, PLACES
from graphfix.proving.inputs import thresholds
from graphfix.proving.inputs.uses import Use, consumers, int_attribute
from graphfix.proving.values.kinds import Array

# The first size that a type does not hold as it is.
ENDS: Mapping[int, int] = {
    TensorProto.INT8: 1 << 7,
    TensorProto.UINT8: 1 << 8,
    TensorProto.INT16: 1 << 15,
    TensorProto.UINT16: 1 << 16,
    TensorProto.INT32: 1 << 31,
    TensorProto.UINT32: 1 << 32,
    TensorProto.FLOAT8E4M3FN: (1 << 4) + 1,
    TensorProto.FLOAT8E4M3FNUZ: (1 << 4) + 1,
    TensorProto.FLOAT8E5M2: (1 << 3) + 1,
    TensorProto.FLOAT8E5M2FNUZ: (1 << 3) + 1,
    TensorProto.BFLOAT16: (1 << 8) + 1,
    TensorProto.FLOAT16: (1 << 11) + 1,
    TensorProto.FLOAT: (1 << 24) + 1,
}
# Where numbers meet: with a constant there, results may change next to it.
_MEETING = frozenset(
    {"Add", "Clip", "Div", "Max", "Min", "Mod", "Mul", "Pow", "Range", "Sub", "Sum"}
)
_PRODUCTS = frozenset({"Mul", "Pow", "ReduceProd", "Size"})
# What is looked up in the first input by the values of others.
_TABLES = frozenset({"Gather", "GatherElements", "GatherND", "Slice"})
# What a size does not get through as a number that still says where it changes.
_ENDING = frozenset(
    {"Conv", "ConvTranspose", "Einsum", "Gemm", "MatMul", "Resize", "Softmax", "Upsample"}
)
_MOST_NODES = 400
_MOST_MARKS = 8
_MOST_SIZES = 60
_LARGEST = (1 << 31) + 1
# Bounds of slices from here on stand for the end.
_FAR = (1 << 31) - 1


class _Seen(Struct):
    """What the sizes of a graph meet.

    Attributes:
        marks: Numbers that they meet, in the order in which they do.
        ends: The first sizes that types on their way do not hold.
        factors: Numbers that are multiplied with a size to get another one.
        products: Whether they are multiplied with each other.
        computed: Whether anything is computed with them and a constant.
    """

    marks: dict[float, None] = field(default_factory=dict[float, None])
    ends: dict[int, None] = field(default_factory=dict[int, None])
    factors: dict[int, None] = field(default_factory=dict[int, None])
    products: bool = False
    computed: bool = False


def telling_sizes(graphs: Iterable[onnx.GraphProto]) -> list[int]:
    """Return sizes to try, in ascending order; none where nothing meets a size.

    Args:
        graphs: The same model before and after, functions inlined: what either does with a size.
    """
    seen = _Seen()
    for graph in graphs:
        _look(graph, seen)
    if not seen.marks and not seen.ends:
        return []
    found: dict[int, None] = {}
    for number in _numbers(seen):
        whole = int(number)
        for size in (whole - 1, whole, whole + 1):
            if 1 < size <= _LARGEST and len(found) < _MOST_SIZES:
                found[size] = None
    return sorted(found)


def _numbers(seen: _Seen) -> Iterator[float]:
    """Yield what a size may meet: the numbers themselves first, then what arithmetic makes."""
    marks = [mark for mark in seen.marks if mark > 1][:_MOST_MARKS]
    ends = list(seen.ends)
    yield from ends
    yield from marks
    yield from (2 * end for end in ends)  # signed integers come round to what they were
    scales = [1 / mark for mark in seen.marks if 0 < mark < 1][:_MOST_MARKS]
    if seen.products:
        yield from (isqrt(number) for number in (*ends, *map(int, marks)) if number > 3)
    for end in ends:
        yield from (end / mark for mark in marks if mark < end)
        yield from (end - mark for mark in marks if mark < end)
    for factor in seen.factors:
        yield from (number // factor for number in (*ends, *marks) if number > factor)
    for place, mark in enumerate(marks if seen.computed else ()):
        yield from (mark * other for other in (*marks[place:], *scales))
        yield from (mark + other for other in marks[place:])


def _look(graph: onnx.GraphProto, seen: _Seen) -> None:
    """Follow the sizes that a graph reads, and take down what they meet."""
    nodes = [node for node in all_nodes(graph.node) if not node.domain]
    sources = [node for node in nodes if node.op_type in PLACES]
    slices = [node for node in nodes if node.op_type == "Slice"]
    if not sources and not slices:
        return
    numbers = thresholds.small_numbers(graph)
    for node in slices:
        seen.marks |= dict.fromkeys(_bounds(node, numbers))
    if not sources:
        return
    lengths = _lengths(graph)
    readers = consumers(graph)
    if any(node.op_type == "Size" for node in sources):
        seen.products = True
    derived = {
        node.output[place]
        for node in sources
        for place in (PLACES[node.op_type],)
        if place < len(node.output) and node.output[place]
    }
    pending, looked = list(derived), set[int]()
    while pending and len(looked) < _MOST_NODES:
        for use in readers.get(pending.pop(0), ()):
            _meet(use, numbers, lengths, seen)
            if id(use.node) in looked or use.op in _ENDING or use.op in PLACES:
                continue
            if use.op == "Reshape" and use.position == 1:
                continue  # no value depends on how its elements are arranged
            looked.add(id(use.node))
            fresh = [name for name in use.node.output if name and name not in derived]
            derived.update(fresh)
            pending += fresh


def _meet(
    use: Use, numbers: Mapping[str, Array], lengths: Mapping[str, Sequence[int]], seen: _Seen
) -> None:
    node = use.node
    if use.op == "Cast":
        end = ENDS.get(int_attribute(node, "to", 0))
        if end is not None:
            seen.ends[end] = None
    if use.op in _PRODUCTS:
        seen.products = True
    if use.op in _TABLES and use.position > 0:
        shape = lengths.get(node.input[0], ())
        axis = int_attribute(node, "axis", 0)
        along = use.op.startswith("Gather") and -len(shape) <= axis < len(shape)
        seen.marks |= dict.fromkeys(map(float, [shape[axis]] if along else shape))
    if use.op not in _MEETING and use.op not in COMPARISONS:
        return
    for place, name in enumerate(node.input):
        for number in numbers[name].ravel().tolist() if name in numbers else ():
            if place != use.position:
                seen.marks[abs(float(number))] = None
                seen.computed = seen.computed or use.op in _MEETING
                if use.op == "Mul" and number > 1:
                    seen.factors[int(number)] = None


def _bounds(node: onnx.NodeProto, numbers: Mapping[str, Array]) -> Iterator[float]:
    """Yield where a Slice begins and ends, as far as that is constant: sizes meet it there."""
    for attribute in node.attribute:
        if attribute.name in ("starts", "ends"):
            yield from (abs(float(bound)) for bound in attribute.ints if abs(bound) < _FAR)
    for name in node.input[1:3]:
        for bound in numbers[name].ravel().tolist() if name in numbers else ():
            if abs(bound) < _FAR:
                yield abs(float(bound))


def _lengths(graph: onnx.GraphProto) -> dict[str, Sequence[int]]:
    """Return the shape of each constant."""
    found: dict[str, Sequence[int]] = {
        tensor.name: list(tensor.dims) for g in all_graphs(graph) for tensor in g.initializer
    }
    for node in all_nodes(graph.node):
        tensor = constant_of_node(node)
        if tensor is not None:
            found[node.output[0]] = list(tensor.dims)
    return found
