"""Keep what follows a product or a reduction apart from it, where an engine fuses it wrongly.

What it does: Reads the result of the node through a Max with itself, which gives the same values.
Why engines need it: OpenVINO fuses operators of single elements with a product, a reduction or a
    Resize before them, and refuses more than 32: "could not append an elementwise post-op".
    Quantization to 16 bits around each operator makes such chains. With a reduction of three axes
    it fuses constants along axis 1 as if they were along another. It fuses none past Max.
Before: y = Relu (... Sigmoid (MatMul (x, w)))                              # 33 of them
After: p = MatMul (x, w); y = Relu (... Sigmoid (Max (p, p)))
When it refuses: The operand is not known to be of floating point numbers; a Max of the result with
    itself is read already.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Max.html; oneDNN, src/common/primitive_attr.hpp;
    OpenVINO 2026.4.1, measured
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_FLOATS = ("float16", "float32", "float64")


@rewrite(
    (
        *("Conv", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "MatMul", "ReduceL1", "ReduceL2"),
        *("ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
        "Resize",
    ),
    removes=(
        "form:Conv.long-chain form:Gemm.long-chain form:GlobalAveragePool.long-chain "
        "form:GlobalMaxPool.long-chain form:MatMul.long-chain form:ReduceL2.long-chain "
        "form:ReduceMax.long-chain form:ReduceMean.long-chain form:ReduceMin.long-chain "
        "form:ReduceProd.long-chain form:ReduceSum.long-chain form:Resize.long-chain "
        "form:ReduceL1.fused-channels form:ReduceSumSquare.fused-channels "
        "form:ReduceL2.fused-channels form:ReduceMax.fused-channels "
        "form:ReduceMean.fused-channels form:ReduceMin.fused-channels "
        "form:ReduceProd.fused-channels form:ReduceSum.fused-channels"
    ),
    emits=(
        "Conv Gemm GlobalAveragePool GlobalMaxPool MatMul Max ReduceL1 ReduceL2 ReduceMax "
        "ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Resize"
    ),
    claims="nan inf",
)
def long_chain_apart(node: NodeView, build: Builder) -> Value:
    """Compare the result with itself, see the module."""
    x = node.need(0)
    if x.type_name not in _FLOATS:
        raise Refuse(f"the operand must be a float; its type is {x.type_name}")
    read = node.output(0)
    if read is not None and any(
        one.op == "Max" and set(one.inputs) == {read} for one in read.consumers
    ):
        raise Refuse("the result must be read as it is; a Max of it is read already")
    (result, *_) = respell(node, build)
    assert result is not None  # each has one result
    return build.Max(result, result)
