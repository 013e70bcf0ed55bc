"""Reduce what was quantized as floating point numbers.

What it does: Reads the operand of ReduceSum or ReduceMean through a Max with itself, which gives
    the same values.
Why engines need it: OpenVINO moves the scale of DequantizeLinear past the reduction, which then
    sums up bytes; over the middle of three axes it leaves every batch after the first at 0. It
    moves no scale past Max.
Before: y = ReduceMean <axes = [1]> (DequantizeLinear (q, 0.1, 0))
After: d = DequantizeLinear (q, 0.1, 0); y = ReduceMean <axes = [1]> (Max (d, d))
When it refuses: The operand is not known to be of floating point numbers.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Max.html; OpenVINO 2026.4.1, measured
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_FLOATS = ("float16", "float32", "float64")


@rewrite(
    ("ReduceMean", "ReduceSum"),
    removes="form:ReduceMean.quantized-middle-axis form:ReduceSum.quantized-middle-axis",
    emits="Max ReduceMean ReduceSum",
    claims="nan inf",
)
def quantized_reduction_apart(node: NodeView, build: Builder) -> Value | None:
    """Put the Max before it, see the module."""
    x = node.need(0)
    if x.type_name not in _FLOATS:
        raise Refuse(f"the operand must be a float; its type is {x.type_name}")
    maker = x.producer
    if maker is not None and maker.op == "Max" and len(set(maker.inputs)) == 1:
        return None  # it has one
    (result,) = respell(node, build, data=build.Max(x, x))
    return result
