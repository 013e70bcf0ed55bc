"""Replace what onnxruntime had before ONNX did by ONNX's operator.

What it does: Writes com.microsoft's GatherND, Pad, Range, Unique, ExpandDims, SampleOp,
    TorchEmbedding, MatMulInteger16 and ConvTransposeWithDynamicPads as the operators of ONNX that
    compute the same: GatherND, Pad, Range, Unique, Unsqueeze, Identity, Gather, MatMul of int32 and
    ConvTranspose.
Why engines need it: Other engines know the operators of ONNX, and not those of the same name in
    com.microsoft.
Before: y, inverse, counts = com.microsoft.Unique (x)
After: y, _, inverse, counts = Unique <sorted = 0> (x)
When it refuses: The opset has no such operator; the axis of ExpandDims or the pads of
    ConvTransposeWithDynamicPads are computed at run time; a rank is unknown that is needed.
Accuracy: Exact: nothing is computed in another way.
References: microsoft/onnxruntime docs/ContribOperators.md; onnxruntime/contrib_ops/cpu/unique.cc,
    expand_dims.h, conv_transpose_with_dynamic_pads.h, matmul_integer16.cc
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    InferredType,
    NodeView,
    Refuse,
    Value,
    need_rank,
    rewrite,
)

_DOMAIN = "com.microsoft"
_INT32 = int(TensorProto.INT32)
_PADS = 2


def _gather_nd(node: NodeView, build: Builder) -> Value:
    indices = node.need(1)
    if indices.elem_type != TensorProto.INT64:
        indices = build.Cast(indices, to=TensorProto.INT64)
    return build.GatherND(node.need(0), indices)


def _pad(node: NodeView, build: Builder) -> Value:
    data, pads, value = node.need(0), node.need(1), node.input(2)
    if pads.rank != 1:
        pads = build.Reshape(pads, np.array([-1]))
    if value is not None and value.rank != 0:
        value = build.Reshape(value, np.array([], np.int64))
    mode = str(node.attr("mode", "constant"))
    if build.opset < 11:
        number = 0.0 if value is None else float(build.need_const(value, "the value"))
        return build.Pad(data, pads=pads, value=number, mode=mode)
    return build.Pad(data, pads, value, mode=mode)


def _range(node: NodeView, build: Builder) -> Value:
    start, limit, delta = node.need(0), node.need(1), node.input(2)
    if start.dtype is None:
        raise Refuse(f"the dtype of {start.name} must be known")
    one = build.constant(np.ones((), start.dtype)) if delta is None else delta
    return build.Range(
        *(
            x if x.rank == 0 else build.Reshape(x, np.array([], np.int64))
            for x in (start, limit, one)
        )
    )


def _expand(node: NodeView, build: Builder) -> Value:
    axis = int(build.need_const(node.need(1), "the axis").reshape(()))
    rank = need_rank(node.need(0))
    return build.Unsqueeze(node.need(0), axes=[axis % (rank + 1)])


def _product(node: NodeView, build: Builder) -> Value:
    return build.MatMul(*(build.Cast(node.need(place), to=_INT32) for place in (0, 1)))


def _transposed(node: NodeView, build: Builder) -> Value:
    kept = {name: node.attr(name) for name in node.attributes}
    pads = build.need_const(node.need(_PADS), "the pads").reshape(-1).tolist()
    return build.ConvTranspose(node.need(0), node.need(1), node.input(3), pads=pads, **kept)


_WRITERS: dict[str, Callable[[NodeView, Builder], Value]] = {
    "ConvTransposeWithDynamicPads": _transposed,
    "ExpandDims": _expand,
    "GatherND": _gather_nd,
    "MatMulInteger16": _product,
    "Pad": _pad,
    "Range": _range,
    "SampleOp": lambda node, build: build.Identity(node.need(0)),
}
_OPERATORS = tuple(f"{_DOMAIN}::{op}" for op in sorted(_WRITERS))


@rewrite(
    _OPERATORS, emits="Cast ConvTranspose GatherND Identity MatMul Pad Range Reshape Unsqueeze"
)
def contrib_alias_to_onnx(node: NodeView, build: Builder) -> Value:
    """Write ONNX's operator, see the module."""
    return _WRITERS[node.op](node, build)


def unique(node: NodeView) -> Sequence[InferredType | None]:
    """Vectors of sizes that only the values tell.

    ONNX infers less: the inverse has the length of the input.
    """
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    numbers = InferredType(int(TensorProto.INT64), (None,))
    return (
        InferredType(x.elem_type, (None,)),
        InferredType(int(TensorProto.INT64), x.shape),
        numbers,
    )


@rewrite(f"{_DOMAIN}::Unique", emits="Unique", infer=unique)
def contrib_unique_to_onnx(node: NodeView, build: Builder) -> tuple[Value, ...]:
    """Replace com.microsoft's Unique by ONNX's, not sorted: the second output is the inverse."""
    values, _, inverse, counts = build.multi("Unique", node.need(0), outputs=4, sorted=0)
    return (values, inverse, counts)[: len(node.outputs)]


def looked_up(inputs: list[Array | None], _: dict[str, Any]) -> tuple[Array, ...]:
    """Look rows up."""
    table, indices = inputs[:2]
    assert table is not None  # the schema wants both
    assert indices is not None
    return (table[indices],)


@rewrite(f"{_DOMAIN}::TorchEmbedding", emits="Gather", evaluate=looked_up)
def torch_embedding_to_gather(node: NodeView, build: Builder) -> Value:
    """Replace TorchEmbedding by Gather: padding and counts matter to gradients alone."""
    return build.Gather(node.need(0), node.need(1), axis=0)
