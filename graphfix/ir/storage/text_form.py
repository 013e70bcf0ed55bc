"""Models as the text that protobuf writes for a message, such as .pbtxt and .prototxt files hold.

The text says what the message says, field by field; onnx.load reads it under these names alone.
Up to IR version 3 the types of tensors were an enumeration, and such a text has their names.
"""

from __future__ import annotations

import re

from onnx import ModelProto, TensorProto

from graphfix.errors import InvalidModel

HEAD = 64
_FIRST_FIELDS = (b"ir_version", b"producer_name", b"producer_version", b"graph {", b"domain:")
# A line of its own: what is inside of a text has no lines.
_NAMED_TYPE = re.compile(r"^(\s*(?:elem_type|data_type):\s*)([A-Z][A-Z0-9_]*)\s*$", re.MULTILINE)
_MOST_BYTES = 1 << 26  # reading text takes a second for each megabyte or so


def is_text(raw: bytes) -> bool:
    """Say whether a file begins as the text of a model does; its first `HEAD` bytes are enough."""
    return raw[:HEAD].lstrip().startswith(_FIRST_FIELDS)


def parse_text(raw: bytes, where: str) -> ModelProto:
    """Return the model that a text says.

    Raises:
        InvalidModel: It is too long, or not the text of a model.
    """
    from google.protobuf import text_format  # few models are texts

    if len(raw) > _MOST_BYTES:
        raise InvalidModel(
            f"is the text form of a model, of {len(raw):,} bytes",
            where=where,
            hint="convert it to the binary form first: protoc --encode=onnx.ModelProto onnx.proto",
        )
    try:
        return text_format.Parse(_NAMED_TYPE.sub(_numbered, raw.decode()), ModelProto())
    except (text_format.ParseError, ValueError, RecursionError, OverflowError) as error:
        said = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidModel(
            f"looks like the text form of a model, which cannot be read: {said}",
            where=where,
            hint="the file is truncated, or the text of another message",
        ) from None


def _numbered(line: re.Match[str]) -> str:
    before, name = line.groups()
    known = dict(TensorProto.DataType.items())
    return f"{before}{known.get(name, name)}"
