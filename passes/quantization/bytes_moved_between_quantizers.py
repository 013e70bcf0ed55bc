"""Move bytes about as floats between DequantizeLinear and QuantizeLinear, by consent.

What it does: A Transpose, Reshape, Slice or another operator that gives the bytes that it got, all
    of which are dequantized then, gets them dequantized by the same scale and zero point, and what
    it gives is quantized again.
Why engines need it: QNN moves bytes about where it sees both quantizers, and has no such operators
    of bytes alone. It runs with --allow-lossy alone, as what keeps products in 8 bits does.
Before: y = DequantizeLinear (Transpose (q), 0.1, 3)
After:
    r = QuantizeLinear (Transpose (DequantizeLinear (q, 0.1, 3)), 0.1, 3)
    y = DequantizeLinear (r, 0.1, 3)
When it refuses: Something else reads the bytes, or their scales and zero points differ, are
    several or computed at run time, or the scale is not float32 or so small or large that bytes
    times it are no normal numbers; a Pad, Resize by cubic functions, or other operands of bytes.
Accuracy: Exact: a byte less its zero point, times a normal scale and divided by it, is at most one
    rounding from an integer, and rounded to it. Lossy for Resize by linear functions: kernels cut
    off the fractions of bytes that are rounded here, so that an element may be one step away.
References: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html; onnxruntime,
    docs/execution-providers/QNN-ExecutionProvider.md
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    BYTE_MOVES,
    INTEGERS,
    LOSSY,
    Builder,
    NodeView,
    Refuse,
    Value,
    moved_inputs,
    rewrite,
)

_BYTES = (TensorProto.INT8, TensorProto.UINT8)
_MOVES = tuple(op for op in BYTE_MOVES if op not in ("Pad", "Where"))
_WIDEST = 255  # a byte less a zero point


@rewrite(
    _MOVES,
    removes=tuple(f"dtype:{op}.{kind}" for op in _MOVES for kind in ("int8", "uint8")),
    emits=("DequantizeLinear", "QuantizeLinear", *_MOVES),
    stage=INTEGERS,
    since=10,
)
def bytes_moved_between_quantizers(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Dequantize, move and quantize, see the module."""
    places, results = moved_inputs(node.node), node.outputs
    if node.op == "Resize" and node.attr("mode", "nearest") == "linear":
        places = (0,)
        build.declare(LOSSY, "interpolated elements may be one step of their scale away")
    given = [node.input(place) for place in places]
    if not places or any(x is None or x.elem_type not in _BYTES for x in given):
        raise Refuse("the node must move bytes about; it does not")
    readers = [r for y in results if y is not None for r in y.consumers]
    ends = any(y is not None and y.is_graph_output for y in results)
    if ends or not readers or any(r.op != "DequantizeLinear" or r.domain for r in readers):
        raise Refuse("the bytes must go to DequantizeLinear alone; they do not")
    scale, zero = _parameters(readers, build)
    kind = node.need(places[0]).elem_type

    def real(x: Value) -> Value:
        return build.DequantizeLinear(x, scale, zero)

    operands = [
        real(x) if at in places and x is not None else x for at, x in enumerate(node.inputs)
    ]
    moved = build.multi(node.op, *operands, outputs=len(results), **node.written())
    if zero.dtype != (np.int8 if kind == TensorProto.INT8 else np.uint8):
        raise Refuse("the zero point must be of the type of the bytes; it is not")
    return tuple(
        None if y is None else build.QuantizeLinear(new, scale, zero)
        for y, new in zip(results, moved, strict=True)
    )


def _parameters(readers: list[NodeView], build: Builder) -> tuple[np.ndarray, np.ndarray]:
    """Return the one scale and zero point of all readers."""
    found = [
        (build.need_const(r.need(1), "the scale"), build.need_const(r.need(2), "the zero point"))
        for r in readers
    ]
    scale, zero = found[0]
    if scale.size != 1 or zero.size != 1 or scale.dtype != np.float32:
        raise Refuse("one float32 scale and one zero point must be given; they are not")
    if any(not np.array_equal(a, scale) or not np.array_equal(b, zero) for a, b in found):
        raise Refuse("all readers must have the same scale and zero point; they have not")
    least, most = np.finfo(np.float32).tiny, np.finfo(np.float32).max / _WIDEST
    if not least <= float(scale.reshape(-1)[0]) <= most:
        raise Refuse("bytes times the scale must be normal numbers; they are not")
    return scale.reshape(()), zero.reshape(())
