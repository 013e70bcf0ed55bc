"""The walk over a main graph: what is known of each tensor, and the nodes that show nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, numpy_helper

from graphfix.edits.by_item.arithmetic import ARITHMETIC, Rule
from graphfix.edits.by_item.known import FIXED, Known, Operation
from graphfix.edits.by_item.linear import UndecidedError, product
from graphfix.edits.by_item.moving import MOVING
from graphfix.edits.by_item.numbers import (
    FOLLOWED,
    MOST,
    RANGES,
    array_of,
    computed,
    kind_name,
    limit_of,
    shape_numbers,
)
from graphfix.edits.known_tensors import Shapes, nodes_in_use
from graphfix.ir.protos import called, constant_of_node, names_read, normal_domain
from graphfix.ir.storage.weights import is_external
from graphfix.operators.table import MAY_DRAW, RANDOM

RULES: dict[str, Rule] = {**ARITHMETIC, **MOVING}
_ENOUGH = 1 << 20  # a type that holds fewer items than these is too narrow for sizes
_NARROW: dict[int, tuple[int, ...]] = {
    TensorProto.INT8: (1 << 7,),
    TensorProto.UINT8: (1 << 8,),
    TensorProto.INT16: (1 << 15,),
    TensorProto.UINT16: (1 << 16,),
    TensorProto.FLOAT16: (1 << 11,),
    TensorProto.BFLOAT16: (1 << 8,),
}


@dataclass(frozen=True, slots=True)
class Doubt:
    """A node at which it is not shown that items are computed by themselves.

    Attributes:
        node: The node.
        reason: What it does, in words that continue after its name.
        near: The numbers of items around which it may change.
    """

    node: NodeProto
    reason: str
    near: tuple[int, ...]

    def __str__(self) -> str:
        """Name the node and say what it does."""
        return f"{called(self.node.op_type, self.node.name, self.node.output)} {self.reason}"


@dataclass(frozen=True, slots=True)
class Found:
    """What the walk shows.

    Attributes:
        doubts: What is not shown; empty where every output is computed item by item.
        nodes: How many nodes were looked at.
        most: Up to how many items sizes fit into the types that hold them.
        constants: Numbers that meet what depends on the size where that is not followed.
    """

    doubts: tuple[Doubt, ...]
    nodes: int
    most: int
    constants: tuple[int, ...]


@dataclass
class Walk:
    """Walks over a model whose inputs have items along an axis.

    Attributes:
        proto: The model, its free sizes given.
        axes: Input -> the axis along which items lie.
        shapes: The shapes of tensors there.
        kinds: The element types of tensors.
        count: How many items these shapes have.
        measured: Gives the values of tensors there; asked once, for what is constant.
        overridable: Whether a caller may give another value for a stored tensor that is an input.
    """

    proto: ModelProto
    axes: Mapping[str, int]
    shapes: Shapes
    kinds: Mapping[str, int]
    count: int
    measured: Callable[[], Mapping[str, Any]]
    overridable: bool
    _known: dict[str, Known | None] = field(default_factory=dict[str, "Known | None"])
    _doubts: dict[str, Doubt] = field(default_factory=dict[str, Doubt])
    _most: int = (1 << 63) - 1

    @cached_property
    def _values(self) -> Mapping[str, Any]:
        return self.measured()

    @cached_property
    def _stored_tensors(self) -> Mapping[str, TensorProto]:
        return {t.name: t for t in self.proto.graph.initializer if not is_external(t)}

    @cached_property
    def _opset(self) -> int:
        versions = [i.version for i in self.proto.opset_import if not normal_domain(i.domain)]
        return versions[0] if versions else 1

    def found(self, outputs: Mapping[str, int | None]) -> Found:
        """Walk.

        Args:
            outputs: Output -> the axis along which its items are to lie; None for what is the same
                for all.
        """
        self._begin()
        nodes = nodes_in_use(self.proto)
        for node in nodes:
            self._visit(node)
        doubts: dict[int, Doubt] = {}
        makers = {name: node for node in nodes for name in node.output}
        for name, axis in outputs.items():
            doubt = self._doubt_of_output(name, axis, makers)
            if doubt is not None:
                doubts[id(doubt.node)] = doubt
        met = self._constants(nodes) if doubts else set[int]()
        return Found(tuple(doubts.values()), len(nodes), self._most, tuple(sorted(met)))

    def _begin(self) -> None:
        stored = {tensor.name for tensor in self.proto.graph.initializer}
        inputs = {info.name for info in self.proto.graph.input}
        if not self.overridable:
            inputs -= stored - set(self.axes)
        for name in inputs:
            self._known[name] = Known(self.axes[name]) if name in self.axes else FIXED
        for info in self.proto.graph.input:
            if info.name not in inputs:
                continue
            dims = info.type.tensor_type.shape.dim
            self.shapes[info.name] = tuple(
                d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in dims
            )
        for tensor in self.proto.graph.initializer:
            if tensor.name not in inputs:
                self._known[tensor.name] = _stored(tensor)
        for sparse in self.proto.graph.sparse_initializer:
            self._known.setdefault(sparse.values.name, FIXED)

    def _visit(self, node: NodeProto) -> None:
        read = list(names_read(node))
        lost = next((self._doubts[name] for name in read if name in self._doubts), None)
        if lost is None:
            try:
                for name, known in zip(node.output, self._results(node, read), strict=False):
                    self._known[name] = known
                missing = [each for each in node.output if each and self._known.get(each) is None]
                lost = Doubt(node, "gives places within all items", ()) if missing else None
            except UndecidedError as error:
                lost = Doubt(node, error.reason, error.near)
                missing = list(node.output)
            except (IndexError, KeyError, ValueError):  # attributes that no operator has
                lost = Doubt(node, "is written in a way that is not followed", ())
                missing = list(node.output)
        else:
            missing = list(node.output)
        for name in missing:
            self._known[name] = None
            if lost is not None:
                self._doubts[name] = lost

    def _results(self, node: NodeProto, read: Sequence[str]) -> Iterable[Known | None]:
        stored = constant_of_node(node)
        if stored is not None:
            return [_stored(stored)]
        given = [self._known.get(name) for name in read]
        if any(each is None for each in given):
            raise UndecidedError("reads what is not known")
        plain = not normal_domain(node.domain)
        if plain and node.op_type in RANDOM:
            raise UndecidedError("draws numbers")
        fixed = all(each.fixed for each in given if each is not None)
        if plain and node.op_type in ("Shape", "Size", *FOLLOWED):
            try:
                numbers = self._numbers(node)
            except UndecidedError:
                if not fixed:
                    raise
                numbers = None
            if numbers is not None:
                return [numbers]
        if fixed:
            return self._fixed(node, [each for each in given if each is not None])
        if not plain or node.op_type not in RULES:
            raise UndecidedError("is no operator whose items are known to be by themselves")
        if any(attribute.ref_attr_name for attribute in node.attribute):
            raise UndecidedError("has an attribute of a function")
        found = list(RULES[node.op_type](self._operation(node)))
        for name, known in zip(node.output, found, strict=False):
            if name and known is not None and known.axis is not None:
                self._check_count(name, known.axis)
        return found

    def _check_count(self, name: str, axis: int) -> None:
        shape = self.shapes.get(name)
        size = shape[axis] if shape is not None and axis < len(shape) else None
        if self.count == 1 and not isinstance(size, int):
            return
        if not isinstance(size, int) or size % self.count:
            raise UndecidedError("parts what belongs to one item")

    def _fixed(self, node: NodeProto, given: list[Known]) -> list[Known | None]:
        """Return what is the same for every number of items."""
        draws = not normal_domain(node.domain) and node.op_type in MAY_DRAW
        constant = all(each.constant for each in given) and not draws
        constant = constant and not normal_domain(node.domain)
        return [Known(constant=constant)] * len(node.output)

    def _numbers(self, node: NodeProto) -> Known | None:
        operation = self._operation(node)
        if node.op_type == "Shape":
            found = shape_numbers(operation).numbers
        elif node.op_type == "Size":
            found = np.empty((), object)
            found[()] = product(operation.sizes(0))
        else:
            if not any(each is not None and each.numbers is not None for each in operation.inputs):
                return None
            if any(each is not None and each.axis is not None for each in operation.inputs):
                return None
            found = computed(operation)
        if found is None or found.size > MOST:
            return None
        kind = self.kinds.get(node.output[0], TensorProto.INT64)
        moving = any(not each.fixed for each in found.flat)
        if kind not in RANGES:
            if moving:
                raise UndecidedError("computes with a size in a type that is not followed")
            return None
        limit = limit_of(found, kind)
        if moving:
            if limit < _ENOUGH:
                name = kind_name(kind)
                raise UndecidedError(f"holds the size as {name}, which ends", (limit,))
            self._most = min(self._most, limit)
        elif not limit:
            return None
        known = all(each.known() is not None for each in found.flat)
        return Known(numbers=found, constant=known)

    def _operation(self, node: NodeProto) -> Operation:
        def value(place: int) -> Any:
            name = node.input[place] if place < len(node.input) else ""
            known = self._known.get(name)
            if known is None or not known.constant:
                return None
            return self._constant(name)

        inputs: list[Known | None] = []
        for name in node.input:
            known = self._known.get(name) if name else None
            if known is not None and known.constant and known.numbers is None:
                held = self._constant(name) if self.kinds.get(name) in RANGES else None
                if held is not None and held.size <= MOST and held.dtype.kind in "iub":
                    known = Known(numbers=array_of(held), constant=True)
                    self._known[name] = known
            inputs.append(known)
        ranks = [None if (s := self.shapes.get(n)) is None else len(s) for n in node.output]
        shapes = [self.shapes.get(name) for name in node.input]
        return Operation(node, self._opset, inputs, shapes, ranks, self.count, value)

    def _constant(self, name: str) -> Any:
        if name in self._stored_tensors:
            return numpy_helper.to_array(self._stored_tensors[name])
        held = self._values.get(name)
        return cast("Any", held) if isinstance(held, np.ndarray) else None

    def _doubt_of_output(
        self, name: str, axis: int | None, makers: Mapping[str, NodeProto]
    ) -> Doubt | None:
        if name in self._doubts:
            return self._doubts[name]
        known = self._known.get(name)
        node = makers.get(name) or NodeProto(op_type="output", name=name)
        if known is None or not (known.fixed or known.axis is not None):
            return Doubt(node, "outputs the number of items", ())
        if known.axis != axis:
            return Doubt(node, "has its items along another axis than the output", ())
        return None

    def _constants(self, nodes: Sequence[NodeProto]) -> set[int]:
        """Return numbers that meet, after what is not followed or with it, what is not fixed."""
        found: set[int] = set()
        for node in nodes:
            if not any(name in self._doubts for name in node.output):
                continue
            for name in node.input:
                known = self._known.get(name)
                if name and known is not None and known.fixed:
                    found.update(self._numbers_of(name))
                found.update(_NARROW.get(self.kinds.get(name, 0), ()))
            for name in node.output:
                found.update(_NARROW.get(self.kinds.get(name, 0), ()))
        return found

    def _numbers_of(self, name: str) -> Iterator[int]:
        yield from (size for size in self.shapes.get(name, ()) if isinstance(size, int))
        known = self._known.get(name)
        held = self._constant(name) if known is not None and known.constant else None
        if held is not None and held.size <= 16 and held.dtype.kind in "iuf":
            yield from (
                int(each) for each in np.nan_to_num(held.reshape(-1)) if abs(each) < 1 << 31
            )


def _stored(tensor: TensorProto) -> Known:
    """Return what is known of a stored tensor."""
    count = int(np.prod(tensor.dims, dtype=np.int64))
    if tensor.data_type in RANGES and count <= MOST and not is_external(tensor):
        return Known(numbers=array_of(numpy_helper.to_array(tensor)), constant=True)
    return Known(constant=True)
