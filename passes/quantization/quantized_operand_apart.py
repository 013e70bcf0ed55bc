"""Compute what reads a quantized tensor in floating point numbers."""

from typing import Any

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_FLOATS = ("float16", "float32", "float64")
_NORMALIZED = {
    "GroupNormalization": "X",
    "InstanceNormalization": "input",
    "LayerNormalization": "X",
}


@rewrite(
    ("ReduceMean", "ReduceSum"),
    removes=(
        "form:ReduceMean.quantized-middle-axis form:ReduceSum.quantized-middle-axis "
        "form:ReduceMean.quantized-steps"
    ),
    emits="Max ReduceMean ReduceSum",
    claims="nan inf",
)
def quantized_reduction_apart(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Reduce what was quantized as floating point numbers.

    What it does: Reads the operand of ReduceSum or ReduceMean through a Max with itself, which
        gives the same values.
    Why engines need it: OpenVINO moves the scale of DequantizeLinear past the reduction, which then
        sums up bytes; over the middle of three axes it leaves every batch after the first at 0. A
        mean, and a difference from it that is divided by its deviation, are a normalization for it,
        past which it moves the scale and leaves epsilon as it is. It moves no scale past Max.
    Before: y = ReduceMean <axes = [1]> (DequantizeLinear (q, 0.1, 0))
    After: d = DequantizeLinear (q, 0.1, 0); y = ReduceMean <axes = [1]> (Max (d, d))
    When it refuses: The operand is not known to be of floating point numbers.
    Accuracy: Exact.
    References: https://onnx.ai/onnx/operators/onnx__Max.html; OpenVINO 2026.4.1, measured
    """
    return _apart(node, build, "data")


@rewrite(
    tuple(_NORMALIZED),
    removes=tuple(f"form:{op}.quantized-steps" for op in _NORMALIZED),
    emits=("Max", *_NORMALIZED),
    claims="nan inf",
)
def quantized_normalization_apart(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Normalize what was quantized as floating point numbers.

    What it does: Reads the operand of LayerNormalization, InstanceNormalization or
        GroupNormalization through a Max with itself, which gives the same values.
    Why engines need it: OpenVINO moves the scale of DequantizeLinear past the normalization, which
        then adds epsilon to the variance of bytes; it moves no scale past Max.
    Before: y = LayerNormalization (DequantizeLinear (q, 0.001, 0), w)
    After: d = DequantizeLinear (q, 0.001, 0); y = LayerNormalization (Max (d, d), w)
    When it refuses: The operand is not known to be of floating point numbers.
    Accuracy: Exact.
    References: https://onnx.ai/onnx/operators/onnx__Max.html; OpenVINO 2026.4.1, measured
    """
    return _apart(node, build, _NORMALIZED[node.op])


@rewrite(
    "QuantizeLinear",
    removes="form:QuantizeLinear.concatenated",
    emits="Max QuantizeLinear",
    claims="nan inf",
)
def quantized_concat_apart(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Quantize joined tensors after the Concat, not before it.

    What it does: Reads what QuantizeLinear quantizes through a Max with itself, which gives the
        same values.
    Why engines need it: OpenVINO moves the quantization of a Concat, and of a Relu of one, to its
        operands, and crashes where what follows took over the scale. It moves none past Max.
    Before: q = QuantizeLinear (Concat (a, b), 0.1, 3)
    After: c = Concat (a, b); q = QuantizeLinear (Max (c, c), 0.1, 3)
    When it refuses: The operand is not known to be of floating point numbers.
    Accuracy: Exact.
    References: https://onnx.ai/onnx/operators/onnx__Max.html; OpenVINO 2026.4.1, measured
    """
    return _apart(node, build, "x")


def _apart(node: NodeView, build: Builder, name: str) -> tuple[Value | None, ...]:
    x = node.need(0)
    if x.type_name not in _FLOATS:
        raise Refuse(f"the operand must be a float; its type is {x.type_name}")
    maker = x.producer
    if maker is not None and maker.op == "Max" and len(set(maker.inputs)) == 1:
        raise Refuse("the operand must be read as it is; it is a Max of one tensor already")
    changes: dict[str, Any] = {name: build.Max(x, x)}
    return respell(node, build, **changes)
