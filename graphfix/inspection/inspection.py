"""The contents of a model file, without reading a weight."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import onnx
from msgspec import Struct
from onnx import GraphProto, ModelProto, NodeProto, TensorProto

from graphfix.ir.model import Model
from graphfix.ir.protos import all_graphs, subgraphs_of
from graphfix.ir.storage.reading import (
    Place,
    leaves_folder,
    parse_model,
    read_bytes,
    size_below,
    walk_nodes,
    walk_tensors,
)
from graphfix.ir.storage.weights import external_span, is_external, stored_bytes, type_name
from graphfix.pipeline.model_files import guarded

Shape = tuple[int | str | None, ...]

_BIGGEST = 10


class Port(NamedTuple):
    """An input or output; an open dimension is its name or None, an unknown rank is None."""

    name: str
    dtype: str
    shape: Shape | None


class OpCount(NamedTuple):
    """How often an operator occurs, and the opset of its domain that the form used came with."""

    domain: str
    op: str
    nodes: int
    since_opset: int | None


class Weight(NamedTuple):
    """A stored tensor; `bytes` is what its values take, wherever they lie."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int


class ExternalFile(NamedTuple):
    """A data file that the model names; outside the model's folder it is never looked at."""

    path: str
    bytes: int | None
    exists: bool
    outside: bool


class Inspection(Struct, frozen=True):
    """What is in a model file.

    Attributes:
        path: The file.
        bytes: Its size.
        opsets: The imported opsets by domain; ``""`` is the default domain.
        ir_version: The IR version.
        producer: Name and version of the exporter; may be empty.
        inputs: What must be fed (initializers with a default value are not listed).
        outputs: The result.
        nodes: Nodes in all scopes: main graph, subgraphs, functions.
        histogram: Operators, the most frequent first.
        lowest_opset: The lowest opset of the default domain that has every operator in the form
            that the file uses; None where no operator of that domain is known.
        weights: The biggest stored tensors, the biggest first.
        weight_count: How many there are in all.
        weight_bytes: What they take in all.
        functions: Local functions, as ``domain::name:overload``.
        external: The data files.
        metadata: The model's metadata_props.
    """

    path: str
    bytes: int
    opsets: Mapping[str, int]
    ir_version: int
    producer: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    nodes: int
    histogram: tuple[OpCount, ...]
    lowest_opset: int | None
    weights: tuple[Weight, ...]
    weight_count: int
    weight_bytes: int
    functions: tuple[str, ...]
    external: tuple[ExternalFile, ...]
    metadata: Mapping[str, str]


@guarded
def inspect_file(path: Path) -> Inspection:
    """Read the graph of `path`, never its external data, and tell what is in it.

    Raises:
        InvalidModel: The file cannot be read or is not a model. Missing external data is reported,
            not raised.
    """
    raw = read_bytes(path)
    return inspect_proto(parse_model(raw, str(path)), path, len(raw))


def inspect_model(source: Path | Model) -> Inspection:
    """Tell what is in a file, or in what came from standard input.

    Raises:
        InvalidModel: As `inspect_file`.
    """
    if isinstance(source, Model):
        return inspect_proto(source.proto, Path("standard input"), source.size)
    return inspect_file(source)


def inspect_proto(proto: ModelProto, path: Path, size: int) -> Inspection:
    """Tell what is in a parsed model of `size` bytes that lies at `path`."""
    histogram = _histogram(proto)
    needed = [o.since_opset for o in histogram if o.domain == "" and o.since_opset is not None]
    weights = [_weight(tensor) for tensor in walk_tensors(proto)]
    producer = f"{proto.producer_name} {proto.producer_version}".strip()
    return Inspection(
        path=str(path),
        bytes=size,
        opsets=_imports(proto.opset_import),
        ir_version=proto.ir_version,
        producer=producer,
        inputs=_inputs(proto.graph),
        outputs=tuple(_port(value) for value in proto.graph.output),
        nodes=sum(1 for _ in walk_nodes(proto)),
        histogram=histogram,
        lowest_opset=max(needed, default=None),
        weights=tuple(heapq.nlargest(_BIGGEST, weights, key=lambda weight: weight.bytes)),
        weight_count=len(weights),
        weight_bytes=sum(weight.bytes for weight in weights),
        functions=tuple(_function_name(function) for function in proto.functions),
        external=_external_files(proto, path.parent),
        metadata={entry.key: entry.value for entry in proto.metadata_props},
    )


