"""Reading a model file: whole and checked, or one clear line why not.

A model may be the text that protobuf writes for a message, as .pbtxt and .prototxt files hold it.
The text says what the message says, field by field; onnx.load reads it under these names alone. Up
to IR version 3 the types of tensors were an enumeration, and such a text has their names.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections.abc import Iterator
from enum import Enum
from itertools import chain
from pathlib import Path, PurePosixPath

import onnx
from google.protobuf.message import DecodeError
from msgspec import Struct
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto

from graphfix.errors import InvalidModel
from graphfix.ir.protos import subgraphs_of
from graphfix.ir.storage.vetting import vet
from graphfix.ir.storage.weights import external_span, is_external, stored_bytes, type_name

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


MAX_BYTES = (1 << 31) - 1
LOOKED_AT_FIRST = 1 << 20
_SHOWN = 80


class ModelFile(Struct, frozen=True):
    """A model file as it was read; external data stays where it is."""

    proto: ModelProto
    path: Path
    sha256: str
    size: int
    is_text: bool = False


def read_model(path: Path) -> ModelFile:
    """Read `path` without its external data and check that it is a model.

    Raises:
        InvalidModel: The file is missing, empty, truncated or no ModelProto, or external data is
            missing, too short, or lies outside the folder of the model.
    """
    where = str(path)
    raw = read_bytes(path)
    proto = parse_model(raw, where)
    check_external(proto, path)
    return ModelFile(proto, path, hashlib.sha256(raw).hexdigest(), len(raw), is_text(raw))


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a model file; what is no regular file is never opened.

    Raises:
        InvalidModel: It is missing, no regular file, bigger than ONNX allows, or cannot be read.
    """
    where = str(path)
    try:
        status = path.stat()
        _check_kind(status.st_mode, where)
        if status.st_size > MAX_BYTES:
            raise InvalidModel(
                f"has {status.st_size:,} bytes, and no ONNX file can have more than 2 GiB",
                where=where,
                hint="bigger models have their weights in a data file next to them",
            )
        if status.st_size > LOOKED_AT_FIRST:
            with path.open("rb") as stream:
                if stream.read(1) == b"\0":  # no field has the number 0: a file with holes
                    raise InvalidModel("not an ONNX model: it begins with zeros", where=where)
        return path.read_bytes()
    except FileNotFoundError:
        hint = "check the path" if where != "-" else "standard input is not read here: give a path"
        raise InvalidModel("no such file", where=where, hint=hint) from None
    except OSError as error:
        raise InvalidModel(f"cannot be read: {error.strerror}", where=where) from error
    except (ValueError, RuntimeError) as error:  # a NUL in the name; a loop of links
        raise InvalidModel(f"cannot be read: {error}", where=repr(where)) from None


def _check_kind(mode: int, where: str) -> None:
    if stat.S_ISDIR(mode):
        held = next(Path(where).glob("*.onnx"), None)
        hint = "no .onnx file is in it" if held is None else f"a file of it is {held.name}"
        raise InvalidModel("is a folder, not a model file", where=where, hint=hint)
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):  # which may never end
        raise InvalidModel("is a device, not a model file", where=where)
    if not stat.S_ISREG(mode):  # which waits for someone who writes
        raise InvalidModel(
            "is a pipe or a socket, not a model file", where=where, hint="write it to a file first"
        )


def parse_model(raw: bytes, where: str) -> ModelProto:
    """Return the ModelProto that `raw` holds.

    Raises:
        InvalidModel: It is empty, truncated or something else.
    """
    if not raw:
        raise InvalidModel(
            "the file is empty", where=where, hint="the export or the download was interrupted"
        )
    if is_text(raw):
        proto = parse_text(raw, where)
        check_proto(proto, where)
        return proto
    try:
        proto = onnx.load_model_from_string(raw)
    except (DecodeError, ValueError, RuntimeError):
        proto = ModelProto()
    check_proto(proto, where, _guess(raw))
    return proto


def check_proto(proto: ModelProto, where: str, guess: str = "") -> None:
    """Check that a proto is a model; attributes that came without a type get theirs.

    Raises:
        InvalidModel: It has no graph, or an attribute is of impossible type.
    """
    if not proto.HasField("graph"):
        raise InvalidModel(
            f"not an ONNX model{guess}",
            where=where,
            hint="the file is truncated, or of another format",
        )
    vet(proto, where)
    _check_attributes(proto, where)


def _guess(raw: bytes) -> str:
    kinds = (
        (b"\x89PNG", "a PNG picture"),
        (b"PK\x03\x04", "a zip archive (a PyTorch checkpoint?)"),
        (b"\x1f\x8b", "gzip-compressed"),
        (b"version https://git-lfs", "a git LFS pointer; fetch the real file with git lfs pull"),
        (b"\x80\x02", "a Python pickle (a PyTorch checkpoint?)"),
        (b"\x89HDF", "an HDF5 file (a Keras model?)"),
    )
    for magic, name in kinds:
        if raw.startswith(magic):
            return f": it looks like {name}"
    return ""


def _check_attributes(proto: ModelProto, where: str) -> None:
    for node in walk_nodes(proto):
        for attribute in node.attribute or ():
            if attribute.type == AttributeProto.UNDEFINED and not attribute.ref_attr_name:
                _mend_type(attribute, node, where)


