"""Tables of which rows are taken by the position: longer where they hold angles, or too short."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper

from graphfix.edits.caches.readings import Reading, read_at
from graphfix.errors import UsageError
from graphfix.ir.protos import called, constant_of_node, copied, normal_domain
from graphfix.ir.storage.weights import load_array

Array = np.ndarray[Any, Any]
_MICROSOFT = "com.microsoft"
# The input that says which rows an operator takes (None: one for each place), and the tables.
_TABLES: dict[tuple[str, str], tuple[int | None, tuple[int, ...]]] = {
    ("", "Gather"): (1, (0,)),
    ("", "GatherElements"): (1, (0,)),
    ("", "RotaryEmbedding"): (3, (1, 2)),
    (_MICROSOFT, "RotaryEmbedding"): (1, (2, 3)),
    (_MICROSOFT, "GroupQueryAttention"): (None, (7, 8)),
}
_ROUNDINGS = 8  # of an angle: it was multiplied, and a sine and a cosine of it were rounded


class _Short(Struct, frozen=True):
    """A table that ends too early, with the one next to it (cosines and sines).

    Attributes:
        node: Who reads it.
        names: The table or both; none where other than rows are taken.
        rows: How many it has.
    """

    node: NodeProto
    names: tuple[str, ...]
    rows: int


def reaching(
    proto: ModelProto, base_dir: str, position: str, new: int, length: int, where: str
) -> tuple[ModelProto, int]:
    """Return a static form with tables for all places of its caches, and how many got longer.

    Args:
        proto: The static form.
        base_dir: Where its external data lies.
        position: The input for the position.
        new: How many tokens it takes.
        length: The places of a cache.
        where: The option, for errors.

    Raises:
        UsageError: A table ends earlier, and is not shown to be cosines and sines of position x
            frequency; who reads it is named.
    """
    last = copied(proto)
    infos = [info for info in last.graph.input if info.name != position]
    last.graph.ClearField("input")
    last.graph.input.extend(infos)
    last.graph.initializer.append(numpy_helper.from_array(np.array([length - new]), position))
    short = list(_short(proto, read_at(last, base_dir, 0, {}), length))
    if not short:
        return proto, 0
    stored = {tensor.name: tensor for tensor in proto.graph.initializer}
    made_by = {node.output[0]: constant_of_node(node) for node in proto.graph.node}
    stored |= {name: tensor for name, tensor in made_by.items() if tensor is not None}
    longer: dict[str, TensorProto] = {}
    for each in short:
        if each.names and set(each.names) <= set(longer):
            continue
        arrays = [load_array(stored[n], base_dir) for n in each.names if n in stored]
        found = bool(arrays) and len(arrays) == len(each.names)
        made = _extended(arrays, length) if found else None
        if made is None:
            who = called(each.node.op_type, each.node.name, each.node.output)
            what = "angles" if len(each.names) > 1 else "rows"
            raise UsageError(
                f"{who} has {what} for {each.rows} places, fewer than {length}", where=where
            )
        for name, array in zip(each.names, made, strict=True):
            longer[name] = numpy_helper.from_array(np.ascontiguousarray(array), name)
    result = copied(proto)
    for part in ("node", "initializer"):
        result.graph.ClearField(part)
    kept = [tensor for tensor in proto.graph.initializer if tensor.name not in longer]
    result.graph.initializer.extend((*kept, *longer.values()))
    result.graph.node.extend(n for n in proto.graph.node if n.output[0] not in longer)
    return result, len(longer)


def _short(proto: ModelProto, reading: Reading, length: int) -> Iterator[_Short]:
    for node in proto.graph.node:
        places, tables = _TABLES.get((normal_domain(node.domain), node.op_type), (None, ()))
        names = tuple(node.input[at] for at in tables if at < len(node.input))
        shape = reading.shapes.get(names[0]) if names and all(names) else None
        if not shape:
            continue
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0) % len(shape)
        rows = shape[axis]
        asked = length
        if places is not None:
            at = reading.values.get(node.input[places]) if places < len(node.input) else None
            if at is None or not at.size:
                continue
            asked = int(at.max()) + 1
        if rows is not None and rows < asked:
            yield _Short(node, () if axis else names, rows)


def _extended(tables: list[Array], length: int) -> list[Array] | None:
    """Return tables of cosines and sines with more rows; None where they are something else.

    Args:
        tables: Cosines and sines, [n, m] each, or one table with both side by side in any order.
        length: How many rows they get.
    """
    if any(table.ndim != 2 or len(table) < 2 or table.dtype.kind != "f" for table in tables):
        return None
    if len(tables) == 1:
        if tables[0].shape[1] % 2:
            return None
        one, other = np.split(tables[0], 2, axis=1)
        is_turned = bool((one[0] == 0).all())  # sines of 0 come first
        if is_turned:
            one, other = other, one
        found = _both_extended(one, other, length)
        if found is None:
            return None
        return [np.concatenate(found[::-1] if is_turned else found, axis=1)]
    return _both_extended(tables[0], tables[1], length)


def _both_extended(cosines: Array, sines: Array, length: int) -> list[Array] | None:
    if cosines.shape != sines.shape or cosines.dtype != sines.dtype:
        return None
    eps = float(np.finfo(cosines.dtype).eps)
    wide = cosines.astype(np.float64), sines.astype(np.float64)
    scales = np.hypot(*wide)
    scale = float(scales.mean())
    places = np.arange(len(cosines), dtype=np.float64)[:, None]
    phases = np.unwrap(np.arctan2(wide[1], wide[0]), axis=0)
    exact = (places * phases).sum(axis=0) / (places * places).sum()
    frequencies = exact.astype(np.float32)
    allowed = _ROUNDINGS * (eps + float(np.finfo(np.float32).eps) * places * np.abs(exact))
    if not scale or np.abs(scales / scale - 1).max() > _ROUNDINGS * eps:
        return None
    if (np.abs(phases - places * exact) > allowed).any():
        return None
    angles = np.arange(len(cosines), length, dtype=np.float32)[:, None] * frequencies
    made = np.cos(angles.astype(np.float64)), np.sin(angles.astype(np.float64))
    return [
        np.concatenate([table, (scale * part).astype(table.dtype)])
        for table, part in zip((cosines, sines), made, strict=True)
    ]
