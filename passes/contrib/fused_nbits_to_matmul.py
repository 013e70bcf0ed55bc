"""Take MatMulNBitsQkv, MatMulNBitsMlp and MatMulNBitsQLoRA apart.

What it does: Adds the skip where there is one and divides by the root mean square, multiplies by
    the unpacked weights of queries, keys and values (Qkv), by those of gate and input (Mlp, which
    then multiplies the activated gate by the other), or by the base and the two small ones of an
    adapter (QLoRA).
Why engines need it: They are operators of onnxruntime's optimiser for graphics processors; other
    engines do not know them, and onnxruntime itself does not have them on a CPU.
Before:
    q, k, v = com.microsoft.MatMulNBitsQkv <K = K, Nq = N, Nkv = N, bits = 4, block_size = 32>
              (x, , scale, wq, sq, , wk, sk, , wv, sv)
After:
    n = Mul (Div (x, Sqrt (Add (ReduceMean (Mul (x, x)), 1e-5))), scale)
    q, k, v = MatMul (n, float wq), MatMul (n, float wk), MatMul (n, float wv)
When it refuses: Weights are computed at run time or of sizes that do not fit; the activation is not
    silu; the rank or the dtype is not known.
Accuracy: Exact up to the order of summation; float16 is computed in float32.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MatMulNBitsQkv,
    com.microsoft.MatMulNBitsMlp, com.microsoft.MatMulNBitsQLoRA
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

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
from graphfix.authoring.packed_blocks import weights_of

from ._blocks import read_weights
from ._gelu import silu, silu_of
from ._means import EMITS, divided, like, wide
from ._typing import need_float

_QKV, _MLP = "com.microsoft::MatMulNBitsQkv", "com.microsoft::MatMulNBitsMlp"
_LORA = "com.microsoft::MatMulNBitsQLoRA"
_EPSILON = 1e-5
_LEVEL = ("accuracy_level",)  # how kernels may round an operand, which no formula does
_WRITTEN = (EMITS, "MatMul Sigmoid")


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The axes of the input, the last one as the attributes say.

    What is written for it reads the weights, which a look at types must not.
    """
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    names = ("Nq", "Nkv", "Nkv") if node.op == "MatMulNBitsQkv" else ("N",)
    lead = None if not x.shape else x.shape[:-1]
    results = [
        InferredType(
            x.elem_type, None if lead is None else (*lead, int(node.attr(name, 0)) or None)
        )
        for name in names
    ]
    return (*results, InferredType(x.elem_type, x.shape))


def _model(
    inputs: list[Array | None], places: tuple[int, int], sizes: tuple[int, int, int], bits: int
) -> Array:
    data, scales = (inputs[place] for place in places)
    assert data is not None  # the schema wants both
    assert scales is not None
    return weights_of(data, scales, None, bits=bits, sizes=sizes).T.astype(np.float64)


def _normal(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, Array]:
    x, skip, scale = inputs[:3]
    assert x is not None  # the schema wants it
    total = x.astype(np.float64) + (0 if skip is None else skip)
    epsilon = float(attributes.get("epsilon", _EPSILON))
    if scale is None:
        return total, total
    return total / np.sqrt((total**2).mean(axis=-1, keepdims=True) + epsilon) * scale, total


def _numbers(attributes: dict[str, Any], name: str) -> tuple[int, int, int]:
    return int(attributes[name]), int(attributes["K"]), int(attributes["block_size"])


def _biased(inputs: list[Array | None], place: int) -> Array | float:
    bias = inputs[place] if place < len(inputs) else None
    return 0.0 if bias is None else bias


