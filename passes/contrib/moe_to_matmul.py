"""Take MoE and QMoE apart.

What it does: Computes every expert for every token, and adds their results with the shares of the
    router, which are 0 for all but the best k. The weights of QMoE are unpacked into floats.
Why engines need it: They are operators of onnxruntime's optimiser for language models; other
    engines do not know them.
Before: y = com.microsoft.MoE <k = 2, activation_type = "relu"> (x, router, w1, b1, w2, b2)
After:
    p = Softmax (router), and 0 for all but the k largest
    h = Relu (Add (MatMul (x, Transpose (w1)), b1))                        # [experts, tokens, I]
    y = ReduceSum (Mul (MatMul (h, Transpose (w2)) + b2, Transpose (p)), 0)
When it refuses: A rank, a dtype or a size is unknown; there is a third product or a sparse mixer;
    the activation is swiglu; weights of QMoE are computed at run time, packed beforehand, of
    another form than integers by row, or have zero points, or the shares of QMoE are not
    normalised, which onnxruntime's kernel for CPUs does all the same.
Accuracy: Exact up to the order of summation: of experts that are equally good the last is taken, as
    onnxruntime does. It computes all experts, where onnxruntime computes k of them.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MoE, com.microsoft.QMoE;
    onnxruntime/contrib_ops/cpu/moe/moe_cpu.cc, moe_quantization_cpu.cc
"""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, like_first, rewrite
from graphfix.authoring.packed_blocks import unpacked

from . import _gelu as gelu
from ._means import like, wide
from ._typing import need_float

_MOE, _QMOE = "com.microsoft::MoE", "com.microsoft::QMoE"
_EMITS = (
    gelu.EMITS,
    "Cast Div Equal Gather MatMul ReduceSum Relu Reshape Shape Softmax TopK Transpose Unsqueeze",
)


@rewrite(_MOE, emits=_EMITS)
def moe_to_matmul(node: NodeView, build: Builder) -> Value:
    """Compute every expert, see the module."""
    if any(node.input(place) is not None for place in (6, 7)):
        raise Refuse("there must be two products for each expert; there are three")
    weights = [build.Transpose(wide(build, node.need(place)), perm=[0, 2, 1]) for place in (2, 4)]
    return _mixed(node, build, weights, (node.input(3), node.input(5)))


@rewrite(_QMOE, emits=_EMITS, infer=like_first)  # what is written reads the weights
def q_moe_to_matmul(node: NodeView, build: Builder) -> Value:
    """Take QMoE apart: every expert, its weights unpacked."""
    if any(node.input(place) is not None for place in range(8, len(node.inputs))):
        raise Refuse(
            "there must be two products for each expert, without zero points and scales of "
            "the activations; there is more"
        )
    if int(node.attr("block_size", 0)) > 0 or int(node.attr("weights_prepacked", 0)) > 0:
        raise Refuse("the weights must be scaled by row and not packed beforehand; they are")
    if str(node.attr("quant_type", "int")) != "int":
        raise Refuse(f"the weights must be integers; they are {node.attr('quant_type')}")
    if not int(node.attr("normalize_routing_weights", 0)):
        raise Refuse(
            "normalize_routing_weights must be 1: onnxruntime's kernel for CPUs takes it for 1 "
            "whatever it says, and its schema does not; set it to 1 if that kernel is what counts"
        )
    bits = int(node.attr("expert_weight_bits", 4))
    weights = [
        build.constant(_unpacked(node, build, place, bits).transpose(0, 2, 1).copy())
        for place in (2, 5)
    ]
    return _mixed(node, build, weights, (node.input(4), node.input(7)))


def _unpacked(node: NodeView, build: Builder, place: int, bits: int) -> Array:
    data = build.need_const(node.need(place), "the weights")
    scales = build.need_const(node.need(place + 1), "the scales").astype(np.float32)
    if bits not in (4, 8) or data.dtype != np.uint8 or data.ndim != 3:
        raise Refuse(f"the weights must be bytes of 4 or 8 bits; they are of {bits}")
    if scales.shape != data.shape[:2]:
        raise Refuse("there must be one scale for each row; there are others")
    numbers = unpacked(data, bits) - (1 << (bits - 1))
    return numbers.astype(np.float32) * scales[:, :, None]


def _mixed(
    node: NodeView,
    build: Builder,
    weights: Sequence[Value],
    biases: tuple[Value | None, Value | None],
) -> Value:
    x = node.need(0)
    need_float(x)
    hidden = x.dim(-1) if x.rank else None
    if x.rank not in (2, 3) or not hidden:
        raise Refuse(f"the rank of {x.name} must be 2 or 3 and its last size known")
    if int(node.attr("use_sparse_mixer", 0)):
        raise Refuse("the router must take the best k; it is a sparse mixer")
    tokens = wide(build, x)
    if x.rank == 3:
        tokens = build.Reshape(tokens, np.array([-1, hidden]))
    shares = _shares(node, build)
    value = build.Unsqueeze(tokens, axes=[0])
    for place, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        value = build.MatMul(value, weight)
        if bias is not None:
            value = build.Add(value, build.Unsqueeze(wide(build, bias), axes=[1]))
        value = value if place else _activated(node, build, value)
    each = build.Unsqueeze(build.Transpose(shares, perm=[1, 0]), axes=[2])
    total = build.ReduceSum(build.Mul(value, each), axes=[0], keepdims=0)
    if x.rank == 3:
        total = build.Reshape(total, build.Shape(x))
    return like(build, x, total)


def _activated(node: NodeView, build: Builder, value: Value) -> Value:
    name = str(node.attr("activation_type", "relu"))
    match name:
        case "relu":
            return build.Relu(value)
        case "gelu":
            return gelu.by_tanh(build, value)
        case "silu":
            return gelu.silu(build, value)
        case "identity":
            return value
        case _:
            raise Refuse(f"the activation must be relu, gelu, silu or identity; it is {name}")


def _shares(node: NodeView, build: Builder) -> Value:
    """Return the shares of the experts, [tokens, experts]."""
    router = node.need(1)
    experts, best = (router.dim(1) if router.rank == 2 else None), int(node.attr("k", 1))
    if not experts or not 0 < best <= experts:
        raise Refuse(f"the number of experts must be known and at least {best}; it is {experts}")
    # Of experts that are equally good, the last is taken: TopK takes the first.
    back = np.arange(experts, dtype=np.int64)[::-1].copy()
    logits = build.Gather(wide(build, router), build.constant(back), axis=1)
    quantized = node.op == "QMoE"  # whose best are those of the logits, before the softmax
    scores = logits if quantized else build.Softmax(logits, axis=1)
    shares, index = build.multi("TopK", scores, np.array([best]), outputs=2, axis=1)
    if quantized:
        shares = build.Softmax(shares, axis=1)
    elif int(node.attr("normalize_routing_weights", 0)):
        shares = build.Div(shares, build.ReduceSum(shares, axes=[1], keepdims=1))
    numbers = build.constant(back[None, None, :])
    same = build.Equal(build.Unsqueeze(index, axes=[2]), numbers)
    flags = build.Cast(same, to=TensorProto.FLOAT)
    return build.ReduceSum(
        build.Mul(flags, build.Unsqueeze(shares, axes=[2])), axes=[1], keepdims=0
    )