def _histogram(proto: ModelProto) -> tuple[OpCount, ...]:
    """Count the operators of all scopes; a function's nodes go by the function's own imports."""
    counts: Counter[tuple[str, str, int]] = Counter()
    main = _imports(proto.opset_import)
    for graph in all_graphs(proto.graph):
        _count(graph.node, main, counts)
    for function in proto.functions:
        own = _imports(function.opset_import)
        _count(function.node, own, counts)
        for node in function.node:
            for body in subgraphs_of(node):
                for graph in all_graphs(body):
                    _count(graph.node, own, counts)
    local = {(_domain(f.domain), f.name) for f in proto.functions}
    merged: dict[tuple[str, str], tuple[int, int | None]] = {}
    for (domain, op, version), number in counts.items():
        since = None if (domain, op) in local else _since(domain, op, version)
        total, highest = merged.get((domain, op), (0, None))
        known = [v for v in (highest, since) if v is not None]
        merged[domain, op] = (total + number, max(known, default=None))
    rows = [OpCount(*key, *value) for key, value in merged.items()]
    return tuple(sorted(rows, key=lambda row: (-row.nodes, row.domain, row.op)))


def _count(
    nodes: Iterable[NodeProto], opsets: Mapping[str, int], into: Counter[tuple[str, str, int]]
) -> None:
    for node in nodes:
        domain = _domain(node.domain)
        into[domain, node.op_type, opsets.get(domain, 0)] += 1


def _since(domain: str, op: str, version: int) -> int | None:
    """Return the opset in which the form that `version` means was introduced; None if unknown."""
    if version < 1:
        return None
    try:
        return int(onnx.defs.get_schema(op, version, domain).since_version)
    except onnx.defs.SchemaError:
        return None


def _domain(domain: str) -> str:
    """Return the domain with both names of the default one made one."""
    return "" if domain == "ai.onnx" else domain


def _imports(entries: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    return {_domain(entry.domain): entry.version for entry in entries}


def _function_name(function: onnx.FunctionProto) -> str:
    overload = f":{function.overload}" if function.overload else ""
    return f"{function.domain}::{function.name}{overload}"


def _inputs(graph: GraphProto) -> tuple[Port, ...]:
    stored = {tensor.name for tensor in graph.initializer}
    stored |= {sparse.values.name for sparse in graph.sparse_initializer}
    return tuple(_port(value) for value in graph.input if value.name not in stored)


def _port(value: onnx.ValueInfoProto) -> Port:
    kind = value.type
    tensor = kind.tensor_type if kind.HasField("tensor_type") else None
    shape = None
    if tensor is not None and tensor.HasField("shape"):
        shape = tuple(_dim(dim) for dim in tensor.shape.dim)
    return Port(value.name, _type_text(kind), shape)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return dim.dim_value
    return dim.dim_param or None


def _type_text(kind: onnx.TypeProto) -> str:
    """Return ``float32``, ``seq(float32)``, ``optional(...)``, ``map(int64, ...)``."""
    match kind.WhichOneof("value"):
        case "tensor_type":
            return type_name(kind.tensor_type.elem_type)
        case "sparse_tensor_type":
            return f"sparse({type_name(kind.sparse_tensor_type.elem_type)})"
        case "sequence_type":
            return f"seq({_type_text(kind.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({_type_text(kind.optional_type.elem_type)})"
        case "map_type":
            key = type_name(kind.map_type.key_type)
            return f"map({key}, {_type_text(kind.map_type.value_type)})"
        case _:
            return "unknown"


def _weight(tensor: TensorProto) -> Weight:
    shape = tuple(tensor.dims)
    return Weight(tensor.name, type_name(tensor.data_type), shape, _bytes_of(tensor))


def _bytes_of(tensor: TensorProto) -> int:
    """Return the bytes of the values; strings have no fixed size and are added up."""
    if tensor.data_type == TensorProto.STRING:
        return sum(len(text) for text in tensor.string_data)
    try:
        return stored_bytes(tensor)
    except ValueError:  # an element type that this onnx does not know
        return len(tensor.raw_data)


def _external_files(proto: ModelProto, folder: Path) -> tuple[ExternalFile, ...]:
    """Return the data files in the order in which they are named."""
    names: dict[str, None] = {}
    for tensor in walk_tensors(proto):
        if is_external(tensor):
            try:
                names[external_span(tensor)[0]] = None
            except ValueError:  # an offset that is no number; the name is all the same
                names[next((e.value for e in tensor.external_data if e.key == "location"), "")] = (
                    None
                )
    return tuple(_external_file(name, folder) for name in names)


def _external_file(name: str, folder: Path) -> ExternalFile:
    if leaves_folder(name):
        return ExternalFile(name, None, False, True)
    try:
        size = size_below(folder, name)
    except (OSError, ValueError, RuntimeError):  # too long, a NUL in it, a loop of links
        size = Place.MISSING
    if isinstance(size, Place):
        return ExternalFile(name, None, False, size is Place.OUTSIDE)
    return ExternalFile(name, size, True, False)
