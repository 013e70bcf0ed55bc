"""Compute on bytes of quantized models in floating point numbers, all of them at once.

What it does: Rewrites quantized operators of uint8, and the QuantizeLinear before them, as
    qoperator-to-float and quantize-to-arithmetic do for int8, one by one with casts in between, and
    then leaves out the casts as byte-round-trip-elimination does.
Why engines need it: TensorRT has no uint8 inside of a graph. What a single operator becomes gives
    uint8 as well, so only all of them together leave none.
Before:
    q = QuantizeLinear (x, 0.1, 128)
    r = QLinearConv (q, 0.1, 128, w, 0.2, 0, 0.5, 7)
After:
    q = Clip (Add (Round (Div (x, 0.1)), 128), 0, 255)
    r = Cast <to = 2> (Clip (Add (Round (Mul (Conv (Sub (q, 128), w), 0.04)), 7), 0, 255))
When it refuses: What these two refuse. What gives no uint8 is left alone.
Accuracy: That of qoperator-to-float. A NaN that is quantized stays NaN, where QuantizeLinear makes
    a number of it.
References: ModelImporter.cpp:243 of onnx-tensorrt, release 8.6 (uint8); those of qoperator-to-float
"""

from functools import partial

from onnx import TensorProto

from graphfix.authoring import BYTE_MOVES, Editor, NodeView, graph_pass

from ._qoperators import OPTIONS, WRITTEN, is_quantized_operator, write
from ._quantizing import quantized
from ._round_trips import leave_out_round_trips


@graph_pass(
    removes=(
        "attr:QuantizeLinear.zero_point dtype:QuantizeLinear.uint8 dtype:uint8 op:QLinearConv "
        "op:QLinearMatMul"
    ),
    emits=(*WRITTEN, *BYTE_MOVES),
    options=OPTIONS,
)
def bytes_to_whole_floats(editor: Editor) -> None:
    """Look at every node that gives uint8, then at every one that reads what these gave."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            if not _gives_bytes(view):
                continue
            if is_quantized_operator(view):
                editor.replace(view, partial(write, view))
            elif view.op == "QuantizeLinear" and not view.domain and _is_read_by_others(view):
                editor.replace(view, partial(quantized, view))
    leave_out_round_trips(editor)


def _gives_bytes(view: NodeView) -> bool:
    result = view.output(0)
    return result is not None and result.elem_type == TensorProto.UINT8


def _is_read_by_others(view: NodeView) -> bool:
    result = view.output(0)
    readers = () if result is None else result.consumers
    return any(reader.op != "DequantizeLinear" for reader in readers)
