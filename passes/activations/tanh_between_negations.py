"""Take the Tanh of the negative number, and negate it again.

What it does: Puts a Neg before and after a Tanh.
Why engines need it: QNN joins a Tanh to the Conv, Gemm or MatMul by weights before it, and is off
    by up to 0.0075 then; a Tanh that is self-contained is off by 0.0004.
Before: y = Tanh (x)
After: y = Neg (Tanh (Neg (x)))
When it refuses: What is given does not come from a Conv, Gemm, MatMul, Add or BatchNormalization.
Accuracy: Exact: Tanh is odd.
References: https://onnx.ai/onnx/operators/onnx__Tanh.html; measured with onnxruntime-qnn 2.7.0
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_JOINED = ("Add", "BatchNormalization", "Conv", "Gemm", "Identity", "MatMul")


@rewrite("Tanh", removes="form:Tanh.of-product", emits="Neg Tanh", since=6, claims="nan inf")
def tanh_between_negations(node: NodeView, build: Builder) -> Value:
    """Negate before and after, see the module."""
    x = node.need(0)
    maker = x.producer
    if maker is None or maker.op not in _JOINED:
        raise Refuse("what is given must come from a product or a sum; it does not")
    return build.Neg(build.Tanh(build.Neg(x)))
