"""What follows from the position of a token: places, masks, and inputs that were fed before."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from graphfix.edits.caches.decoder import Decoder
from graphfix.edits.caches.readings import Array

POSITION = "position"
# What hides a score: the lowest number of float16, in which devices compute.
HIDDEN = float(np.finfo(np.float16).min)


class Position:
    """Nodes that compute with the position, each written once.

    Attributes:
        nodes: What is written so far.
        stored: Constants for them.
        new: How many tokens are new.
        length: How long a cache is.
        name: The input.
    """

    def __init__(self, graph: GraphProto, new: int, length: int) -> None:
        """Take the names that are in use; nothing is written yet."""
        self._taken = {n for node in graph.node for n in (*node.input, *node.output)}
        self._taken |= {info.name for info in (*graph.input, *graph.output)}
        self._made: dict[tuple[object, ...], str] = {}
        self.nodes: list[NodeProto] = []
        self.stored: list[TensorProto] = []
        self.new, self.length = new, length
        self.name = self._free(POSITION)

    def add(self, op: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        """Write a node; one that was written before is not written again."""
        key = (op, *inputs, repr(sorted(attributes.items())))
        if not output and key in self._made:
            return self._made[key]
        name = output or self._free(f"{self.name}/{op}")
        self.nodes.append(helper.make_node(op, inputs, [name], name=name, **attributes))
        self._made.setdefault(key, name)
        return name

    def constant(self, array: Array) -> str:
        """Store a constant once."""
        key = ("constant", array.dtype.str, array.shape, array.tobytes())
        if key not in self._made:
            name = self._made[key] = self._free(f"{self.name}/constant")
            self.stored.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return self._made[key]

    def line(self, begin: Array, slope: Array, dtype: np.dtype[Any], output: str = "") -> str:
        """Write begin + slope position."""
        wide = np.int64 if dtype.kind in "iu" else np.float32
        x = self.given()
        if wide is np.float32:
            x = self.add("Cast", x, to=TensorProto.FLOAT)
        if begin.ndim == 0:
            x = self.add("Squeeze", x, self.constant(np.array([0])))
        if (slope != 1).any():
            x = self.add("Mul", x, self.constant(slope.astype(wide)))
        if begin.any() or begin.ndim > 1 or begin.size > 1:
            x = self.add("Add", x, self.constant(begin.astype(wide)))
        if dtype != wide:
            x = self.add("Cast", x, to=helper.np_dtype_to_tensor_dtype(dtype))
        return self.add("Identity", x, output=output) if output else x

    def given(self) -> str:
        """Write the position; below the first place it is that one, so that each token sees one."""
        return self.add("Max", self.name, self.constant(np.array([0])))

    def places(self) -> str:
        """Write which place each new token gets, [new]."""
        begin = np.arange(self.new, dtype=np.float64)
        return self.line(begin, np.ones_like(begin), np.dtype(np.int64))

    def rows(self) -> str:
        """Store the places of a cache, [length]."""
        return self.constant(np.arange(self.length))

    def seen(self) -> str:
        """Write which places each new token sees, bool [new, length]."""
        column = self.add("Unsqueeze", self.places(), self.constant(np.array([1])))
        return self.add("LessOrEqual", self.rows(), column)

    def inside(self, after: int) -> str:
        """Write which places are new, bool [length] and `after` axes of 1."""
        begin = self.given()
        if self.new == 1:
            inside = self.add("Equal", self.rows(), begin)
        else:
            last = np.array([self.new - 1], np.float64)
            end = self.line(last, np.ones_like(last), np.dtype(np.int64))
            late = self.add("LessOrEqual", begin, self.rows())
            inside = self.add("And", late, self.add("LessOrEqual", self.rows(), end))
        if not after:
            return inside
        return self.add("Unsqueeze", inside, self.constant(np.arange(1, after + 1)))

    def source(self) -> str:
        """Write which of the new tokens each place gets, [length]; 0 for places that get none."""
        at = self.add("Sub", self.rows(), self.given())
        at = self.add("Max", at, self.constant(np.array([0])))
        return self.add("Min", at, self.constant(np.array([self.new - 1])))

    def _free(self, wish: str) -> str:
        name, number = wish, 0
        while name in self._taken:
            number += 1
            name = f"{wish}_{number}"
        self._taken.add(name)
        return name


def derive(at: Position, decoder: Decoder, infos: Iterable[ValueInfoProto]) -> None:
    """Write what inputs held that are none any more."""
    for info in infos:
        kind = info.type.tensor_type
        rank = len(kind.shape.dim)
        if info.name in decoder.masks:
            _derive_mask(at, info.name, kind.elem_type, rank)
        elif info.name in decoder.positions:
            flat = at.places()
            if rank == 2:
                flat = at.add("Unsqueeze", flat, at.constant(np.array([0])))
            at.add("Cast", flat, output=info.name, to=kind.elem_type)
        elif info.name in decoder.totals:
            shape = (1,) * rank
            dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
            total = np.full(shape, at.length, dtype)
            at.stored.append(numpy_helper.from_array(total, info.name))
        else:
            last = np.full((1,) * rank, at.new - 1, np.float64)
            dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
            at.line(last, np.ones_like(last), dtype, output=info.name)


def _derive_mask(at: Position, name: str, kind: int, rank: int) -> None:
    axes = at.constant(np.array([0] if rank == 2 else [0, 1]))
    if rank == 2:
        last = np.array([at.new - 1], np.float64)
        end = at.line(last, np.ones_like(last), np.dtype(np.int64))
        seen = at.add("Unsqueeze", at.add("LessOrEqual", at.rows(), end), axes)
    else:
        seen = at.add("Unsqueeze", at.seen(), axes)
    if rank == 2 or kind == TensorProto.BOOL:
        at.add("Cast", seen, output=name, to=kind)
        return
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    nothing, lowest = (at.constant(np.array(v, dtype)) for v in (0, HIDDEN))
    at.add("Where", seen, nothing, lowest, output=name)
