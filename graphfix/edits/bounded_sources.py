"""What gives as many rows as data decide, and the same with a fixed number of rows and a count."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper, parser

from graphfix.edits.arrays import Array
from graphfix.errors import UsageError
from graphfix.ir.protos import called, copied
from graphfix.ir.storage.weights import dtype_of

SOURCES = ("NonZero", "TopK", "Range")
_EXACT = 1 << 23  # twice as many are integers of float32


@dataclass(frozen=True, slots=True)
class Source:
    """A node that gives rows.

    Attributes:
        node: The node.
        axis: Along which its outputs have rows.
        shape: That of its outputs, with None for the rows.
        kinds: The element types of its outputs.
    """

    node: NodeProto
    axis: int
    shape: tuple[int | str | None, ...]
    kinds: tuple[int, ...]


def bounded(
    source: Source,
    most: int,
    given: tuple[Array | None, ...],
    read: tuple[int | str | None, ...],
    where: str,
) -> tuple[list[str], dict[str, Array]]:
    """Return lines that give ``y0`` (and ``y1``), ``there`` bool[MAX] and ``count`` int64[1].

    The rows that count come first and are those that the node gives; the first one fills up, so
    that what follows computes nothing there that it did not. The inputs are ``x0``, ``x1``, ``x2``.

    Args:
        source: The node.
        most: How many rows there are from now on.
        given: What its inputs hold, where that is stored.
        read: The shape of its first input.
        where: The option, for errors.

    Raises:
        UsageError: What it reads is not known well enough.
    """
    node = source.node
    name = called(node.op_type, node.name, node.output)
    stored: dict[str, Array] = {
        "most": np.array([most], np.int64),
        "places": np.arange(most, dtype=np.int64),
        "one_axis": np.array([1], np.int64),
    }
    end = ["there = Less (places, count)"]
    if node.op_type == "TopK":
        axis = {a.name: a.i for a in node.attribute}
        size = read[source.axis] if source.axis < len(read) else None
        if not axis.get("sorted", 1):
            raise UsageError(f"{name} gives its rows in no order", where=where)
        if not isinstance(size, int) or size < most:
            text = f"{name} chooses of {size if isinstance(size, int) else 'an open number'}"
            raise UsageError(f"{text}, not of {most} or more", where=where)
        text = f"axis = {source.axis}, largest = {axis.get('largest', 1)}"
        lines = [f"v0, v1 = TopK <{text}> (x0, most)", "count = Reshape (x1, one_axis)", *end]
        stored["column"] = np.array([-1] + [1] * (len(read) - source.axis - 1), np.int64)
        stored |= {"none": np.array([0], np.int64), "row_axis": np.array([source.axis], np.int64)}
        lines.append("kept = Reshape (there, column)")
        for at in range(len(source.kinds)):
            lines.append(f"f{at} = Slice (v{at}, none, one_axis, row_axis)")
            lines.append(f"y{at} = Where (kept, v{at}, f{at})")
        return lines, stored
    if node.op_type == "Range":
        dtype = dtype_of(source.kinds[0])
        delta = given[2]
        if dtype is None or dtype.kind != "i" or delta is None or not delta.any():
            raise UsageError(f"{name} must be of integers with a constant step", where=where)
        step = int(delta.reshape(-1)[0])
        stored |= {
            "up": np.array(abs(step) - 1, dtype),
            "step": np.array(step, dtype),
            "size": np.array(abs(step), dtype),
            "nothing": np.array(0, np.int64),
        }
        ends = "x1, x0" if step > 0 else "x0, x1"
        lines = [
            f"span = Sub ({ends})",
            "more = Add (span, up)",
            "many = Div (more, size)",
            "many_rows = Cast <to = 7> (many)",
            "some = Greater (many_rows, nothing)",
            "no_less = Where (some, many_rows, nothing)",
            "count = Reshape (no_less, one_axis)",
            *end,
            "kept = Where (there, places, nothing)",
            f"typed = Cast <to = {source.kinds[0]}> (kept)",
            "steps = Mul (typed, step)",
            "y0 = Add (steps, x0)",
        ]
        return lines, stored
    sizes = [size for size in read if isinstance(size, int)]
    if len(sizes) < len(read) or not sizes:
        text = f"{name} must read a static shape; it is {list(read)}"
        raise UsageError(text, where=where, hint="fix it with --shape")
    count = prod(sizes)
    if not most <= count <= _EXACT:
        text = f"{name} gives at most {count} rows, not {most}"
        raise UsageError(text if count < most else f"{name} reads {count} elements", where=where)
    stored |= {
        "all": np.array([-1], np.int64),
        "number": np.array(count, np.float32),
        "falling": np.arange(count, 0, -1, dtype=np.float32),
        "row": np.array([1, -1], np.int64),
        "none": np.array([0], np.int64),
        "whole": np.ones((count, 1), np.float32),
        "one_row": np.array([1, count], np.int64),
    }
    lines = [
        "set = Cast <to = 9> (x0)",
        "ones = Cast <to = 1> (set)",
        "flat = Reshape (ones, all)",
        "raised = Mul (flat, number)",
        "keys = Add (raised, falling)",
        "best, falling_order = TopK (keys, most)",
        "across = Reshape (flat, one_row)",
        "sum = MatMul (across, whole)",
        "whole_sum = Cast <to = 7> (sum)",
        "count = Reshape (whole_sum, one_axis)",
        *end,
        "first = Slice (falling_order, none, one_axis)",
        "order = Where (there, falling_order, first)",
    ]
    for at, size in enumerate(sizes):
        stored[f"after{at}"] = np.array(prod(sizes[at + 1 :]), np.int64)
        stored[f"size{at}"] = np.array(size, np.int64)
        lines += [
            f"q{at} = Div (order, after{at})",
            f"m{at} = Mod (q{at}, size{at})",
            f"r{at} = Reshape (m{at}, row)",
        ]
    rows = ", ".join(f"r{at}" for at in range(len(sizes)))
    return [*lines, f"y0 = Concat <axis = 0> ({rows})"], stored


def parsed(
    lines: list[str], stored: dict[str, Array], names: dict[str, str], prefix: str
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return the nodes of lines and what they read that is stored, their tensors with a prefix."""
    nodes = list(parser.parse_graph(f"g () => () {{ {' '.join(lines)} }}").node)
    for number, node in enumerate(nodes):
        for part in (node.input, node.output):
            part[:] = [names.get(name, prefix + name) for name in part]
        node.name = f"{prefix}{node.op_type}_{number}"
    used = {name for node in nodes for name in node.input}
    tensors = [numpy_helper.from_array(a, prefix + name) for name, a in stored.items()]
    return nodes, [tensor for tensor in tensors if tensor.name in used]


def cut_after(source: Source, most: int, twin: NodeProto, stem: str) -> list[NodeProto]:
    """Return such a node itself, with what cuts its rows off: what a proof compares with."""
    node, names = copied(twin), list(twin.output)
    prefix = f"{stem}{next(filter(None, names))}/"
    node.output[:] = [f"{prefix}all{place}" for place in range(len(names))]
    found = [node]
    for name, value in (("begin", 0), ("end", most), ("axis", source.axis)):
        tensor = numpy_helper.from_array(np.array([value], np.int64))
        found.append(helper.make_node("Constant", [], [prefix + name], value=tensor))
    ends = [prefix + name for name in ("begin", "end", "axis")]
    for given, name in zip(node.output, names, strict=True):
        if name:
            found.append(helper.make_node("Slice", [given, *ends], [name]))
    return found
