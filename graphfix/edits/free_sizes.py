"""A fixed size made free: the constants that baked it in are found by following it, and computed.

All shapes are inferred as the model is, and again with a size that nothing else has; where they
differ is where the size goes. What a constant keeps from growing is made to grow:

- Reshape: the axis that the size is the leading part of takes what is left (-1);
- Expand: the axis keeps what comes in;
- Resize to sizes: the size is read from the input;
- Concat, and the first states of recurrent nodes: a constant of one item is expanded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper

from graphfix.edits.addressing import graphs_of, tensors_of
from graphfix.edits.known_tensors import (
    Shapes,
    Sizes,
    constant_of,
    is_known,
    measured_shapes,
    nodes_in_use,
    put_before,
    shapes_of,
    twin,
    types_of,
)
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import called, copied, let_store, names_read, normal_domain

_PROBE = 7919  # times the size: nothing else in a network is a multiple of this prime
_MOST = 4000
_SHAPE_INPUT = {"Reshape": 1, "Expand": 1, "Resize": 3}
_STATES = {"LSTM": (5, 6), "GRU": (5,), "RNN": (5,)}


@dataclass(frozen=True, slots=True)
class Freed:
    """A model in which a size is free.

    Attributes:
        proto: The model; declarations of inputs and outputs have the symbol.
        axes: The axis of each output that grows with the size; None for those that do not.
        said: What was changed, one line each.
    """

    proto: ModelProto
    axes: dict[str, int | None]
    said: tuple[str, ...]


class Freeing:
    """Frees a size of some inputs; see the module."""

    def __init__(
        self, proto: ModelProto, base_dir: str, axes: dict[str, int], size: int, where: str
    ) -> None:
        """Take the axis of each input that has the size.

        Args:
            proto: The model.
            base_dir: Where its external data lies.
            axes: Input -> axis.
            size: The size that is fixed there.
            where: What asks for it.
        """
        self._proto, self._axes, self._size, self._where = copied(proto), axes, size, where
        self._overridable = proto.ir_version >= 4
        self._light = Model(proto, base_dir=base_dir).light_proto()
        self._before = shapes_of(self._light)
        if all(
            isinstance(s, int) for i in proto.graph.input for s in self._before.get(i.name, "?")
        ):
            self._before |= measured_shapes(proto, base_dir, self._before)
        self._wide = size * _PROBE
        for info in self._light.graph.input:
            if info.name in axes:
                info.type.tensor_type.shape.dim[axes[info.name]].dim_value = self._wide
        self._light.graph.ClearField("value_info")
        for info in self._light.graph.output:
            info.type.tensor_type.ClearField("shape")
        self._taken = {n for g in graphs_of(proto.graph) for n in tensors_of(g)}
        self._vector = ""
        self.said: list[str] = []

    def freed(self, symbol: str) -> Freed:
        """Return the model with the size free.

        Raises:
            UsageError: A node depends on the size in a way that is not known; it is named.
        """
        for _ in range(_MOST):
            shapes = shapes_of(self._light)
            if not self._mend_first(shapes):
                break
        else:
            raise UsageError("too many nodes depend on the size", where=self._where)
        axes = {i.name: self._axis_of_output(i.name, shapes) for i in self._proto.graph.output}
        self._check_ends(axes, shapes)
        self._declare(symbol, shapes)
        return Freed(self._proto, axes, tuple(self.said))

    def _check_ends(self, axes: dict[str, int | None], shapes: Shapes) -> None:
        """Check that the size comes out where it went in, along every way that it takes.

        Raises:
            UsageError: It does not; the nodes after which it is lost are named.
        """
        lost = [_called(node) for node in self._where_lost(shapes)]
        for name, axis in axes.items():
            old = self._before.get(name)
            if axis is not None or not old or old[0] != self._size or not self._follows_input(name):
                continue
            raise UsageError(
                f"output {name!r} does not grow with the size, which is lost at "
                f"{', '.join(lost[:5]) or 'no single node'}",
                where=self._where,
            )
        if lost:
            raise UsageError(
                f"the size is lost at {', '.join(lost[:5])}: what is after it would be the same "
                "for all items",
                where=self._where,
            )

    def _where_lost(self, shapes: Shapes) -> list[NodeProto]:
        """Return the nodes in use that read what grows and give nothing that does."""
        return [
            node
            for node in nodes_in_use(self._light)
            if any(self._grown(each, shapes) is not None for each in node.input)
            and all(self._grown(each, shapes) is None for each in node.output)
            and all(is_known(s) for each in node.output for s in shapes.get(each, (None,)))
            and node.op_type not in ("Shape", "Size")
        ]

    def _grown(self, name: str, shapes: Shapes) -> int | None:
        """Return the axis of a tensor that grows; None where none does, or it is not known."""
        old, new = self._before.get(name), shapes.get(name)
        if old is None or new is None or len(old) != len(new):
            return None
        found = [
            axis
            for axis, (a, b) in enumerate(zip(old, new, strict=True))
            if isinstance(a, int) and isinstance(b, int) and b == a * _PROBE and a
        ]
        return found[0] if len(found) == 1 else None

    def _axis_of_output(self, name: str, shapes: Shapes) -> int | None:
        """Return the axis along which items lie; the first one where inference does not know."""
        old, new = self._before.get(name), shapes.get(name)
        grown = self._grown(name, shapes)
        if grown is not None or (new is not None and all(map(is_known, new))):
            return grown
        return 0 if old and (old[0] == self._size or not isinstance(old[0], int)) else None

    def _mend_first(self, shapes: Shapes) -> bool:
        """Mend the first node that keeps the size from growing; False where none does."""
        for node in self._light.graph.node:
            if normal_domain(node.domain):
                continue
            if node.op_type in _SHAPE_INPUT and self._mend_shape(node, shapes):
                return True
            if node.op_type == "Concat" and self._mend_concat(node, shapes):
                return True
            if node.op_type in _STATES and self._mend_states(node, shapes):
                return True
            if self._lost(node, shapes):
                return True
        return False

    def _lost(self, node: NodeProto, shapes: Shapes) -> bool:
        """Follow the size through a node where inference loses it; the proof shows if that holds.

        Where the rank stays, so does the axis.
        """
        axis = self._grown(node.input[0], shapes) if node.input else None
        old = self._before.get(node.output[0])
        now = shapes.get(node.output[0])
        if axis is None or old is None or len(old) != len(self._before[node.input[0]]):
            return False
        if node.op_type in _SHAPE_INPUT or old[axis] != self._before[node.input[0]][axis]:
            return False
        if now is not None and isinstance(now[axis], int):
            return False
        wanted = [_grow(size) if place == axis else size for place, size in enumerate(old)]
        return self._note(node.output[0], wanted)

    def _follows_input(self, name: str) -> bool:
        """Say whether a tensor is computed from an input whose size becomes free."""
        makers = {out: node for node in self._proto.graph.node for out in node.output}
        pending, seen = [name], set[str]()
        while pending:
            each = pending.pop()
            if each in self._axes:
                return True
            if each in makers and each not in seen:
                seen.add(each)
                pending += names_read(makers[each])
        return False

    def _mend_shape(self, node: NodeProto, shapes: Shapes) -> bool:
        position = _SHAPE_INPUT[node.op_type]
        axis = self._grown(node.input[0], shapes)
        old = self._before.get(node.output[0])
        if axis is None or old is None or len(node.input) <= position:
            return False
        if node.op_type == "Reshape":
            target = self._leading(node, axis, old)
        else:  # the last axes belong to each other
            target = axis + len(old) - len(self._before[node.input[0]])
            if node.op_type == "Expand" and old[target] != self._before[node.input[0]][axis]:
                raise self._refused(node)  # it repeats the items
        wanted = list(old)
        wanted[target] = _grow(old[target])
        now = shapes.get(node.output[0])
        known = [None] * len(wanted) if now is None or len(now) != len(wanted) else list(now)
        if all(a == b for a, b in zip(known, wanted, strict=True)):
            return False
        constant = constant_of(self._proto, node.input[position])
        stays = isinstance(known[target], int) and known[target] != wanted[target]
        if constant is None and not stays and self._follows_input(node.input[position]):
            # It is computed from a size that grows; inference does not always see that.
            return self._note(node.output[0], wanted)
        if any(not isinstance(size, int) for size in old):
            raise self._refused(node)
        self._check_stored(node, node.input[position])
        new = [int(size) for size in old if isinstance(size, int)]
        if node.op_type == "Resize":
            return self._sizes_computed(node, position, target, new)
        new[target] = -1 if node.op_type == "Reshape" else 1
        was = None if constant is None else constant.reshape(-1).tolist()
        if new == was:
            return self._note(node.output[0], wanted)
        self._say(f"{_called(node)} takes {new}" + (f", not {was}" if was else ""))
        name = self._free_name(f"{node.input[position]}_free")
        tensor = numpy_helper.from_array(np.array(new, np.int64), name)
        for model in (self._proto, self._light):
            model.graph.initializer.append(tensor)
            let_store(model)
            twin(model, node).input[position] = name
        return True

    def _check_stored(self, node: NodeProto, name: str) -> None:
        """Check that no caller may give another value for what is to be replaced.

        Raises:
            UsageError: One may.
        """
        if self._overridable and any(info.name == name for info in self._proto.graph.input):
            raise UsageError(
                f"{_called(node)} reads {name!r}, for which a caller may give another value",
                where=self._where,
                hint=f"--drop-input {name} stores it for good",
            )

    def _leading(self, node: NodeProto, axis: int, old: Sizes) -> int:
        """Return the axis of a Reshape's output that an axis of the input is the first part of."""
        given = self._before[node.input[0]]
        numbers = [s for s in (*given, *old) if isinstance(s, int)]
        if len(numbers) != len(given) + len(old):
            raise self._refused(node)
        ahead = prod(int(size) for size in given[:axis] if isinstance(size, int))
        for place, size in enumerate(old):
            before = prod(int(s) for s in old[:place] if isinstance(s, int))
            if before == ahead and isinstance(size, int) and size % self._size == 0 and size:
                return place
        raise self._refused(node)

    def _mend_concat(self, node: NodeProto, shapes: Shapes) -> bool:
        joined = next((a.i for a in node.attribute if a.name == "axis"), 0)
        grown = [self._grown(name, shapes) for name in node.input]
        axes = {axis for axis in grown if axis is not None}
        if len(axes) != 1 or None not in grown:
            return False
        (axis,) = axes
        rank = len(self._before[node.input[grown.index(axis)]])
        if axis == joined % rank:
            return False
        return any(
            size is None and self._expand(node, position, axis, rank)
            for position, size in enumerate(grown)
        )

    def _mend_states(self, node: NodeProto, shapes: Shapes) -> bool:
        if self._grown(node.input[0], shapes) != 1:
            return False
        return any(
            self._expand(node, position, 1, 3)
            for position in _STATES[node.op_type]
            if position < len(node.input)
            and node.input[position]
            and self._grown(node.input[position], shapes) is None
        )

    def _expand(self, node: NodeProto, position: int, axis: int, rank: int) -> bool:
        """Let an input of one item be as many as there are."""
        name = node.input[position]
        old = self._before.get(name)
        if old is None or len(old) != rank or old[axis] != self._size:
            raise self._refused(node)
        if self._size != 1:
            raise self._refused(node)
        self._say(f"{_called(node)} reads {name!r} expanded to the size")
        vector = self._size_vector()
        target, shape = (self._free_name(f"{name}_{part}") for part in ("expanded", "shape"))
        ones = [self._free_name(f"{name}_ones_{side}") for side in ("before", "after")]
        parts = [ones[0]] * bool(axis) + [vector] + [ones[1]] * (axis + 1 < rank)
        nodes = [
            helper.make_node("Concat", parts, [shape], axis=0),
            helper.make_node("Expand", [name, shape], [target]),
        ]
        tensors = [
            numpy_helper.from_array(np.ones(count, np.int64), each)
            for each, count in zip(ones, (axis, rank - axis - 1), strict=True)
            if count
        ]
        for model in (self._proto, self._light):
            model.graph.initializer.extend(tensors)
            let_store(model)
            twin(model, node).input[position] = target
            put_before(model, node, nodes)
        self._before[target] = old
        wanted = [_grow(size) if place == axis else size for place, size in enumerate(old)]
        self._note(target, wanted)
        return True

    def _sizes_computed(self, node: NodeProto, position: int, axis: int, new: list[int]) -> bool:
        self._say(f"{_called(node)} computes its sizes")
        vector = self._size_vector()
        name = self._free_name(f"{node.input[position]}_free")
        rest = [self._free_name(f"{name}_{side}") for side in ("before", "after")]
        values = (new[:axis], new[axis + 1 :])
        parts = [rest[0]] * bool(values[0]) + [vector] + [rest[1]] * bool(values[1])
        tensors = [
            numpy_helper.from_array(np.array(value, np.int64), each)
            for each, value in zip(rest, values, strict=True)
            if value
        ]
        if new[axis] != self._size:
            raise self._refused(node)
        for model in (self._proto, self._light):
            model.graph.initializer.extend(tensors)
            let_store(model)
            twin(model, node).input[position] = name
            put_before(model, node, [helper.make_node("Concat", parts, [name], axis=0)])
        wanted = [_grow(size) if place == axis else size for place, size in enumerate(new)]
        self._note(node.output[0], wanted)
        return True

    def _size_vector(self) -> str:
        """Return the tensor that holds the size, as a vector."""
        if not self._vector:
            source, axis = next(iter(self._axes.items()))
            shape, index = (self._free_name(f"{source}_{part}") for part in ("shape", "axis"))
            self._vector = self._free_name(f"{source}_size")
            tensor = numpy_helper.from_array(np.array([axis], np.int64), index)
            nodes = [
                helper.make_node("Shape", [source], [shape]),
                helper.make_node("Gather", [shape, index], [self._vector], axis=0),
            ]
            for model in (self._proto, self._light):
                model.graph.initializer.append(tensor)
                put_before(model, model.graph.node[0], nodes)
        return self._vector

    def _note(self, name: str, wanted: Sequence[int | str | None]) -> bool:
        """Tell inference the shape of a tensor; False where it knows it already."""
        if any(info.name == name for info in self._light.graph.value_info):
            return False
        kinds = types_of(self._light)
        info = helper.make_tensor_value_info(name, kinds.get(name, 1), list(wanted))
        self._light.graph.value_info.append(info)
        return True

    def _declare(self, symbol: str, shapes: Shapes) -> None:
        graph = self._proto.graph
        graph.ClearField("value_info")
        for info in graph.input:
            if info.name in self._axes:
                info.type.tensor_type.shape.dim[self._axes[info.name]].dim_param = symbol
        for info in graph.output:
            axis = self._axis_of_output(info.name, shapes)
            for place, dim in enumerate(info.type.tensor_type.shape.dim):
                if place == axis and dim.dim_value == self._size:
                    dim.dim_param = symbol
                elif place == axis or shapes.get(info.name) is None:
                    dim.ClearField("value")

    def _free_name(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _say(self, text: str) -> None:
        self.said.append(text)

    def _refused(self, node: NodeProto) -> UsageError:
        return UsageError(
            f"{_called(node)} depends on the size in a way that cannot be freed", where=self._where
        )


def _grow(size: int | str | None) -> int | str | None:
    return size * _PROBE if isinstance(size, int) else size


def _called(node: NodeProto) -> str:
    return called(node.op_type, node.name, node.output)