def evaluate_qkv(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Normalise and multiply in float64."""
    normal, total = _normal(inputs, attributes)
    bits, kind = int(attributes.get("bits", 4)), np.asarray(inputs[0]).dtype
    results: list[Array] = []
    for place, name in ((3, "Nq"), (6, "Nkv"), (9, "Nkv")):
        weights = _model(inputs, (place, place + 1), _numbers(attributes, name), bits)
        results.append((normal @ weights + _biased(inputs, place + 2)).astype(kind))
    return (*results, total.astype(kind))


def evaluate_mlp(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Normalise, multiply and gate in float64."""
    if str(attributes.get("activation", "")) != "silu":
        raise NotImplementedError("another activation than silu")
    normal, total = _normal(inputs, attributes)
    bits, kind = int(attributes.get("bits", 4)), np.asarray(inputs[0]).dtype
    sizes = _numbers(attributes, "N")
    gate, up = (
        normal @ _model(inputs, (place, place + 1), sizes, bits) + _biased(inputs, place + 2)
        for place in (3, 6)
    )
    return (silu_of(gate) * up).astype(kind), total.astype(kind)


def evaluate_lora(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Add base and adapter in float64."""
    x = inputs[0]
    assert x is not None  # the schema wants it
    rows, columns, block = _numbers(attributes, "N")
    rank = len(np.asarray(inputs[3]))
    small = int(attributes.get("lora_block_size", block))
    bits, own = int(attributes.get("bits", 4)), int(attributes.get("lora_bits", 4))
    base = _model(inputs, (1, 2), (rows, columns, block), bits)
    down = _model(inputs, (3, 4), (rank, columns, small), own)
    up = _model(inputs, (5, 6), (rows, rank, small), own)
    wide_ = x.astype(np.float64)
    return ((wide_ @ base + wide_ @ down @ up).astype(x.dtype),)


@rewrite(_QKV, emits=_WRITTEN, infer=infer, evaluate=evaluate_qkv)
def fused_nbits_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Normalise and multiply by three matrices, see the module."""
    node.waive(_LEVEL)
    normal, total = _normalized(node, build)
    results = [
        _multiplied(node, build, normal, (place, place + 1), name, place + 2)
        for place, name in ((3, "Nq"), (6, "Nkv"), (9, "Nkv"))
    ]
    return _narrow(node, build, (*results, total))


@rewrite(_MLP, emits=_WRITTEN, infer=infer, evaluate=evaluate_mlp)
def nbits_mlp_to_matmul(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Take MatMulNBitsMlp apart: two products of one operand, one gating the other."""
    node.waive(_LEVEL)
    if str(node.attr("activation", "")) != "silu":
        raise Refuse(f"the activation must be silu; it is {node.attr('activation', '')}")
    normal, total = _normalized(node, build)
    gate, up = (
        _multiplied(node, build, normal, (place, place + 1), "N", place + 2) for place in (3, 6)
    )
    return _narrow(node, build, (build.Mul(silu(build, gate), up), total))


@rewrite(_LORA, emits=_WRITTEN, infer=infer, evaluate=evaluate_lora)
def nbits_qlora_to_matmul(node: NodeView, build: Builder) -> Value:
    """Take MatMulNBitsQLoRA apart: the base and an adapter of two small matrices."""
    node.waive(_LEVEL)
    x = node.need(0)
    need_float(x)
    rank = node.need(3).dim(0)
    rows, columns, block = (int(node.attr(name)) for name in ("N", "K", "block_size"))
    small = int(node.attr("lora_block_size", block))
    bits, own = int(node.attr("bits", 4)), int(node.attr("lora_bits", 4))
    if not rank:
        raise Refuse("the rank of the adapter must be known")
    data = wide(build, x)

    def times(value: Value, places: tuple[int, int], sizes: tuple[int, int, int], n: int) -> Value:
        weights = read_weights(node, build, (*places, None, None), sizes, n)
        return build.MatMul(value, np.ascontiguousarray(weights.T))

    base = times(data, (1, 2), (rows, columns, block), bits)
    down = times(data, (3, 4), (rank, columns, small), own)
    return like(build, x, build.Add(base, times(down, (5, 6), (rows, rank, small), own)))


def _normalized(node: NodeView, build: Builder) -> tuple[Value, Value]:
    x, skip, scale = node.need(0), node.input(1), node.input(2)
    need_float(x)
    total = wide(build, x)
    if skip is not None:
        total = build.Add(total, wide(build, skip))
    if scale is None:
        return total, total
    rank = need_rank(x, 1)
    epsilon = float(node.attr("epsilon", _EPSILON))
    return build.Mul(divided(build, total, [rank - 1], epsilon), wide(build, scale)), total


def _multiplied(
    node: NodeView, build: Builder, x: Value, places: tuple[int, int], rows: str, bias: int
) -> Value:
    sizes = (int(node.attr(rows)), int(node.attr("K")), int(node.attr("block_size")))
    bits = int(node.attr("bits", 4))
    weights = read_weights(node, build, (*places, None, None), sizes, bits)
    result, more = build.MatMul(x, np.ascontiguousarray(weights.T)), node.input(bias)
    return result if more is None else build.Add(result, wide(build, more))


def _narrow(node: NodeView, build: Builder, results: Sequence[Value]) -> tuple[Value | None, ...]:
    x = node.need(0)
    return tuple(
        None if old is None or not (old.is_used or not place) else like(build, x, results[place])
        for place, old in enumerate(node.outputs)
    )
