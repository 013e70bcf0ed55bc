"""Compute in floating point numbers what is quantized to types that an engine does not import.

What it does: A DequantizeLinear of a constant of int4, uint4, uint8, int16, uint16 or float8
    becomes the constant that it gives. One of what QuantizeLinear gave in such a type divides,
    rounds and limits, as dequantize-constant-to-float and quantize-dequantize-to-clip do for bytes.
Why engines need it: TensorRT imports no initializer of uint8 before 8.0, of 4 bits before 10, of
    float8 before 8.6, and none of 16 bits that is an integer: the file is refused as a whole.
Before:
    q = QuantizeLinear (x, scale, zero_point)        # int16
    y = DequantizeLinear (q, scale, zero_point)
After: y = Mul (Add (Clip (Round (Div (x, scale)), -32768, 32767), 0), scale)
When it refuses: A scale or a zero point is computed at run time, or float8 has a zero point or does
    not saturate. What else has such types is left alone.
Accuracy: Exact: float32 holds all of these values, and differences of 16 bits. NaN is left open.
References: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html; convertDtype in
    onnx2trt_utils.cpp of onnx-tensorrt, release 8.6
"""

from functools import partial

from graphfix.authoring import Builder, Editor, NodeView, Option, Value, graph_pass

from ._dequantizing import PAIR_EMITS, constant_as_float, pair_as_floats
from ._reading import NARROW, NARROW_FEATURES


@graph_pass(
    removes=NARROW_FEATURES,
    emits=PAIR_EMITS,
    options={"max_elements": Option(int, 1 << 26, "Larger constants are refused.")},
)
def narrow_quantized_to_float(editor: Editor) -> None:
    """Look at every DequantizeLinear."""
    for graph in editor.graphs():
        for view in editor.nodes(graph, "DequantizeLinear"):
            x = view.input(0)
            if x is not None and x.elem_type in NARROW and not view.domain:
                editor.replace(view, partial(_written, view))


def _written(view: NodeView, build: Builder) -> Value:
    if view.need(0).is_constant:
        return constant_as_float(view, build, build.option("max_elements"))
    return pair_as_floats(view, build)
