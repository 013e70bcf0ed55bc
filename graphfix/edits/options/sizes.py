"""Edits of declared sizes: symbols that get a value, shapes that are fixed in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Unpack

from onnx import ModelProto, ValueInfoProto

from graphfix.analysis.inference import type_text
from graphfix.edits.addressing import matching
from graphfix.edits.declared_sizes import Size, dims_of, set_size
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.addressing import unknown
from graphfix.ir.protos import all_graphs, copied
from graphfix.reduction.tensor_types import Typist


@dataclass(frozen=True, slots=True)
class Dim:
    """Give a symbolic size a value, wherever it is declared.

    Attributes:
        symbol: The symbol, such as ``N``.
        size: Its value.
    """

    symbol: str
    size: int
    option: str = field(default="--dim", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Replace the symbol; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.symbol}={self.size}"
        known = {
            dim.dim_param
            for info in subject.proto.graph.input
            for dim in dims_of(info.type)
            if dim.dim_param
        }
        if self.symbol not in known:
            raise unknown("input with the size", self.symbol, sorted(known), where)
        proto = _bound(subject, {self.symbol: self.size}, {})
        return _step(subject, proto, [f"{self.symbol} is {self.size}"])


@option("dim", "N=1", "Fix the symbolic dimension N to a number.", Group.SHAPES)
def read_dim(given: Given) -> Dim:
    """Return the edit that a text asks for."""
    symbol, size = given.pair()
    if not size.isdecimal():
        raise given.malformed()
    return Dim(symbol, int(size))


def dim(model: ModelLike, symbol: str, size: int, **how: Unpack[How]) -> Edited:
    """Give a symbolic size a value, wherever it is declared."""
    return edit(model, [Dim(symbol, size)], **how)


@dataclass(frozen=True, slots=True)
class Shape:
    """Declare the shape of an input: sizes fixed, or called by a symbol.

    Attributes:
        name: The input.
        sizes: A number, a symbol, or None (``?``) for what stays as it is, for each dimension.
    """

    name: str
    sizes: tuple[Size, ...]
    option: str = field(default="--shape", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Declare it; see `graphfix.edits.step.Edit`."""
        text = "x".join("?" if size is None else str(size) for size in self.sizes)
        where = f"{self.option} {self.name}={text}"
        known = {info.name: info for info in subject.proto.graph.input}
        matching(known, self.name, "input", where)
        kind = known[self.name].type
        if kind.WhichOneof("value") != "tensor_type":
            raise UsageError(f"input {self.name!r} is no tensor", where=where)
        shape = kind.tensor_type.shape
        if kind.tensor_type.HasField("shape") and len(shape.dim) != len(self.sizes):
            raise UsageError(
                f"the input has {len(shape.dim)} dimensions, not {len(self.sizes)}", where=where
            )
        symbols: dict[str, Size] = {}
        for old, new in zip(shape.dim, self.sizes, strict=False):
            if old.HasField("dim_value") and new is not None and old.dim_value != new:
                raise UsageError(
                    f"a dimension of the input is {old.dim_value} and cannot become {new}",
                    where=where,
                )
            if old.dim_param and new is not None and symbols.setdefault(old.dim_param, new) != new:
                raise UsageError(
                    f"{old.dim_param!r} cannot be {symbols[old.dim_param]} and {new} at once",
                    where=where,
                )
        proto = _bound(subject, symbols, {self.name: self.sizes})
        new_type = next(i.type for i in proto.graph.input if i.name == self.name)
        said = [f"input {self.name!r} is {type_text(new_type)}"]
        said += [f"{old} is {new}" for old, new in symbols.items() if old != new]
        return _step(subject, proto, said)


@option(
    "shape",
    "NAME=1x3xHxW",
    "Declare the shape of an input: numbers, symbols, ? as it is.",
    Group.SHAPES,
)
def read_shape(given: Given) -> Shape:
    """Return the edit that a text asks for."""
    return Shape(*given.shape())


def shape(
    model: ModelLike, name: str, sizes: Sequence[int | str | None], **how: Unpack[How]
) -> Edited:
    """Declare the shape of an input: numbers, symbols, None for what stays as it is."""
    return edit(model, [Shape(name, tuple(sizes))], **how)


def _bound(
    subject: Subject, symbols: Mapping[str, Size], shapes: Mapping[str, tuple[Size, ...]]
) -> ModelProto:
    """Return a copy with other sizes declared, and what follows from them."""
    proto = copied(subject.proto)
    for info in proto.graph.input:
        if info.name in shapes:
            shape = info.type.tensor_type.shape
            shape.SetInParent()
            while len(shape.dim) < len(shapes[info.name]):
                shape.dim.add()
            for dim, size in zip(shape.dim, shapes[info.name], strict=True):
                set_size(dim, size)
    for graph in all_graphs(proto.graph):
        for info in (*graph.input, *graph.output, *graph.value_info):
            for dim in dims_of(info.type):
                if dim.dim_param in symbols:
                    set_size(dim, symbols[dim.dim_param])
    _follow(proto, subject.base_dir)
    return proto


def _follow(proto: ModelProto, base_dir: str) -> None:
    """Write the sizes that follow from others into the declarations of the main graph."""
    types = Typist(base_dir).inferred(proto)
    for info in (*proto.graph.output, *proto.graph.value_info):
        known = types.get(info.name)
        if known is None:
            continue
        if info.type.HasField("tensor_type") and not info.type.tensor_type.HasField("shape"):
            info.type.CopyFrom(known)
        ours, theirs = list(dims_of(info.type)), list(dims_of(known))
        if len(ours) != len(theirs):
            continue
        for dim, inferred in zip(ours, theirs, strict=True):
            if not dim.HasField("dim_value") and inferred.HasField("dim_value"):
                set_size(dim, inferred.dim_value)


def _step(subject: Subject, proto: ModelProto, said: list[str]) -> Step:
    old: dict[str, ValueInfoProto] = {i.name: i for i in subject.proto.graph.output}
    for info in proto.graph.output:
        if info != old[info.name]:
            said.append(f"output {info.name!r} is {type_text(info.type)}")
    text = "at these sizes the outputs are those of the model as it was"
    return Step(proto, tuple(said), (Equal(text, subject.proto, proto),))
