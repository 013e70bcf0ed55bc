"""Mutations of model files: of their bytes, and of the protobuf structure in them.

Each function takes a seeded generator and returns bytes; nothing is kept valid on purpose.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import AttributeProto, ModelProto, NodeProto, TensorProto

MAX_BYTES = 1 << 20
_EXTREMES = (
    0, 1, -1, 2, 7, 255, 1 << 16, (1 << 31) - 1, -(1 << 31), 1 << 32, 10**12, 4_000_000_000,
    (1 << 63) - 1, -(1 << 63),
)  # fmt: skip
_FLOATS = (0.0, -0.0, 1.0, -1.0, 1e-45, 1e38, float("inf"), float("-inf"), float("nan"))
_TEXTS = (
    "", "x", "a" * 5000, "\0", "a\0b", "../x", "/etc/passwd", "{type}", "%s%n", "\n", "\u202e",
    "ai.onnx", "ai.onnx.ml", "com.microsoft", "Constant", "If", "Loop", "Mod", "Resize",
)  # fmt: skip
_RUBBISH = (b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80")
_WORDS = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
_REALS = (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE)


def mutated(rng: Random, raw: bytes, other: bytes) -> tuple[str, bytes]:
    """Return what was done, and the bytes.

    Args:
        rng: All chance.
        raw: The file to change.
        other: A second file, for splices.
    """
    if rng.random() < 0.35:
        kinds: Sequence[Callable[[Random, bytes, bytes], bytes]] = _BYTES
        for _ in range(rng.choice((1, 1, 2, 8))):
            kind = rng.choice(kinds)
            raw = kind(rng, raw, other)[:MAX_BYTES]
        return "bytes", raw
    model = ModelProto()
    try:
        model.ParseFromString(raw)
    except Exception:  # a seed that is no model can be changed by its bytes alone
        return "bytes", _flip(rng, raw, other)
    done: list[str] = []
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        change = rng.choice(_STRUCTURE)
        with contextlib.suppress(ValueError, TypeError):  # what protobuf does not take is not made
            change(rng, model)
        done.append(change.__name__.strip("_"))
    try:
        result = model.SerializeToString()
    except Exception:  # a text that is none, or a required field that is gone
        result = raw
    if rng.random() < 0.1:
        result = _flip(rng, result, other)
    return "+".join(done), result[:MAX_BYTES]


def _flip(rng: Random, raw: bytes, _other: bytes) -> bytes:
    changed = bytearray(raw or b"\0")
    for _ in range(rng.choice((1, 1, 2, 5, 20))):
        changed[rng.randrange(len(changed))] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
    return bytes(changed)


def _bit(rng: Random, raw: bytes, _other: bytes) -> bytes:
    changed = bytearray(raw or b"\0")
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(rng: Random, raw: bytes, _other: bytes) -> bytes:
    start, end = sorted((rng.randrange(len(raw) + 1), rng.randrange(len(raw) + 1)))
    return raw[:start] + raw[end:] if rng.random() < 0.7 else raw[:start]


def _insert(rng: Random, raw: bytes, _other: bytes) -> bytes:
    place = rng.randrange(len(raw) + 1)
    return raw[:place] + rng.randbytes(rng.choice((1, 2, 8, 100))) + raw[place:]


def _repeat(rng: Random, raw: bytes, _other: bytes) -> bytes:
    start, end = sorted((rng.randrange(len(raw) + 1), rng.randrange(len(raw) + 1)))
    end = min(end, start + 20_000)
    return raw[:end] + raw[start:end] * rng.choice((1, 2, 20)) + raw[end:]


def _splice(rng: Random, raw: bytes, other: bytes) -> bytes:
    return raw[: rng.randrange(len(raw) + 1)] + other[rng.randrange(len(other) + 1) :]


def _joined(_rng: Random, raw: bytes, other: bytes) -> bytes:
    return raw + other  # protobuf merges what is written one after the other


_BYTES = (_flip, _flip, _bit, _cut, _insert, _repeat, _splice, _joined)


def _messages(model: Message) -> list[Message]:
    found: list[Message] = [model]
    for message in found:
        if len(found) > 5_000:
            break
        for field, value in message.ListFields():
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                found.extend(value if _is_list(field) else [value])
    return found


def _is_list(field: Any) -> bool:
    return bool(field.is_repeated)


def _pick(rng: Random, model: Message) -> tuple[Message, Any, Any] | None:
    """Return some set field of some message, each kind of message as likely as the others."""
    groups: dict[str, list[Message]] = {}
    for message in _messages(model):
        if message.ListFields():
            groups.setdefault(message.DESCRIPTOR.name, []).append(message)
    if not groups:
        return None
    message = rng.choice(groups[rng.choice(sorted(groups))])
    field, value = rng.choice(message.ListFields())
    return message, field, value


def _value(rng: Random, field: Any) -> Any:
    if field.type in _WORDS:
        text = rng.choice(_TEXTS)
        return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
    if field.type in _REALS:
        return rng.choice(_FLOATS)
    if field.type == FieldDescriptor.TYPE_ENUM:
        return rng.choice([v.number for v in field.enum_type.values])
    return rng.choice(_EXTREMES)


def _extreme(rng: Random, model: ModelProto) -> None:
    """Set a number, a text or an enum to an extreme one."""
    for _ in range(20):
        picked = _pick(rng, model)
        if picked is None or picked[1].type == FieldDescriptor.TYPE_MESSAGE:
            continue
        message, field, value = picked
        new = _value(rng, field)
        try:
            if _is_list(field):
                value[rng.randrange(len(value))] = new
            else:
                setattr(message, field.name, new)
        except (ValueError, TypeError):
            continue
        return


def _drop(rng: Random, model: ModelProto) -> None:
    picked = _pick(rng, model)
    if picked is None:
        return
    message, field, value = picked
    if _is_list(field) and rng.random() < 0.8:
        del value[rng.randrange(len(value))]
    else:
        message.ClearField(field.name)


def _double(rng: Random, model: ModelProto) -> None:
    for _ in range(10):
        picked = _pick(rng, model)
        if picked is None or not _is_list(picked[1]):
            continue
        value = picked[2]
        for _ in range(rng.choice((1, 1, 3, 30))):
            value.append(value[rng.randrange(len(value))])
        return


def _swap(rng: Random, model: ModelProto) -> None:
    """Exchange the contents of two messages of one kind."""
    messages = _messages(model)
    one = rng.choice(messages)
    alike = [m for m in messages if m.DESCRIPTOR is one.DESCRIPTOR and m is not one]
    if not alike or one is model:
        return
    two = rng.choice(alike)
    first, second = type(one)(), type(two)()
    first.CopyFrom(one)
    second.CopyFrom(two)
    one.CopyFrom(second)
    if rng.random() < 0.5:
        two.CopyFrom(first)


def _shuffle(rng: Random, model: ModelProto) -> None:
    nodes = list(model.graph.node)
    rng.shuffle(nodes)
    copies = [NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del model.graph.node[:]
    model.graph.node.extend(copies)


def _nest(rng: Random, model: ModelProto) -> None:
    """Put the graph, or a body, into an attribute of a node."""
    if not model.graph.node:
        return
    inner = type(model.graph)()
    inner.CopyFrom(model.graph)
    for _ in range(rng.choice((1, 1, 2, 4))):
        node = rng.choice(model.graph.node)
        kind = rng.choice((AttributeProto.GRAPH, AttributeProto.GRAPHS))
        attribute = node.attribute.add(name=rng.choice(("body", "then_branch", "x")), type=kind)
        if kind == AttributeProto.GRAPH:
            attribute.g.CopyFrom(inner)
        else:
            attribute.graphs.add().CopyFrom(inner)
        if inner.ByteSize() > MAX_BYTES // 8:
            return
        inner.CopyFrom(model.graph)


def _rewire(rng: Random, model: ModelProto) -> None:
    """Let a node read or write another name, or another number of them."""
    nodes = [m for m in _messages(model) if isinstance(m, NodeProto)]
    names = [name for node in nodes for name in (*node.input, *node.output)] or ["x"]
    if not nodes:
        return
    ports = rng.choice((rng.choice(nodes).input, rng.choice(nodes).output))
    if ports and rng.random() < 0.7:
        ports[rng.randrange(len(ports))] = rng.choice((*names, ""))
    else:
        ports.append(rng.choice(names))


def _operator(rng: Random, model: ModelProto) -> None:
    import onnx

    nodes = [m for m in _messages(model) if isinstance(m, NodeProto)]
    if nodes:
        schema = rng.choice(onnx.defs.get_all_schemas())
        node = rng.choice(nodes)
        node.op_type = schema.name
        if rng.random() < 0.3:
            node.domain = schema.domain


def _kind(rng: Random, model: ModelProto) -> None:
    """Give an attribute another type, with or without a value of it."""
    attributes = [m for m in _messages(model) if isinstance(m, AttributeProto)]
    if not attributes:
        return
    attribute = rng.choice(attributes)
    setattr(attribute, "type", rng.choice(list(AttributeProto.AttributeType.values())))  # noqa: B010 - an enum to type checkers
    if rng.random() < 0.5:
        attribute.ints.extend([rng.choice(_EXTREMES)] * rng.choice((1, 4, 1000)))


def _versions(rng: Random, model: ModelProto) -> None:
    number = rng.choice((*range(1, 30), *_EXTREMES))
    if model.opset_import and rng.random() < 0.7:
        rng.choice(model.opset_import).version = number
    else:
        model.ir_version = rng.choice((*range(14), *_EXTREMES))


def _tensor(rng: Random, model: ModelProto) -> None:
    """Tamper with stored data: its dims, type, place or amount."""
    tensors = [m for m in _messages(model) if isinstance(m, TensorProto)]
    if not tensors:
        return
    tensor = rng.choice(tensors)
    way = rng.randrange(4)
    if way == 0:
        del tensor.dims[:]
        tensor.dims.extend(rng.choice(_EXTREMES) for _ in range(rng.randrange(4)))
    elif way == 1:
        tensor.data_type = rng.choice((*range(30), 99, -1))
    elif way == 2:
        tensor.raw_data = tensor.raw_data[: rng.randrange(len(tensor.raw_data) + 1)]
    else:
        tensor.data_location = TensorProto.EXTERNAL
        for key in ("location", "offset", "length"):
            if rng.random() < 0.7:
                text = rng.choice((*_TEXTS, ".", "m.onnx", *map(str, _EXTREMES)))
                tensor.external_data.add(key=key, value=text)


def _rubbish(rng: Random, model: ModelProto) -> None:
    """Put bytes that are no text where a name is, by way of the written form."""
    # What is no UTF-8 comes as bytes.
    texts: list[object] = [t for n in model.graph.node for t in (n.op_type, n.name, *n.output) if t]
    names = [text.encode() for text in texts if isinstance(text, str)]
    if not names:
        return
    name = rng.choice(names)
    put = (rng.choice(_RUBBISH) * len(name))[: len(name)]
    raw = model.SerializeToString().replace(name, put, rng.choice((1, -1)))
    try:
        model.ParseFromString(raw)
    except Exception:  # what was there is kept
        return


_STRUCTURE: tuple[Callable[[Random, ModelProto], None], ...] = (
    _extreme, _extreme, _extreme, _drop, _double, _swap, _shuffle, _nest, _rewire, _rewire,
    _operator, _operator, _kind, _versions, _tensor, _tensor, _rubbish,
)  # fmt: skip
