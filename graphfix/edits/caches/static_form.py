"""A decoder with caches of a fixed length, made of one whose caches grow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

from graphfix.edits.caches.decoder import Cache, Decoder, decoder_of
from graphfix.edits.caches.position import Position, derive
from graphfix.edits.caches.readings import Reading, Readings, read_at
from graphfix.edits.caches.tables import reaching
from graphfix.edits.caches.writing import Writer
from graphfix.edits.declared_sizes import dims_of
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, names_read, required_inputs
from graphfix.pipeline.reproducers.recorded_run import finish_with
from graphfix.pipeline.settings import RunOptions, Settings

_FIRST, _SECOND = 3, 7  # lengths of a past that is read, next to those that fill a cache
# Attention as one node, taken apart where it puts what is new after the past itself.
_FUSED = {
    ("com.microsoft", "Attention"): "attention-to-matmul",
    ("com.microsoft", "MultiHeadAttention"): "multi-head-attention-to-matmul",
}
_WITHOUT_ATTENTION = 22  # the last opset in which ONNX has none: its function takes its place
_LEAST = 13  # the opset from which on axes are inputs
_TIDY = ("fold-constants", "dead-code")


class StaticForm(Struct, frozen=True):
    """A decoder in static form.

    Attributes:
        proto: The model.
        decoder: What it was made of.
        position: The input for the position.
        masked: How many Softmaxes got a mask.
        unguarded: How many nodes are gone that give 0 where a Softmax is over nothing.
        longer: How many tables of angles got rows for all places.
    """

    proto: ModelProto
    decoder: Decoder
    position: str
    masked: int
    unguarded: int
    longer: int


def plain(proto: ModelProto, base_dir: str) -> ModelProto:
    """Return a model without local functions, and without attention as one node with a past."""
    keeping = [n for n in proto.graph.node if n.op_type == "Attention" and len(n.input) > 4]
    if any(not node.domain for node in keeping):
        settings = RunOptions(opset=_WITHOUT_ATTENTION, verify="off").settings()
        proto = _finished(proto, base_dir, settings)
    found = {(n.domain, n.op_type) for n in proto.graph.node}
    names = [name for key, name in _FUSED.items() if key in found]
    if proto.functions:
        names.insert(0, "inline-functions")
    return _run(proto, base_dir, (*names, "fold-constants")) if names else proto


def static_form(proto: ModelProto, base_dir: str, length: int, new: int, where: str) -> StaticForm:
    """Return a decoder with caches of `length` places, for `new` tokens at once.

    Args:
        proto: The model, as `plain` gives it.
        base_dir: Where its external data lies.
        length: The places of a cache.
        new: How many tokens it takes.
        where: The option, for errors.

    Raises:
        UsageError: Its form is not understood; a node or an input is named.
    """
    opset = next((e.version for e in proto.opset_import if e.domain in ("", "ai.onnx")), _LEAST)
    if opset < _LEAST:
        raise UsageError(
            f"the opset must be at least {_LEAST}; it is {opset}",
            where=where,
            hint="graphfix run MODEL --opset 17 -o RAISED.onnx",
        )
    decoder = decoder_of(proto.graph, where)
    if new > 1 and not decoder.new:
        raise UsageError("the model takes one token at once", where=where)
    if length <= new + _SECOND:
        raise UsageError(f"a cache for {new} new tokens must be longer", where=where)
    *read, beyond = (
        read_at(proto, base_dir, past, decoder.sizes(past, new))
        for past in (_FIRST, _SECOND, length - new, length)
    )
    readings = Readings(read, beyond, new, length)
    at = Position(proto.graph, new, length)
    inputs = required_inputs(proto.graph)
    derive(at, decoder, (info for info in inputs if info.name in decoder.derived))
    writer = Writer(proto.graph, decoder, readings, at)
    for node in proto.graph.node:
        writer.write(node, where)
    nodes = [_without_empty(node, read) for node in at.nodes]
    result = copied(proto)
    graph = result.graph
    for part in ("node", "input", "output", "value_info"):
        graph.ClearField(part)
    graph.node.extend(nodes)
    stored = {tensor.name for tensor in at.stored}
    used = {name for node in nodes for name in names_read(node)} - stored
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    graph.ClearField("initializer")
    graph.initializer.extend((*kept, *at.stored))
    sizes = decoder.sizes(length, new) | dict.fromkeys(decoder.total, length)
    given = [info for info in inputs if info.name not in decoder.derived]
    graph.input.extend(_declared(given, sizes, decoder.caches, read[2], length))
    graph.input.append(helper.make_tensor_value_info(at.name, TensorProto.INT64, [1]))
    graph.output.extend(_declared(proto.graph.output, sizes, decoder.caches, read[2], length))
    tidy = _run(result, base_dir, _TIDY)
    tidy, longer = reaching(tidy, base_dir, at.name, new, length, where)
    return StaticForm(tidy, decoder, at.name, writer.hiding.masked, writer.hiding.unguarded, longer)


def _without_empty(node: NodeProto, read: Sequence[Reading]) -> NodeProto:
    """Return a Concat without operands of no element, such as what is left of a head that turns."""
    if node.op_type != "Concat" or node.domain:
        return node
    empty = [all(0 in reading.shapes.get(name, ()) for reading in read) for name in node.input]
    if all(empty) or not any(empty):
        return node
    kept = [name for name, is_empty in zip(node.input, empty, strict=True) if not is_empty]
    return helper.make_node("Concat", kept, node.output, name=node.name, axis=node.attribute[0].i)


def _declared(
    infos: Iterable[ValueInfoProto],
    sizes: dict[str, int],
    caches: tuple[Cache, ...],
    reading: Reading,
    length: int,
) -> list[ValueInfoProto]:
    """Return inputs or outputs with the sizes that they have now."""
    present = {cache.past: cache.present for cache in caches}
    axes = {name: c.axis for c in caches for name in (c.past, c.present)}
    found: list[ValueInfoProto] = []
    for info in infos:
        copy = copied(info)
        shape = reading.shapes.get(present.get(info.name, info.name), ())
        for axis, dim in enumerate(dims_of(copy.type)):
            known = shape[axis] if axis < len(shape) else None
            if axes.get(info.name) == axis:
                dim.dim_value = length
            elif dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
            elif known is not None and not dim.HasField("dim_value"):
                dim.dim_value = known
        found.append(copy)
    return found


def _run(proto: ModelProto, base_dir: str, passes: tuple[str, ...]) -> ModelProto:
    return _finished(proto, base_dir, RunOptions(passes=passes, verify="off").settings())


def _finished(proto: ModelProto, base_dir: str, settings: Settings) -> ModelProto:
    result = finish_with(Model(copied(proto), base_dir=base_dir), settings, (), None)
    return result.model.to_proto()
