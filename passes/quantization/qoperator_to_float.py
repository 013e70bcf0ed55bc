"""Compute quantized operators in floating point numbers.

What it does: Writes QLinearConv, QLinearMatMul and onnxruntime's QGemm, QLinearAdd, QLinearMul,
    QLinearAveragePool, QLinearGlobalAveragePool, QLinearSoftmax, QLinearLeakyRelu, QLinearSigmoid,
    QLinearConcat and QLinearWhere on float32 numbers that hold the same integers, and casts the
    result to 8 bits. Casts there and back between two of them go by byte-round-trip-elimination.
Why engines need it: TensorRT has no importer for QLinear operators, and no zero points other than
    0.
Before: r = QLinearConv (q, 0.1, 3, w, 0.2, 0, 0.5, 7)
After:
    sum = Conv (Sub (Cast <to = 1> (q), 3), w)           # integers
    r = Cast <to = 3> (Clip (Add (Round (Mul (sum, 0.04)), 7), -128, 127))
When it refuses: The channels of a QLinearConv or a rank that is needed are unknown; scales differ
    by row; a scale or zero point of what is no product is computed at run time; a sum over a single
    channel may be 2**24, up to which float32 holds every integer. Longer sums are cut in pieces
    that float32 holds, and added as int32. An infinite scale, of what is no sum, product, part or
    softmax of bytes.
Accuracy: Exact for products, QLinearMul, QLinearGlobalAveragePool, QLinearLeakyRelu,
    QLinearSigmoid, QLinearConcat and QLinearWhere: sums are integers, and they are scaled and
    rounded in the order in which onnxruntime does. QLinearAdd is exact where fusing a product with
    its sum changes none of the results that there can be, which is tried for every pair of bytes;
    QLinearAveragePool where the places of its window, at most 64, can be added in the kernel's
    order. Else they are approximate, as is QLinearSoftmax: where a quotient is next to a half, a
    result may be one step of quantization away. Sums and products that int32 does not hold become
    the least byte, as onnxruntime has it on x86-64: ARM has the greatest. The option `rounded`
    takes AveragePool for the mean, which is cheaper.
References: https://onnx.ai/onnx/operators/onnx__QLinearConv.html, onnx__QLinearMatMul.html;
    microsoft/onnxruntime docs/ContribOperators.md, onnxruntime/core/mlas/lib/quantize.cpp,
    onnxruntime/contrib_ops/cpu/quantization
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._qoperators import OPERATORS, OPTIONS, WRITTEN, infer, write


@rewrite(
    OPERATORS,
    removes=(
        *(f"op:{op}" for op in OPERATORS),
        *(f"dtype:{op}.int8" for op in ("QLinearConv", "QLinearMatMul")),
    ),
    emits=WRITTEN,
    infer=infer,
    options=OPTIONS,
)
def qoperator_to_float(node: NodeView, build: Builder) -> Value:
    """Compute in float32 and cast the result, see the module."""
    return write(node, build)
