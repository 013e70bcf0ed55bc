"""What a decoder with a growing cache is fed with: its caches, and inputs that follow from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from msgspec import Struct
from onnx import GraphProto, NodeProto, TensorProto, ValueInfoProto, helper

from graphfix.edits.declared_sizes import dims_of
from graphfix.errors import UsageError
from graphfix.ir.addressing import listed
from graphfix.ir.protos import required_inputs

_INTEGERS = frozenset({TensorProto.INT32, TensorProto.INT64})
# What a cache may go through before what is new is put after it, and afterwards.
_MOVES = frozenset({"Cast", "Identity", "Transpose"})
# Operators that put it after the cache themselves: places of the caches, and of what they give.
GROUPED = "GroupQueryAttention"
_LENGTHS, _TOTAL = 5, 6  # inputs of it


class Cache(Struct, frozen=True):
    """A cache.

    Attributes:
        past: The input.
        present: The output that is the input of the next step.
        axis: Where it grows, from the front.
    """

    past: str
    present: str
    axis: int


class Decoder(Struct, frozen=True):
    """A decoder, by its inputs.

    Attributes:
        caches: The caches.
        batch: Symbols of the batch.
        past: Symbols of how much is in the caches.
        total: Symbols of that and the new tokens together.
        new: Symbols of how many tokens are new; none where it is one.
        masks: Inputs that say what of the cache and of what is new is looked at.
        positions: Inputs that count the tokens.
        lengths: Inputs of the last place that is looked at, for GroupQueryAttention.
        totals: Inputs of how many places there are, for GroupQueryAttention.
    """

    caches: tuple[Cache, ...]
    batch: frozenset[str]
    past: frozenset[str]
    total: frozenset[str]
    new: frozenset[str]
    masks: tuple[str, ...]
    positions: tuple[str, ...]
    lengths: tuple[str, ...]
    totals: tuple[str, ...]

    @property
    def derived(self) -> frozenset[str]:
        """Inputs that follow from the position."""
        return frozenset((*self.masks, *self.positions, *self.lengths, *self.totals))

    def sizes(self, past: int, new: int) -> dict[str, int]:
        """Return what each symbol is, for one sequence."""
        return {
            **dict.fromkeys(self.batch, 1),
            **dict.fromkeys(self.new, new),
            **dict.fromkeys(self.past, past),
            **dict.fromkeys(self.total, past + new),
        }


def decoder_of(graph: GraphProto, where: str) -> Decoder:
    """Read the interface of a decoder.

    Raises:
        UsageError: There is no cache that grows, or an input is not understood.
    """
    inputs = {info.name: info for info in required_inputs(graph)}
    caches = _caches(graph, inputs)
    if not caches:
        _refuse_merged(graph, where)
        raise UsageError(
            "no input is a cache to which a Concat, or an attention with a cache, adds what is new "
            "and returns it as an output",
            where=where,
        )
    pasts = {cache.past for cache in caches}
    outputs = {info.name: info for info in graph.output}
    past = {_symbols(inputs[cache.past])[cache.axis] for cache in caches}
    rest = {name: info for name, info in inputs.items() if name not in pasts}
    batch = {_symbols(inputs[name])[0] for name in pasts} - {""}
    total = {_symbols(outputs[c.present])[c.axis] for c in caches if _symbols(outputs[c.present])}
    everywhere = {s for info in inputs.values() for s in _symbols(info)}
    total |= {s for s in everywhere if set(s.split(" + ")) & past and s not in past}
    total |= _of_masks(rest, batch | past)
    total -= {"", *past}
    crossed = {s for name, info in rest.items() if "past" in name for s in _symbols(info)}
    new = _new(rest, batch | past | total | crossed, where)
    masks = [n for n, info in rest.items() if set(_symbols(info)) & total]
    kinds = {name: info.type.tensor_type.elem_type for name, info in rest.items()}
    lengths, totals = (_read_only_at(graph, rest, place) for place in (_LENGTHS, _TOTAL))
    positions = [n for n in rest if "position" in n and kinds[n] in _INTEGERS and n not in masks]
    for name in masks:
        _check_mask(rest[name], where)
    for name in positions:
        if len(_symbols(rest[name])) not in (1, 2):
            raise UsageError(f"input {name!r} must be of rank 1 or 2", where=where)
    return Decoder(
        caches,
        frozenset(batch),
        frozenset(past),
        frozenset(total),
        frozenset({new} - {""}),
        tuple(masks),
        tuple(positions),
        tuple(lengths),
        tuple(totals),
    )


def _symbols(info: ValueInfoProto) -> list[str]:
    return [dim.dim_param for dim in dims_of(info.type)]


def _caches(graph: GraphProto, inputs: Mapping[str, ValueInfoProto]) -> tuple[Cache, ...]:
    readers: dict[str, list[NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            readers.setdefault(name, []).append(node)
    outputs = [info.name for info in graph.output]
    found: list[Cache] = []
    for name, info in inputs.items():
        rank = len(_symbols(info))
        for axis, joined in _grown(readers, name, tuple(range(rank))):
            present = _first_output(readers, joined, outputs)
            if present and _symbols(info)[axis]:
                found.append(Cache(name, present, axis))
                break
    return tuple(found)


def _grown(
    readers: Mapping[str, list[NodeProto]], name: str, axes: tuple[int, ...]
) -> Iterator[tuple[int, str]]:
    """Yield the axis of a cache along which it grows, and what it grows to.

    Args:
        readers: The nodes that read a tensor.
        name: The cache, or what becomes of it.
        axes: Which axis of the cache each of its axes is.
    """
    for node in readers.get(name, ()):
        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Concat" and len(node.input) == 2 and node.input[0] == name:
            yield axes[given["axis"] % len(axes)], node.output[0]
        elif node.op_type == GROUPED and name in node.input[3:5] and len(axes) == 4:
            yield 2, node.output[list(node.input).index(name) - 2]
        elif node.op_type == "Concat" and len(node.input) == 1:  # a cache that begins empty
            yield from _grown(readers, node.output[0], axes)
        elif node.op_type in _MOVES and axes:
            order = given.get("perm", range(len(axes)))
            if node.op_type == "Transpose" and "perm" not in given:
                order = tuple(reversed(range(len(axes))))
            yield from _grown(readers, node.output[0], tuple(axes[i] for i in order))


def _first_output(readers: Mapping[str, list[NodeProto]], name: str, outputs: list[str]) -> str:
    """Return the output of the graph that a tensor is, as it is or moved; empty for none."""
    if name in outputs:
        return name
    moved = (node for node in readers.get(name, ()) if node.op_type in _MOVES)
    return next(filter(None, (_first_output(readers, n.output[0], outputs) for n in moved)), "")


def _refuse_merged(graph: GraphProto, where: str) -> None:
    """Refuse a model in which a switch decides whether there is a cache.

    Raises:
        UsageError: It is one.
    """
    inputs = {info.name for info in graph.input}
    for node in graph.node:
        if node.op_type == "If" and node.input[0] in inputs:
            raise UsageError(
                f"If {node.name!r} decides by input {node.input[0]!r} whether there is a cache",
                where=where,
                hint=f"first: --split-by {node.input[0]}=with_past.onnx,first.onnx",
            )


def _of_masks(rest: Mapping[str, ValueInfoProto], others: set[str]) -> set[str]:
    """Return the symbols of the last axis of masks that are not of an encoder."""
    own = {name.replace("decoder", ""): info for name, info in rest.items() if "mask" in name}
    ends = (_symbols(info)[-1:] for name, info in own.items() if "encoder" not in name)
    return set(chain.from_iterable(ends)) - others


def _new(rest: Mapping[str, ValueInfoProto], others: set[str], where: str) -> str:
    """Return the symbol of how many tokens are new; empty where it is a number.

    Raises:
        UsageError: Several symbols may be it.
    """
    second = {n: (_symbols(i)[1:2] or _symbols(i)[:1] or [""])[0] for n, i in rest.items()}
    for name, symbol in second.items():
        if name.endswith(("input_ids", "inputs_embeds")):
            return symbol if symbol not in others else ""
    left = set(second.values()) - others - {""}
    if len(left) > 1:
        raise UsageError(
            f"which size counts the new tokens is not plain: {listed(sorted(left))}", where=where
        )
    return next(iter(left), "")


def _read_only_at(graph: GraphProto, rest: Mapping[str, ValueInfoProto], place: int) -> list[str]:
    """Return inputs that only GroupQueryAttention reads, at one place."""
    found: dict[str, set[bool]] = {}
    for node in graph.node:
        for at, name in enumerate(node.input):
            if name in rest:
                found.setdefault(name, set()).add(node.op_type == GROUPED and at == place)
    return [name for name, right in found.items() if right == {True}]


def _check_mask(info: ValueInfoProto, where: str) -> None:
    rank = len(_symbols(info))
    kind = info.type.tensor_type.elem_type
    if rank not in (2, 4) or (rank == 4 and kind in _INTEGERS):
        raise UsageError(
            f"input {info.name!r} is as long as the cache and what is new together; to be a mask "
            "it must be of rank 2, or of rank 4 and no integers",
            where=where,
        )