def _mend_type(attribute: AttributeProto, node: NodeProto, where: str) -> None:
    # IR versions below 3 did not write the type; it follows from the one field that is set.
    kinds = {
        "f": AttributeProto.FLOAT,
        "i": AttributeProto.INT,
        "s": AttributeProto.STRING,
        "t": AttributeProto.TENSOR,
        "g": AttributeProto.GRAPH,
        "floats": AttributeProto.FLOATS,
        "ints": AttributeProto.INTS,
        "strings": AttributeProto.STRINGS,
        "tensors": AttributeProto.TENSORS,
        "graphs": AttributeProto.GRAPHS,
    }
    present = [d.name for d, _ in attribute.ListFields() if d.name in kinds]
    if len(present) > 1:
        raise InvalidModel(
            f"attribute {attribute.name!r} of node {node.name!r} ({node.op_type}) has no single "
            "type",
            where=where,
        )
    if present:
        attribute.type = kinds[present[0]]


def walk_graphs(proto: ModelProto) -> Iterator[GraphProto]:
    """Walk the main graph and every body below it and below the functions."""
    pending = [proto.graph]
    nodes: list[NodeProto] = [node for function in proto.functions for node in function.node]
    while pending or nodes:
        if pending:
            graph = pending.pop()
            yield graph
            nodes.extend(node for node in graph.node if node.attribute)
        while nodes:
            pending.extend(subgraphs_of(nodes.pop()))


def walk_nodes(proto: ModelProto) -> Iterator[NodeProto]:
    """Walk the nodes of every scope."""
    for function in proto.functions:
        yield from function.node
    for graph in walk_graphs(proto):
        yield from graph.node


def walk_tensors(proto: ModelProto) -> Iterator[TensorProto]:
    """Walk every stored tensor: initializers, sparse ones, and those in attributes."""
    graphs = list(walk_graphs(proto))
    for graph in graphs:
        yield from graph.initializer
        for sparse in graph.sparse_initializer:
            yield sparse.values
            yield sparse.indices
    subgraphs = (
        *(function.node for function in proto.functions),
        *(graph.node for graph in graphs),
    )
    for node in chain.from_iterable(subgraphs):
        for attribute in node.attribute or ():
            if attribute.type == AttributeProto.TENSOR:
                yield attribute.t
            elif attribute.type == AttributeProto.TENSORS:
                yield from attribute.tensors


def check_external(proto: ModelProto, path: Path) -> None:
    """Check that all external data lies in the folder of the model and is long enough.

    Raises:
        InvalidModel: A location is absolute, climbs out with ``..`` or through a symbolic link,
            is missing, or is shorter than the tensor says.
    """
    sizes: dict[str, int] = {}
    for tensor in walk_tensors(proto):
        if not is_external(tensor):
            continue
        try:
            location, offset, length = external_span(tensor)
        except ValueError:
            raise InvalidModel(
                f"external data of {tensor.name!r} has an offset or length that is no number",
                where=str(path),
            ) from None
        _check_length(tensor, length, path)
        if location not in sizes:
            sizes[location] = _external_size(tensor.name, location, path)
        if offset < 0 or length < 0 or offset + length > sizes[location]:
            raise InvalidModel(
                f"external data of {tensor.name!r} reaches byte {offset + length}, "
                f"but the file has {sizes[location]}",
                where=str(path.parent / location),
                hint="the data file is truncated or belongs to another model",
            )


def _check_length(tensor: TensorProto, length: int, path: Path) -> None:
    if tensor.data_type == TensorProto.STRING:
        return
    wanted = stored_bytes(tensor)
    if length != wanted:
        kind = f"{type_name(tensor.data_type)}{list(tensor.dims)}"
        raise InvalidModel(
            f"external data of {tensor.name!r} has a length of {length} bytes, "
            f"but {kind} takes {wanted}",
            where=str(path),
            hint="the file is damaged; export it again",
        )


def _external_size(tensor: str, location: str, path: Path) -> int:
    where = str(path)
    shown = repr(location if len(location) <= _SHOWN else f"{location[:_SHOWN]}...")
    if leaves_folder(location):
        raise InvalidModel(
            f"external data of {tensor!r} lies outside the folder of the model: {shown}",
            where=where,
            hint="put the data file next to the model",
        )
    try:
        size = size_below(path.parent, location)
    except (OSError, ValueError, RuntimeError) as error:
        said = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InvalidModel(
            f"external data of {tensor!r} cannot be looked up at {shown}: {said}", where=where
        ) from error
    if size is Place.OUTSIDE:
        raise InvalidModel(
            f"external data of {tensor!r} leaves the folder of the model through a link: {shown}",
            where=where,
            hint="put the data file itself next to the model",
        )
    if size is Place.MISSING:
        raise InvalidModel(
            f"external data of {tensor!r} is missing: {shown}",
            where=where,
            hint="the .onnx file needs its data file next to it",
        )
    return size


class Place(Enum):
    """Why external data has no size."""

    OUTSIDE = "outside"
    MISSING = "missing"


def size_below(folder: Path, location: str) -> int | Place:
    """Return the bytes of a file below a folder, links followed.

    Raises:
        OSError: The name is too long, or may not be looked at.
        ValueError: There is a NUL in it.
        RuntimeError: The links form a loop (OSError from Python 3.13 on).
    """
    data = folder / location
    if not data.resolve().is_relative_to(folder.resolve()):
        return Place.OUTSIDE
    return data.stat().st_size if data.is_file() else Place.MISSING


def leaves_folder(location: str) -> bool:
    """Say whether a location of external data is no path below the model's folder."""
    plain = PurePosixPath(location.replace("\\", "/"))
    if not location or not plain.parts:
        return True
    return plain.is_absolute() or ".." in plain.parts or ":" in plain.parts[0]
