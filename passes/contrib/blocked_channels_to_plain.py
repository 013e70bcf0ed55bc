"""Turn the blocked layout of onnxruntime's optimizer back into images with channels in order.

What it does: Writes the operators of com.microsoft.nchwc as those of ONNX, with their weights in
    order, and leaves out what reorders channels; operators between them that compute each element
    alone, and Concat of channels, are the same on both layouts. Channels that only fill up the last
    block are cut off the weights.
Why engines need it: onnxruntime writes them into a model that it saves after optimization at level
    all; other engines do not know them, or take them for the operators of ONNX of that name.
Before:
    r = com.microsoft.nchwc.ReorderInput (x)
    c = com.microsoft.nchwc.Conv <activation = "Relu"> (r, w, b)    # w: float[16,16,3,3], in blocks
    y = com.microsoft.nchwc.ReorderOutput <channels = 12> (c)
After: y = Relu (Conv (x, w1, b1))                                  # w1: float[12,12,3,3]
When it refuses: Whether blocks have 8 or 16 channels does not follow from the sizes of the file
    (no input or output of it has a number of channels that only one of them fits) and the option
    block does not say it; weights are computed; the height and width of two operands are not known
    to be the same; an operator in between mixes the elements of a block; AveragePool rounds up.
Accuracy: Exact up to the order of summation.
References: microsoft/onnxruntime onnxruntime/core/optimizer/nchwc_transformer.cc,
    onnxruntime/contrib_ops/cpu/nchwc_ops.cc, onnxruntime/core/mlas/lib/reorder.cpp, platform.cpp
    (NchwcBlockSize), onnxruntime/core/graph/contrib_ops/nchwc_schema_defs.cc; held to the kernels
    of onnxruntime 1.32 on a processor with blocks of 16
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import (
    ELEMENTWISE,
    Array,
    Builder,
    Editor,
    InferredType,
    Known,
    NodeView,
    Option,
    Refuse,
    Tensor,
    Value,
    graph_pass,
    needed,
)

from . import _nchwc as nchwc
from ._activation import activated, by_place

_OWN = ("Conv", "ReorderInput", "ReorderOutput", "Upsample")
_ALONE = ("com.microsoft::FastGelu", "com.microsoft::Gelu", "com.microsoft::QuickGelu")
_FUSED = ("activation", "activation_params")
_BLOCK = Option(int, 0, "The channels in a block, 8 or 16, where the file does not tell it.")


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """Say the shapes, of which onnxruntime's depend on the block only where a block is filled up.

    Raises:
        Refuse: The operator is of another domain, or the shape of its input is not known.
    """
    if node.domain != nchwc.DOMAIN:
        raise Refuse(f"the domain must be {nchwc.DOMAIN}; it is {node.domain or 'that of ONNX'}")
    x = node.need(0)
    if not x.elem_type or x.shape is None or len(x.shape) != 4:
        raise Refuse("the input must be of rank 4; it is not known to be")
    batch, channels, *extent = x.shape
    if node.op == "ReorderInput":
        if node.attr("channels_last", 0):
            batch, *extent, channels = x.shape
        filled = channels if isinstance(channels, int) and channels % 16 == 0 else None
        return (InferredType(x.elem_type, (batch, filled, *extent)),)
    if node.op == "ReorderOutput":
        channels = int(node.attr("channels", 0)) or None
        last = bool(node.attr("channels_last", 0))
        shape = (batch, *extent, channels) if last else (batch, channels, *extent)
        return (InferredType(x.elem_type, shape),)
    if node.op in nchwc.GLOBAL:
        return (InferredType(x.elem_type, (batch, channels, 1, 1)),)
    if node.op == "Upsample":
        scales = [int(scale) for scale in node.attr("scales", ())] or [1] * 4
        sizes = [
            size * scale if isinstance(size, int) else size if scale == 1 else None
            for size, scale in zip(extent, scales[2:], strict=True)
        ]
        return (InferredType(x.elem_type, (batch, channels, *sizes)),)
    window = [int(size) for size in node.attr("kernel_shape", ())]
    if node.op == "Conv":
        weights = node.need(1)
        channels = weights.dim(0)
        window = window or [weights.dim(axis) or 0 for axis in (2, 3)]
    known = nchwc.extent_after(node, tuple(extent), window)
    sizes = [size if isinstance(size, int | str) else None for size in known]
    return (InferredType(x.elem_type, (batch, channels, *sizes)),)


@graph_pass(
    removes=f"op:{nchwc.DOMAIN}::*",
    emits="*::*",
    options={"block": _BLOCK},
    knows={f"{nchwc.DOMAIN}::{op}": Known(infer) for op in (*nchwc.POOLS, *_OWN)},
    looks_at=("ReorderInput ReorderOutput",),
)
def blocked_channels_to_plain(editor: Editor) -> None:
    """Write each connected part with its channels in order, see the module."""
    layouts = _layouts(editor)
    for layout in layouts:
        for region in layout.regions:
            try:
                kept = nchwc.kept_channels(layout, region)
            except Refuse as refusal:
                editor.refuse(region[0], refusal.reason)
                continue
            editor.replace_together(region, _Writing(layout, kept))


def _layouts(editor: Editor) -> list[nchwc.Layout]:
    """Return the layout of each graph; of no graph where the block is not known."""
    # All nodes: a part of which one is to be left alone is left alone as a whole.
    whole = [(graph, [NodeView(node) for node in graph.nodes]) for graph in editor.graphs()]
    own = [node for _, nodes in whole for node in nodes if node.domain == nchwc.DOMAIN]
    if not own:
        return []
    wanted = int(editor.option("block"))
    fits: dict[int, list[nchwc.Layout]] = {}
    reasons: list[str] = []
    for block in (wanted,) if wanted else nchwc.BLOCKS:
        try:
            fits[block] = [nchwc.read(graph, nodes, block) for graph, nodes in whole]
        except Refuse as refusal:
            reasons.append(refusal.reason)
    if len(fits) == 1:
        return next(iter(fits.values()))
    if fits:
        editor.refuse(
            own[0],
            "the sizes of the file must tell how many channels a block has; 8 and 16 fit them all. "
            "--option blocked-channels-to-plain.block=16 says what the processor had that it was "
            "saved on (16 with AVX-512 and on ARM, else 8)",
        )
    else:
        editor.refuse(own[0], "; ".join(reasons))
    return []


class _Writing:
    """Writes the nodes of one region, in their order."""

    def __init__(self, layout: nchwc.Layout, kept: dict[int, int]) -> None:
        self._layout, self._kept = layout, kept
        self._plain: dict[int, Value] = {}
        self._extents: dict[int, tuple[Any, ...]] = {}
        self._apart: set[int] = set()  # tensors whose blocks have an axis of their own

    def __call__(self, build: Builder, node: NodeView) -> Sequence[Value | None] | None:
        """Write one node; see `Editor.replace_together`."""
        output = node.node.outputs[0]
        if self._layout.is_blocked(output):
            self._check_readers(output)
        if node.domain != nchwc.DOMAIN:
            write = self._reshaped if node.op == "Reshape" and not node.domain else self._same
            self._give(node, write(build, node))
            return None
        if any(id(tensor) in self._apart for tensor in node.node.inputs):
            raise Refuse(f"{node.op} must read blocks without an axis of their own; they have one")
        if node.op == "ReorderOutput":
            return (self._in_order(build, node),)
        if node.op == "ReorderInput":
            last = bool(node.attr("channels_last", 0))
            x = node.need(0)
            self._extents[id(output)] = nchwc.extent_of(x, last=last)
            self._plain[id(output)] = build.Transpose(x, perm=[0, 3, 1, 2]) if last else x
        elif node.op == "Conv":
            self._give(node, self._convolved(build, node))
        elif node.op in nchwc.POOLS:
            self._give(node, self._pooled(build, node))
        elif node.op == "Upsample":
            self._give(node, self._upsampled(build, node))
        else:
            raise Refuse(f"the operator must be one of the layout; it is {node.op}")
        return None

    def _give(self, node: NodeView, value: Value) -> None:
        self._plain[id(node.node.outputs[0])] = value

    def _check_readers(self, tensor: Tensor) -> None:
        """Refuse what reads a blocked tensor in another graph, or as an output."""
        graph = self._layout.graph
        if tensor.output_count or any(reader.graph is not graph for reader in tensor.outputs):
            raise Refuse(f"{tensor.name} must be read in its own graph alone; it is read elsewhere")

    def _x(self, node: NodeView, place: int = 0) -> Value:
        tensor = node.node.inputs[place]
        return needed(self._plain.get(id(tensor)), f"{tensor.name} must be blocked; it is not")

    def _in_order(self, build: Builder, node: NodeView) -> Value:
        value, channels = self._x(node), int(node.attr("channels"))
        if self._kept[id(node.node.inputs[0])] > channels:
            value = build.Slice(value, starts=[0], ends=[channels], axes=[1])
        if node.attr("channels_last", 0):
            value = build.Transpose(value, perm=[0, 2, 3, 1])
        made = value.producer is None or value.producer.node not in build.nodes
        return build.Identity(value) if made else value

    def _convolved(self, build: Builder, node: NodeView) -> Value:
        conv = self._layout.convs[id(node.node)]
        x, output = node.need(0), node.node.outputs[0]
        count = self._kept[id(output)]
        weights = conv.in_order(self._layout.block)[:count]
        extent = nchwc.extent_of(x) if not conv.blocked else self._extents[id(x.tensor)]
        if conv.blocked:
            if conv.mixes and conv.groups == 1:
                weights = weights[:, : self._kept[id(x.tensor)]]
            x = self._x(node)
        attributes = {name: node.attr(name) for name in node.attributes if name not in _FUSED}
        if conv.groups > 1:
            attributes["group"] = count if conv.depthwise else conv.groups
        bias = node.input(2)
        if bias is not None:
            array = build.need_const(bias, "the bias")
            bias = build.constant(np.ascontiguousarray(array[:count]))
        filters = build.constant(np.ascontiguousarray(weights))
        result = build.Conv(x, filters, bias, **attributes)
        own = nchwc.extent_after(node, extent, weights.shape[2:])
        if node.input(nchwc.SUM) is not None:
            result = build.Add(result, self._x(node, nchwc.SUM))  # the kernel wants equal sizes
        self._extents[id(output)] = own
        name = str(node.attr("activation", ""))
        return activated(build, result, name, lambda names: by_place(node, names))

    def _pooled(self, build: Builder, node: NodeView) -> Value:
        extent, output = self._extents[id(node.node.inputs[0])], node.node.outputs[0]
        if node.op in nchwc.GLOBAL:
            self._extents[id(output)] = (1, 1)
            return build.multi(node.op, self._x(node))[0]
        if node.op == "AveragePool" and node.attr("ceil_mode", 0):
            raise Refuse("ceil_mode of AveragePool must be 0; it is 1")
        attributes = {name: node.attr(name) for name in node.attributes if name != "storage_order"}
        window = [int(size) for size in node.attr("kernel_shape")]
        self._extents[id(output)] = nchwc.extent_after(node, extent, window)
        return build.multi(node.op, self._x(node), **attributes)[0]

    def _upsampled(self, build: Builder, node: NodeView) -> Value:
        build.need_opset(11)
        scales = [int(scale) for scale in node.attr("scales", ())]
        if len(scales) != 4 or scales[:2] != [1, 1]:
            raise Refuse(f"scales must be of height and width; they are {scales}")
        extent = self._extents[id(node.node.inputs[0])]
        self._extents[id(node.node.outputs[0])] = tuple(
            size * scale if isinstance(size, int) else size if scale == 1 else (size, "x", scale)
            for size, scale in zip(extent, scales[2:], strict=True)
        )
        mode = str(node.attr("mode", "nearest"))
        place = str(node.attr("coordinate_transformation_mode", "asymmetric"))
        how = {"mode": mode, "coordinate_transformation_mode": place}
        if mode == "nearest":  # the kernel repeats elements, wherever they are said to be
            how = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        empty = None if build.opset >= 13 else np.zeros(0, np.float32)
        return build.Resize(self._x(node), empty, np.array(scales, np.float32), **how)

    def _reshaped(self, build: Builder, node: NodeView) -> Value:
        """Write what gives blocks an axis of their own, for operands that broadcast, or back."""
        x, output = node.node.inputs[0], node.node.outputs[0]
        apart = id(x) in self._apart
        wanted = nchwc.reshapes(self._layout, x, apart=apart)
        shape = [int(size) for size in build.need_const(node.need(1), "the shape").reshape(-1)]
        if shape != wanted or node.attr("allowzero", 0):
            raise Refuse(f"Reshape {node.name!r} must be to {wanted}; it is to {shape}")
        if not apart:
            self._apart.add(id(output))
        self._extents[id(output)] = self._extents[id(x)]
        return self._x(node)

    def _same(self, build: Builder, node: NodeView) -> Value:
        """Write an operator of each element, or a Concat of channels, on what is in order."""
        name = f"{node.domain}::{node.op}" if node.domain else node.op
        if not (name in _ALONE or name == "Concat" or name in ELEMENTWISE):
            raise Refuse(f"{name} {node.name!r} must not mix the elements of a block; it may")
        inner = self._layout.blocked(node)
        output = node.node.outputs[0]
        extent = self._extents[id(inner[0])]
        apart = [id(tensor) in self._apart for tensor in inner]
        if any(apart):  # operands broadcast as those of ONNX do
            if name == "Concat" or not all(apart):
                raise Refuse(
                    f"what {name} {node.name!r} reads must be alike; some blocks are apart"
                )
            self._apart.add(id(output))
            extent = self._broadcast(inner)
        for tensor in inner[1:] if name != "Concat" and not any(apart) else ():
            self._check_extent(tensor, extent)  # Concat has equal sizes, or none at all
        self._extents[id(output)] = extent
        operands: list[Value | Array | None] = []
        for value in node.inputs:
            known = None if value is None else self._plain.get(id(value.tensor))
            if value is not None and known is None:
                array = build.need_const(value, f"{value.name}, which is not blocked,")
                if array.size != 1 or array.ndim > 4:
                    raise Refuse(f"{value.name}, which is not blocked, must be a scalar; it is not")
            operands.append(value if known is None else known)
        if name == "Concat":
            axis = int(node.attr("axis"))
            if axis not in (1, -3) or len(inner) != len(node.inputs):
                raise Refuse(f"blocked tensors must be joined along axis 1; they are along {axis}")
        attributes = {given: node.attr(given) for given in node.attributes}
        return build.multi(name, *operands, **attributes)[0]

    def _broadcast(self, tensors: Sequence[Tensor]) -> tuple[Any, ...]:
        """Return what says height and width of what tensors broadcast to."""
        sides = zip(*(self._extents[id(tensor)] for tensor in tensors), strict=True)
        return tuple(
            side[0] if all(size == side[0] for size in side) else ("broadcast", *side)
            for side in sides
        )

    def _check_extent(self, tensor: Tensor, wanted: tuple[Any, ...]) -> None:
        if self._extents[id(tensor)] != wanted:
            raise Refuse(
                f"the height and width of {tensor.name} must be known to be those of what it is "
                "combined with; they are not"
            )
