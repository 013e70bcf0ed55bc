"""What ONNX says of an operator at an opset, looked up once, and what parts of a graph are made of.

These are attributes, types, and the clock that counts edits. Attributes are decoded when read, and
written back untouched when not replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from functools import cache
from typing import Any, TypeVar

import onnx
from msgspec import Struct
from onnx import AttributeProto, TypeProto
from onnx.defs import OpSchema


class Form(Struct, frozen=True):
    """The form of an operator at one opset.

    Attributes:
        schema: The schema itself.
        since: The opset at which this form came.
        attributes: Names of the attributes.
        kinds: The AttributeProto.AttributeType of each.
        inputs: Names of the formal inputs, in order.
        variadic_input: Whether the last input may repeat.
        outputs: Names of the formal outputs, in order.
    """

    schema: OpSchema
    since: int
    attributes: frozenset[str]
    kinds: Mapping[str, int]
    inputs: tuple[str, ...]
    variadic_input: bool
    outputs: tuple[str, ...]


def _number(kind: Any) -> int:
    return int(kind.value)  # an enum of onnx's own, whose stubs leave its value out


@cache
def form_of(op: str, opset: int, domain: str = "") -> Form | None:
    """Return the form of an operator at `opset`; None where ONNX has no such operator."""
    try:
        schema = onnx.defs.get_schema(op, opset, domain)
    except onnx.defs.SchemaError:
        return None
    variadic = OpSchema.FormalParameterOption.Variadic
    return Form(
        schema,
        schema.since_version,
        frozenset(schema.attributes),
        {name: _number(one.type) for name, one in schema.attributes.items()},
        tuple(parameter.name for parameter in schema.inputs),
        bool(schema.inputs) and schema.inputs[-1].option == variadic,
        tuple(parameter.name for parameter in schema.outputs),
    )


@cache
def first_opset(op: str) -> int:
    """Return the opset that brought an operator of the default domain; 0 where none did."""
    known = form_of(op, newest_opset())
    since = 0
    while known is not None:
        since = known.since
        known = form_of(op, since - 1) if since > 1 else None
    return since


@cache
def newest_opset() -> int:
    """Return the newest opset of the default domain that the installed onnx knows."""
    return onnx.defs.onnx_opset_version()


@cache
def newest_opset_of(ir_version: int) -> int:
    """Return the newest opset of the default domain that a file of an IR version may import."""
    allowed = [v for v in range(1, newest_opset() + 1) if minimal_ir(v) <= max(ir_version, 3)]
    return allowed[-1]


@cache
def minimal_ir(opset: int) -> int:
    """Return the oldest IR version that may carry `opset` of the default domain."""
    best = 3
    for row in onnx.helper.VERSION_TABLE:
        ir, version = int(row[1]), int(row[2])
        if version <= opset:
            best = max(best, ir)
    return best


class EditClock:
    """Counts the edits of all graphs of a process; it only ever goes forward.

    One clock serves all graphs, because a tensor does not know which graph it is of: an edit of one
    graph makes what is kept of another old too, which costs time and never an answer.

    Attributes:
        count: The number of edits so far.
    """

    __slots__ = ("count",)

    def __init__(self) -> None:
        """Start with none."""
        self.count = 0


CLOCK = EditClock()


def set_and_count(self: object, name: str, value: object) -> None:
    """Set a field of a part of a graph, and count that as an edit: a ``__setattr__``."""
    CLOCK.count += 1
    object.__setattr__(self, name, value)


def watch_edits(made: object, edited: type) -> None:
    """Let each field that is set from now on count as an edit.

    To count while an object is made would cost more than to make it.

    Args:
        made: A new object.
        edited: Its class with `set_and_count`, and nothing else that is its own.
    """
    object.__setattr__(made, "__class__", edited)


Shape = tuple["int | str | None", ...]
Kept = dict[Any, Any]  # answers by question; see `graphfix.analysis.memo`


def shape_of_type(proto: TypeProto) -> tuple[int, Shape | None]:
    """Return (element type, shape) of a tensor type; (0, None) for any other kind."""
    if not proto.HasField("tensor_type"):
        return 0, None
    tensor = proto.tensor_type
    if not tensor.HasField("shape"):
        return tensor.elem_type, None
    dims: list[int | str | None] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            dims.append(dim.dim_value)
        else:
            dims.append(dim.dim_param or None)
    return tensor.elem_type, tuple(dims)


_Item = TypeVar("_Item")


def remove_by_identity(items: list[_Item], item: _Item) -> None:
    """Take one occurrence of an item out of a list of items that are equal to themselves alone."""
    # Nodes mostly go in order or from the end; a constant may have thousands of consumers.
    if items[-1] is item:
        items.pop()
    elif items[0] is item:
        del items[0]
    else:
        items.remove(item)


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
