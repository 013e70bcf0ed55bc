"""The edit that gives rows whose number depends on data a fixed number, a mask and a count."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from graphfix.edits.addressing import find_node, graphs_of, tensors_of
from graphfix.edits.arrays import Array
from graphfix.edits.bounded_sources import SOURCES, Source, bounded, cut_after, parsed
from graphfix.edits.by_item.masked import Mask, MaskedWalk, RowsMixedError
from graphfix.edits.declared_sizes import dims_of
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.inferred_types import settle_types
from graphfix.edits.known_tensors import measured_shapes, shapes_of, types_of
from graphfix.edits.parts import declared, needed
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import called, constant_of_node, copied, let_store
from graphfix.operators.padding import KEY, Padding, padded_outputs, write_padding
from graphfix.reduction.tensor_types import Typist

_OLDEST = 11
_LOOKED_AT = 7  # rows, while what follows is looked at


@dataclass(frozen=True, slots=True)
class Bound:
    """Give rows whose number depends on data a fixed number.

    Attributes:
        name: A dimension of an output, a tensor, or a node that gives rows.
        most: How many rows there are from now on.
    """

    name: str
    most: int
    option: str = field(default="--bound", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Bound them; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.name}={self.most}"
        proto = subject.proto
        opset = next((e.version for e in proto.opset_import if e.domain in ("", "ai.onnx")), 1)
        if opset < _OLDEST or proto.functions:
            text = f"is for models of opset {_OLDEST} and newer, without functions"
            raise UsageError(text, where=where, hint=f"graphfix run MODEL --opset {_OLDEST}")
        if not 1 <= self.most < 1 << 31:
            raise UsageError("there must be one row or more", where=where)
        source = _source(subject, self._node(subject, where), where)
        twins = [n for n in proto.graph.node if _alike(n, source.node)]
        outputs = [info.name for info in proto.graph.output]
        walk = _walk(subject, source, twins)
        try:
            found = walk.rows(outputs)
        except RowsMixedError as error:
            text = f"{_named(source.node)} gives rows that do not stay apart: {error}"
            raise UsageError(text, where=where) from None
        stem = re.sub(r"\W+", "_", self.name).strip("_") or "rows"
        taken = {name for each in graphs_of(proto.graph) for name in tensors_of(each)}
        while any(name.startswith(f"{stem}/") for name in taken):
            stem += "_"
        ends = {"there": f"{stem}_mask", "count": f"{stem}_count"}
        if clash := sorted(taken & set(ends.values())):
            raise UsageError(f"the model has a tensor {clash[0]!r} already", where=where)
        made = self._made(subject, source, twins, walk.masks, f"{stem}/", ends, where)
        counts = _counted(made, found, f"{stem}/", ends["count"])
        self._declare(made, subject, found, counts, ends)
        shown, cut = copied(made), copied(proto)
        kept = [i for i in made.graph.output if i.name in outputs or i.name in counts.values()]
        shown.graph.ClearField("output")
        shown.graph.output.extend(kept)

        def cut_off(node: NodeProto) -> list[NodeProto]:
            return cut_after(source, self.most, node, f"{stem}/")

        _replaced(cut, twins, cut_off)
        text = f"the rows that count are those of the model as it was, of its first {self.most}"
        claim = Equal(text, cut, shown)
        rows = ", ".join(f"{name} (axis {axis})" for name, (axis, _) in found.items())
        said = [f"{_named(node)} gives {self.most} rows" for node in twins]
        said += [f"{m.output!r} reads them masked" for m in walk.masks]
        said.append(f"outputs with rows: {rows or 'none'}")
        said.append(f"new outputs {', '.join(dict.fromkeys((*ends.values(), *counts.values())))}")
        return Step(made, tuple(said), (claim,))

    def _node(self, subject: Subject, where: str) -> NodeProto:
        """Return the node that is named.

        Raises:
            UsageError: None is, or several may be.
        """
        scope, graph = subject.scope, subject.proto.graph
        maker = scope.nodes[scope.makers[self.name][0]] if self.name in scope.makers else None
        if maker is not None and _gives_rows(subject, maker):
            return maker
        named = [
            info.name
            for info in graph.output
            if any(dim.dim_param == self.name for dim in dims_of(info.type))
        ]
        if not named:
            place = find_node(subject.proto, self.name, where)
            if place.graph is not graph:
                raise UsageError(f"{place.text} is not in the main graph", where=where)
            return place.node
        before = needed(scope, named)
        found = [n for i, n in enumerate(scope.nodes) if i in before and _gives_rows(subject, n)]
        found = [n for at, n in enumerate(found) if not any(_alike(n, o) for o in found[:at])]
        if len(found) != 1:
            text = "; ".join(map(_named, found)) or "no NonZero, TopK or Range of computed numbers"
            text = f"{', '.join(named)} may get it from {text}"
            hint = "name a node" if found else ""
            raise UsageError(text, where=where, hint=hint)
        return found[0]

    def _made(
        self,
        subject: Subject,
        source: Source,
        twins: Sequence[NodeProto],
        masks: Sequence[Mask],
        prefix: str,
        ends: Mapping[str, str],
        where: str,
    ) -> ModelProto:
        """Return the model with its rows bounded, and what needs it masked."""
        made, node = copied(subject.proto), source.node
        given = tuple(_stored(subject, name) for name in node.input)
        held = given[0]
        read = held.shape if held is not None else _sizes(declared(subject, node.input[0], where))
        lines, stored = bounded(source, self.most, given, read, where)
        names = {f"x{i}": name for i, name in enumerate(node.input)}
        names |= {f"y{i}": name for i, name in enumerate(node.output) if name}
        names |= ends
        nodes, tensors = parsed(lines, stored, names, prefix)

        def instead(twin: NodeProto) -> list[NodeProto]:
            if list(twin.output) == list(node.output):
                return nodes
            pairs = zip(node.output, twin.output, strict=True)
            return [helper.make_node("Identity", [a], [b]) for a, b in pairs if b]

        _replaced(made, twins, instead)
        made.graph.initializer.extend(tensors)
        if masks:
            _put_masks(made, masks, self.most, prefix, ends)
        let_store(made)
        return made

    def _declare(
        self,
        made: ModelProto,
        subject: Subject,
        found: Mapping[str, tuple[int, int]],
        counts: Mapping[str, str],
        ends: Mapping[str, str],
    ) -> None:
        """Declare the outputs, old and new, and note which rows count."""
        for info in made.graph.output:
            if info.name in found:
                axis, each = found[info.name]
                info.type.tensor_type.shape.dim[axis].dim_value = self.most * each
        settle_types(made, subject.proto, subject.base_dir)
        for info in made.graph.output:
            if info.name in found:
                axis, each = found[info.name]
                info.type.tensor_type.shape.dim[axis].dim_value = self.most * each
        new = helper.make_tensor_value_info
        made.graph.output.append(new(ends["there"], TensorProto.BOOL, [self.most]))
        for name in dict.fromkeys((ends["count"], *counts.values())):
            made.graph.output.append(new(name, TensorProto.INT64, [1]))
        known = padded_outputs(subject.proto)
        known |= {name: Padding(counts[name], axis) for name, (axis, _) in found.items()}
        kept = [copied(entry) for entry in made.metadata_props if entry.key != KEY]
        made.ClearField("metadata_props")
        made.metadata_props.extend(kept)
        made.metadata_props.add(key=KEY, value=write_padding(known))


def _named(node: NodeProto) -> str:
    return called(node.op_type, node.name, node.output)


def _sizes(info: ValueInfoProto) -> tuple[int | str | None, ...]:
    return tuple(
        d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in dims_of(info.type)
    )


def _alike(one: NodeProto, two: NodeProto) -> bool:
    """Say whether two nodes compute the same."""
    same = one.op_type == two.op_type and one.domain == two.domain
    return (
        same and list(one.input) == list(two.input) and list(one.attribute) == list(two.attribute)
    )


def _stored(subject: Subject, name: str) -> Array | None:
    """Return what a tensor holds that is stored, or a Constant; None where a caller may feed it."""
    if name in subject.scope.makers:
        tensor = constant_of_node(subject.scope.nodes[subject.scope.makers[name][0]])
        return None if tensor is None else numpy_helper.to_array(tensor)
    graph = subject.proto.graph
    if subject.proto.ir_version >= 4 and any(info.name == name for info in graph.input):
        return None
    found = [t for t in graph.initializer if t.name == name]
    return numpy_helper.to_array(found[0], subject.base_dir) if found else None


def _gives_rows(subject: Subject, node: NodeProto) -> bool:
    """Say whether the number of rows of a node depends on data."""
    if node.domain or node.op_type not in SOURCES:
        return False
    ends = {"TopK": node.input[1:2], "Range": node.input[:3]}.get(node.op_type, node.input[:1])
    return any(_stored(subject, name) is None for name in ends)


def _source(subject: Subject, node: NodeProto, where: str) -> Source:
    if not _gives_rows(subject, node):
        text = f"{_named(node)} gives no number of rows that is followed; NonZero, TopK with a"
        text += " computed k and Range with a computed end do"
        raise UsageError(text, where=where)
    infos = [declared(subject, name, where) for name in node.output if name]
    rank = len(list(dims_of(infos[0].type)))
    axis = {"NonZero": 1, "Range": 0}.get(node.op_type)
    if axis is None:
        axis = next((a.i for a in node.attribute if a.name == "axis"), -1) % rank
    shape = [None if at == axis else size for at, size in enumerate(_sizes(infos[0]))]
    kinds = tuple(info.type.tensor_type.elem_type for info in infos)
    return Source(node, axis, tuple(shape), kinds)


def _walk(subject: Subject, source: Source, twins: Sequence[NodeProto]) -> MaskedWalk:
    """Return a walk over the model in which the rows are an input."""
    rows = copied(subject.proto)
    _replaced(rows, twins, _nothing)
    axes: dict[str, int] = {}
    sizes = [_LOOKED_AT if at == source.axis else size for at, size in enumerate(source.shape)]
    for twin in twins:
        for name, kind in zip(filter(None, twin.output), source.kinds, strict=True):
            axes[name] = source.axis
            rows.graph.input.append(helper.make_tensor_value_info(name, kind, sizes))
    rows.graph.ClearField("value_info")
    kept = [copied(info) for info in rows.graph.output if info.name not in axes]
    rows.graph.ClearField("output")
    rows.graph.output.extend(kept)
    for info in rows.graph.output:
        info.type.tensor_type.ClearField("shape")
    shapes = shapes_of(rows)
    given = [shapes.get(info.name, ("?",)) for info in rows.graph.input]
    if all(isinstance(each, int) for shape in given for each in shape):
        shapes |= measured_shapes(rows, subject.base_dir, shapes)
    kinds = types_of(rows)

    def measured() -> Mapping[str, Any]:
        small = [n for n in kinds if n in shapes and len(shapes[n]) < 2]
        made = {name for node in rows.graph.node for name in node.output}
        return Typist(subject.base_dir).values(rows, [name for name in small if name in made])

    overridable = subject.proto.ir_version >= 4
    return MaskedWalk(rows, axes, shapes, kinds, _LOOKED_AT, measured, overridable)


def _nothing(_: NodeProto) -> list[NodeProto]:
    return []


def _replaced(
    proto: ModelProto,
    nodes: Sequence[NodeProto],
    instead: Callable[[NodeProto], list[NodeProto]],
) -> None:
    """Put other nodes where some are."""
    gone = {next(filter(None, node.output)) for node in nodes}
    kept: list[NodeProto] = []
    for node in proto.graph.node:
        here = bool(gone & set(node.output))
        kept += instead(node) if here else [copied(node)]
    proto.graph.ClearField("node")
    proto.graph.node.extend(kept)


def _put_masks(
    proto: ModelProto, masks: Sequence[Mask], most: int, prefix: str, ends: Mapping[str, str]
) -> None:
    """Put Where before the nodes that add rows up, or slide over them."""
    known = types_of(proto)
    known |= {t.name: t.data_type for t in proto.graph.initializer}
    wanted = {(mask.output, mask.place): mask for mask in masks}
    kept: list[NodeProto] = []
    ready: set[str] = set()
    for node in proto.graph.node:
        first = node.output[0] if node.output else ""
        for place, name in enumerate(node.input):
            mask = wanted.get((first, place))
            if mask is None:
                continue
            shown = _mask(proto, kept, ready, mask, most, prefix, ends)
            masked = f"{prefix}masked_{first}_{place}"
            if known[name] == TensorProto.BOOL:  # onnxruntime has no Where of it
                if mask.neutral > 0:
                    kept.append(helper.make_node("Not", [shown], [f"{masked}_off"]))
                    parts = ("Or", [f"{masked}_off", name])
                else:
                    parts = ("And", [shown, name])
            else:
                zero = f"{prefix}neutral_{first}_{place}"
                dtype = helper.tensor_dtype_to_np_dtype(known[name])
                value = _neutral(mask.neutral, dtype)
                proto.graph.initializer.append(numpy_helper.from_array(value, zero))
                parts = ("Where", [shown, name, zero])
            kept.append(helper.make_node(*parts, [masked], name=masked))
            node.input[place] = masked
        kept.append(copied(node))
    proto.graph.ClearField("node")
    proto.graph.node.extend(kept)


def _neutral(value: float, dtype: np.dtype[Any]) -> Array:
    """Return a scalar; the end of a type of integers for an infinite one."""
    if dtype.kind in "iu" and np.isinf(value):
        ends = np.iinfo(dtype)
        return np.array(ends.max if value > 0 else ends.min, dtype)
    return np.array(value, dtype)


def _mask(
    proto: ModelProto,
    kept: list[NodeProto],
    ready: set[str],
    mask: Mask,
    most: int,
    prefix: str,
    ends: Mapping[str, str],
) -> str:
    """Return the mask of some places for each row, with axes after them."""
    flat = ends["there"]
    if mask.each > 1:
        flat = f"{prefix}there_{mask.each}"
        if flat not in ready:
            stored = {
                "places": np.arange(most * mask.each, dtype=np.int64),
                "each": np.array([mask.each], np.int64),
            }
            lines = [f"count_{mask.each} = Mul (count, each)"]
            lines.append(f"there = Less (places, count_{mask.each})")
            names = {"count": ends["count"], "there": flat}
            names[f"count_{mask.each}"] = f"{prefix}count_{mask.each}"
            nodes, tensors = parsed(lines, stored, names, f"{prefix}{mask.each}/")
            kept.extend(nodes)
            proto.graph.initializer.extend(tensors)
            ready.add(flat)
    if not mask.after:
        return flat
    name = f"{prefix}mask_{mask.each}_{mask.after}"
    if name not in ready:
        shape = np.array([-1] + [1] * mask.after, np.int64)
        proto.graph.initializer.append(numpy_helper.from_array(shape, f"{name}_shape"))
        kept.append(helper.make_node("Reshape", [flat, f"{name}_shape"], [name], name=name))
        ready.add(name)
    return name


def _counted(
    made: ModelProto, found: Mapping[str, tuple[int, int]], prefix: str, count: str
) -> dict[str, str]:
    """Return the output that counts the rows of each output, some places for each of them."""
    counts: dict[str, str] = {}
    for name, (_, each) in found.items():
        counts[name] = count if each == 1 else f"{count}_x{each}"
        if each > 1 and counts[name] not in {n for o in made.graph.node for n in o.output}:
            size = f"{prefix}each_{each}"
            made.graph.initializer.append(numpy_helper.from_array(np.array([each], np.int64), size))
            made.graph.node.append(helper.make_node("Mul", [count, size], [counts[name]]))
    return counts


@option("bound", "NAME=MAX", "Fix rows whose number depends on data; adds a count.", Group.SHAPES)
def read_bound(given: Given) -> Bound:
    """Return the edit that a text asks for."""
    name, most = given.pair()
    if not most.isdecimal():
        raise given.malformed()
    return Bound(name, int(most))


def bound(model: ModelLike, name: str, most: int, **how: Unpack[How]) -> Edited:
    """Give rows whose number depends on data a fixed number, a mask and a count."""
    return edit(model, [Bound(name, most)], **how)
