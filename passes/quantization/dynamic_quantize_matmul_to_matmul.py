"""Take DynamicQuantizeMatMul apart.

What it does: Quantizes the first operand by the range of its values, multiplies float32 numbers
    that hold the same integers, and multiplies the sums by both scales.
Why engines need it: It is an operator of onnxruntime's optimiser for dynamic quantization; other
    engines do not know it.
Before: y = com.microsoft.DynamicQuantizeMatMul (x, w, scale, zero, bias)
After:
    q, s, z = ...                          # as DynamicQuantizeLinear (x), in float32
    y = Add (Mul (MatMul (Sub (q, z), w less its zero points), Mul (s, scale)), bias)
When it refuses: The first operand is not float32, a rank is unknown, or a sum over a single place
    may be 2**24, up to which float32 holds every integer.
Accuracy: Exact up to rounding: the sums are whole, whatever their order; where the number of
    products is open and the weights are computed, up to 4,112 of them. Where a number lies next
    to the middle between two steps, it may be taken to the other one, as on every processor.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.DynamicQuantizeMatMul;
    onnxruntime/contrib_ops/cpu/quantization/dynamic_quantize_matmul.cc
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._parameters import zero_at
from ._products import Operand, operand
from ._qproducts import multiplied
from ._ranging import RANGING_EMITS, ranged

_NAME = "com.microsoft::DynamicQuantizeMatMul"
_LARGEST = 255


@rewrite(_NAME, emits=(*RANGING_EMITS, "MatMul Slice"))
def dynamic_quantize_matmul_to_matmul(node: NodeView, build: Builder) -> Value:
    """Quantize, multiply and scale, see the module."""
    x, weights, bias = node.need(0), node.need(1), node.input(4)
    if x.elem_type != TensorProto.FLOAT:
        raise Refuse(f"{x.name} must be float32; it is {x.type_name}")
    if not x.rank or weights.rank != 2:
        raise Refuse(f"the ranks must be known, and that of {weights.name} be 2")
    steps, scale, zero = ranged(build, x)
    left = Operand(build.Sub(steps, zero), None, _LARGEST)
    right = operand(build, weights, zero_at(node, build, 3), axis=1)
    total = multiplied(build, left, right, weights.dim(0), None)
    real = build.Mul(total, build.Mul(scale, node.need(2)))
    return real if bias is None else build.Add(real, bias)
