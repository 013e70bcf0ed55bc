"""How onnxruntime's blocked layout lies in a graph: which tensors have it, and in what blocks.

A tensor of it has the shape of its images, [n, c, h, w], and holds the elements of
[n, c / block, h, w, block]; channels that fill the last block up are zeros, or what comes of them.
Nothing in a file says how many channels a block has: that is 16 where the processor that the file
was saved on has AVX-512 or is an ARM, and 8 on others (`NchwcBlockSize`). It follows from sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from graphfix.authoring import Array, Graph, NodeView, Refuse, Tensor, Value, is_empty, needed

DOMAIN = "com.microsoft.nchwc"
BLOCKS = (8, 16)
GLOBAL = ("GlobalAveragePool", "GlobalMaxPool")
POOLS = ("AveragePool", "MaxPool", *GLOBAL)
SUM = 3  # the place of what Conv adds
_APART = 5  # axes where blocks have an axis of their own: [n, c / block, h, w, block]


class Conv(Struct, frozen=True):
    """One convolution.

    Attributes:
        weights: As they are stored: [out, in of a group, height, width], as a shape alone.
        groups: How many groups there are.
        blocked: Whether what it convolves has the layout.
    """

    weights: Array
    groups: int
    blocked: bool

    @classmethod
    def of(cls, node: NodeView, blocked: bool) -> Conv:
        """Read a node.

        Raises:
            Refuse: The weights are computed, or have another rank.
        """
        weights = needed(node.need(1).array(), "the weights must be constant; they are computed")
        if weights.ndim != 4:
            raise Refuse(f"the weights must be of rank 4; their rank is {weights.ndim}")
        return cls(weights, int(node.attr("group", 1)), blocked)

    @property
    def depthwise(self) -> bool:
        """Whether each channel is convolved alone."""
        return self.groups > 1 and self.weights.shape[:2] == (self.groups, 1)

    @property
    def mixes(self) -> bool:
        """Whether blocks of its input channels are blocks of its weights."""
        return self.blocked and not self.depthwise

    def in_order(self, block: int) -> Array:
        """Return the weights as ONNX has them: [out, in, height, width]."""
        out, inner, height, width = self.weights.shape
        step = block if self.mixes else 1
        blocks = self.weights.reshape(out // block, inner // step, height, width, step, block)
        return blocks.transpose(0, 5, 1, 4, 2, 3).reshape(self.weights.shape)

    def misfit(self, block: int, channels: int | None) -> str:
        """Say what of its sizes no blocks of this many channels have; empty for nothing."""
        out, inner = self.weights.shape[:2]
        if out % block:
            return f"{out} output channels"
        if not self.blocked:
            fits = self.groups == 1 and inner < block
            return "" if fits else f"{inner} channels in an input that is not blocked"
        wanted = out if self.depthwise else inner * self.groups
        if channels is not None and channels != wanted:
            return f"{channels} channels where its weights have {wanted}"
        if self.depthwise:
            return ""
        whole = not inner % block and not (out // self.groups) % block
        return "" if whole else f"{inner} input channels"


class Layout(Struct):
    """The blocked tensors of one graph, by their ids.

    Attributes:
        graph: The graph.
        block: How many channels a block has.
        channels: How many channels a tensor has, those that fill up included; None if unknown.
        regions: The nodes of each part of the graph that is connected by blocked tensors.
        convs: The convolutions, by the ids of their nodes.
    """

    graph: Graph
    block: int
    channels: dict[int, int | None] = field(default_factory=dict[int, "int | None"])
    regions: list[list[NodeView]] = field(default_factory=list["list[NodeView]"])
    convs: dict[int, Conv] = field(default_factory=dict[int, Conv])

    def is_blocked(self, tensor: Tensor | None) -> bool:
        """Say whether a tensor has the layout."""
        return tensor is not None and id(tensor) in self.channels

    def blocked(self, node: NodeView) -> list[Tensor]:
        """Return the inputs of a node that have the layout."""
        return [tensor for tensor in node.node.inputs if id(tensor) in self.channels]


def read(graph: Graph, nodes: Iterable[NodeView], block: int) -> Layout:
    """Return where the layout is in a graph.

    Args:
        graph: The graph.
        nodes: Its nodes, in order.
        block: The number of channels in a block.

    Raises:
        Refuse: The sizes do not fit blocks of this many channels.
    """
    layout = Layout(graph, block)
    region: dict[int, list[NodeView]] = {}
    for node in nodes:
        inner = layout.blocked(node)
        own = node.domain == DOMAIN
        if not (own or inner):
            continue
        plain = own and node.op == "ReorderOutput"
        found, misfit = _channels(layout, node)
        if misfit:
            raise Refuse(f"{node.op} {node.name!r} must fit blocks of {block}; it has {misfit}")
        joined = [node]
        for members in {id(region[id(t)]): region[id(t)] for t in inner}.values():
            joined = [*members, *joined]
        for tensor in (*inner, *(() if plain else node.node.outputs)):
            if not is_empty(tensor):
                layout.channels.setdefault(id(tensor), found)
        touched = {id(t) for member in joined for t in member.node.inputs}
        touched.update(id(t) for member in joined for t in member.node.outputs)
        region.update((key, joined) for key in touched if key in layout.channels)
        if plain and not inner:
            raise Refuse(f"{node.need(0).name} must be blocked; no operator of {DOMAIN} makes it")
    order = {id(node): place for place, node in enumerate(graph.nodes)}
    layout.regions = [
        sorted(members, key=lambda view: order[id(view.node)])
        for members in {id(one): one for one in region.values()}.values()
    ]
    return layout


def _channels(layout: Layout, node: NodeView) -> tuple[int | None, str]:
    """Return the channels of what a node gives, and what does not fit."""
    block, inner = layout.block, layout.blocked(node)
    known = layout.channels.get(id(inner[0])) if inner else None
    misfit = ""
    if node.domain != DOMAIN:
        if node.op == "Concat":
            sizes = [layout.channels.get(id(t)) for t in node.node.inputs]
            whole = [size for size in sizes if size is not None]
            known = sum(whole) if len(whole) == len(sizes) else None
        elif node.op == "Reshape" and inner:
            shape = node.need(1).array()
            if shape is not None and shape.size == _APART and int(shape.flat[-1]) != block:
                misfit = f"{int(shape.flat[-1])} channels in a block"
    elif node.op == "ReorderInput":
        channels = node.need(0).dim(-1 if node.attr("channels_last", 0) else 1)
        known = None if channels is None else -(-channels // block) * block
    elif node.op == "ReorderOutput":
        channels = int(node.attr("channels", 0))
        if known is not None and not channels <= known < channels + block:
            misfit = f"{channels} channels of {known}"
    elif node.op == "Conv":
        conv = Conv.of(node, layout.is_blocked(node.node.inputs[0]))
        layout.convs[id(node.node)] = conv
        misfit = conv.misfit(block, known if conv.blocked else None)
        known = int(conv.weights.shape[0])
    if known is not None and known % block and not misfit:
        misfit = f"{known} channels"
    return known, misfit


def reshapes(layout: Layout, tensor: Tensor, *, apart: bool) -> list[int]:
    """Return the shape that gives the blocks of a tensor an axis of their own, or takes it away.

    Args:
        layout: The layout of its graph.
        tensor: What is reshaped; its channels are known.
        apart: Whether the blocks have such an axis already.
    """
    channels = layout.channels[id(tensor)] or 0
    return [0, channels, 0, 0] if apart else [0, channels // layout.block, 0, 0, layout.block]


def kept_channels(layout: Layout, region: Sequence[NodeView]) -> dict[int, int]:
    """Return how many channels each blocked tensor of a region has without those that fill up.

    Of the last block, those channels are left out that nothing reads but weights that are zero.

    Raises:
        Refuse: The channels of a tensor are unknown, or something reads channels that an input
            does not have.
    """
    same: dict[int, int] = {}

    def one_of(key: int) -> int:
        while same.get(key, key) != key:
            key = same[key]
        return key

    least: dict[int, int] = {}
    most: dict[int, int] = {}

    def at_least(tensor: Tensor, count: int) -> None:
        least[id(tensor)] = max(least.get(id(tensor), 0), count)

    for node in region:
        inner = layout.blocked(node)
        for tensor in (*inner, *node.node.outputs):
            if layout.is_blocked(tensor):
                size = needed(
                    layout.channels[id(tensor)], f"{tensor.name} must have known channels"
                )
                at_least(tensor, size - layout.block + 1)
        conv = layout.convs.get(id(node.node))
        if conv is not None and not conv.depthwise:
            inner = layout.blocked(node)[1:] if conv.blocked else inner
            if conv.blocked:
                at_least(node.node.inputs[0], _read_by(conv, layout.block))
            if conv.groups > 1:
                at_least(node.node.outputs[0], int(conv.weights.shape[0]))
        if node.domain == DOMAIN and node.op == "ReorderOutput":
            at_least(node.node.inputs[0], int(node.attr("channels")))
        elif node.domain == DOMAIN and node.op == "ReorderInput":
            channels = node.need(0).dim(-1 if node.attr("channels_last", 0) else 1)
            at_least(node.node.outputs[0], channels or 0)
            most[id(node.node.outputs[0])] = channels or 0
        elif node.op == "Concat":
            for tensor in (*inner, node.node.outputs[0]):
                at_least(tensor, layout.channels[id(tensor)] or 0)
        else:
            for tensor in inner:
                same[one_of(id(tensor))] = one_of(id(node.node.outputs[0]))
    kept: dict[int, int] = {}
    for key, count in least.items():
        kept[one_of(key)] = max(kept.get(one_of(key), 0), count)
    for key, count in most.items():
        if kept[one_of(key)] > count:
            raise Refuse(
                f"only the {count} channels of an input must be read; {kept[one_of(key)]} are"
            )
    return {key: kept[one_of(key)] for key in least}


def _read_by(conv: Conv, block: int) -> int:
    """Return how many input channels a convolution reads, of all but the last block all."""
    if conv.groups > 1:
        return int(conv.weights.shape[1]) * conv.groups
    read = np.flatnonzero(conv.in_order(block).any(axis=(0, 2, 3)))
    return int(read[-1]) + 1 if len(read) else 0


def extent_after(node: NodeView, extent: tuple[Any, ...], window: Sequence[int]) -> tuple[Any, ...]:
    """Return what says height and width after a window; equal ones are equal sizes."""
    if node.attr("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return tuple(
            (size, axis, node.attr("auto_pad"), window) for axis, size in enumerate(extent)
        )
    pads = [int(pad) for pad in node.attr("pads", ())] or [0, 0, 0, 0]
    strides = [int(step) for step in node.attr("strides", ())] or [1, 1]
    dilations = [int(step) for step in node.attr("dilations", ())] or [1, 1]
    ceil = int(node.attr("ceil_mode", 0))
    found: list[Any] = []
    for axis, size in enumerate(extent):
        lost = dilations[axis] * (window[axis] - 1) - pads[axis] - pads[axis + 2]
        if strides[axis] == 1:
            whole = size - lost if isinstance(size, int) else (size, lost)
            found.append(whole if lost else size)
        elif isinstance(size, int):
            found.append(
                -(-(size - lost - 1) // strides[axis]) + 1
                if ceil
                else (size - lost - 1) // strides[axis] + 1
            )
        else:
            found.append((size, lost, strides[axis], ceil))
    return tuple(found)


def extent_of(value: Value, *, last: bool = False) -> tuple[Any, ...]:
    """Return what says height and width of a tensor that is not blocked."""
    shape = value.shape
    if shape is None or len(shape) != 4:
        raise Refuse(f"{value.name} must be of rank 4; its shape is {shape}")
    sizes = shape[1:3] if last else shape[2:]
    return tuple(
        (_source(value), axis) if size is None else size for axis, size in enumerate(sizes)
    )


def _source(value: Value) -> int:
    """Return the id of a tensor of the same height and width, the first of its kind."""
    maker = value.producer
    while maker is not None and not maker.domain and maker.op in ("Cast", "Split"):
        value = maker.need(0)
        maker = value.producer
    return id(value.tensor)
