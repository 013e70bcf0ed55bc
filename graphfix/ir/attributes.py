"""The attributes of a node: decoded when read, written back untouched when not replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Any

from msgspec import Struct
from onnx import AttributeProto

from graphfix.ir.edit_clock import CLOCK
from graphfix.ir.schemas import Form


class AttributeRef(Struct, frozen=True):
    """The value of an attribute that is an attribute of the function that the node is in.

    Attributes:
        name: The attribute of the function.
        type: AttributeProto.AttributeType.
    """

    name: str
    type: AttributeProto.AttributeType


# What a node without attributes has: one for all, which nothing is ever put into.
_NONE: dict[str, Any] = {}


class Attributes(MutableMapping[str, Any]):
    """The attributes of a node; decoded when read, written back untouched when not replaced.

    Attributes:
        own: What lies next to the protos of the file: subgraphs, and values that replace theirs.
        dropped: Whether one of the file was removed.
    """

    __slots__ = ("_protos", "dropped", "own")

    def __init__(self, protos: Iterable[AttributeProto] = ()) -> None:
        """Hold the given attribute protos."""
        self._protos: dict[str, AttributeProto] = {p.name: p for p in protos} or _NONE
        self.own: dict[str, Any] = _NONE
        self.dropped = False

    def __getitem__(self, name: str) -> Any:
        """Return the decoded value."""
        if name in self.own:
            return self.own[name]
        return decode_attribute(self._protos[name])

    def __setitem__(self, name: str, value: Any) -> None:
        """Replace the value; the original is forgotten."""
        self._protos.pop(name, None)
        self._put(name, value)

    def __delitem__(self, name: str) -> None:
        """Remove an attribute."""
        CLOCK.count += 1
        found = name in self._protos or name in self.own
        self.dropped = self.dropped or name in self._protos
        self._protos.pop(name, None)
        self.own.pop(name, None)
        if not found:
            raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        """Walk the names, those of the file first."""
        yield from self._protos
        yield from (n for n in self.own if n not in self._protos)

    def __len__(self) -> int:
        """Count the attributes."""
        if not self.own:
            return len(self._protos)
        return len(self._protos) + sum(1 for n in self.own if n not in self._protos)

    def __contains__(self, name: object) -> bool:
        """Say whether the attribute is there."""
        return name in self._protos or name in self.own

    def proto(self, name: str) -> AttributeProto | None:
        """Return the untouched proto of `name`, or None where the value was replaced."""
        return self._protos.get(name)

    def adopt_graph(self, name: str, graph: object) -> None:
        """Put the imported graph of attribute `name` next to its proto."""
        self._put(name, graph)

    def _put(self, name: str, value: Any) -> None:
        CLOCK.count += 1
        if self.own is _NONE:
            self.own = {}
        self.own[name] = value

    def saved(self) -> tuple[dict[str, AttributeProto], dict[str, Any], bool]:
        """Return the content, for `restore`; values are not copied."""
        return dict(self._protos), dict(self.own), self.dropped

    def restore(self, saved: tuple[dict[str, AttributeProto], dict[str, Any], bool]) -> None:
        """Bring back what `saved` gave out."""
        CLOCK.count += 1
        self._protos, self.own = dict(saved[0]), dict(saved[1])
        self.dropped = saved[2]

    def replaced(self) -> bool:
        """Say whether anything differs from the file, inner graphs left out of account."""
        if not self.own:
            return self.dropped
        return self.dropped or not self.own.keys() <= self._protos.keys()


def decode_attribute(proto: AttributeProto) -> Any:
    """Return the Python value of an attribute: numbers, text, lists, or the proto itself."""
    if proto.ref_attr_name:
        return AttributeRef(proto.ref_attr_name, proto.type)
    kind = proto.type
    if kind == AttributeProto.INT:
        return proto.i
    if kind == AttributeProto.FLOAT:
        return proto.f
    if kind == AttributeProto.STRING:
        return _text(proto.s)
    if kind == AttributeProto.INTS:
        return list(proto.ints)
    if kind == AttributeProto.FLOATS:
        return list(proto.floats)
    if kind == AttributeProto.STRINGS:
        return [_text(s) for s in proto.strings]
    if kind == AttributeProto.TENSOR:
        return proto.t
    if kind == AttributeProto.SPARSE_TENSOR:
        return proto.sparse_tensor
    if kind == AttributeProto.TYPE_PROTO:
        return proto.tp
    return proto


def default_of(form: Form, name: str) -> Any:
    """Return the default of an attribute; None where the form has none, or no such attribute."""
    formal = form.schema.attributes.get(name)
    if formal is None or formal.default_value.type == AttributeProto.UNDEFINED:
        return None
    return decode_attribute(formal.default_value)


def _text(raw: bytes) -> str | bytes:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw
