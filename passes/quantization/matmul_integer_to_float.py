"""Take MatMulIntegerToFloat apart.

What it does: Multiplies integers, turns the sums into float32, multiplies by both scales, and
    adds the bias where there is one.
Why engines need it: It is an operator of onnxruntime's optimiser for dynamic quantization; other
    engines do not know it.
Before: y = com.microsoft.MatMulIntegerToFloat (a, b, a_scale, b_scale, a_zero, b_zero, bias)
After: y = Add (Mul (Cast (MatMulInteger (a, b, a_zero, b_zero)), Mul (a_scale, b_scale)), bias)
When it refuses: The opset has no MatMulInteger.
Accuracy: Exact up to rounding: the sums are whole.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.MatMulIntegerToFloat;
    onnxruntime/contrib_ops/cpu/quantization/dynamic_quantize_matmul.cc
"""

from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Value, rewrite

_NAME = "com.microsoft::MatMulIntegerToFloat"


@rewrite(_NAME, emits="Add Cast MatMulInteger Mul")
def matmul_integer_to_float(node: NodeView, build: Builder) -> Value:
    """Multiply integers and scale, see the module."""
    product = build.MatMulInteger(node.need(0), node.need(1), node.input(4), node.input(5))
    scale = build.Mul(node.need(2), node.need(3))
    real, bias = build.Mul(build.Cast(product, to=TensorProto.FLOAT), scale), node.input(6)
    return real if bias is None else build.Add(real, bias)
