"""Quantize by arithmetic in the range that the numbers have.

What it does: Writes DynamicQuantizeLinear as the least and greatest number, the scale and zero
    point that follow from them, and the numbers divided, rounded and limited. What reads the bytes
    as numbers reads these in float32.
Why engines need it: TensorRT has no DynamicQuantizeLinear, and no uint8 inside of a graph.
Before: q, scale, zero = DynamicQuantizeLinear (x)
After:
    low = Min (ReduceMin (x), 0)
    width = Sub (Max (ReduceMax (x), 0), low)
    scale = Where (Equal (width, 0), 1, Div (width, 255))
    zero = Cast <to = 2> (Clip (Add (Round (Clip (Div (Neg (low), scale), 0, 255)), 0), 0, 255))
    q = Cast <to = 2> (Clip (Add (Round (Div (x, scale)), zero), 0, 255))
When it refuses: The numbers are not float32, or their rank is unknown.
Accuracy: Exact: the order of onnxruntime, which rounds halves to the even neighbour. NaN and
    infinite numbers, for which there is no scale, are left open.
References: https://onnx.ai/onnx/operators/onnx__DynamicQuantizeLinear.html; microsoft/onnxruntime
    onnxruntime/core/providers/cpu/quantization/dynamicquantizelinear.cc,
    onnxruntime/core/util/qmath.h
"""

from functools import partial

from onnx import TensorProto

from graphfix.authoring import (
    BYTE_MOVES,
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    graph_pass,
    need_rank,
)

from ._ranging import RANGING_EMITS, ranged
from ._round_trips import leave_out_round_trips

_OP = "DynamicQuantizeLinear"


@graph_pass(removes=f"op:{_OP}", emits=(*RANGING_EMITS, *BYTE_MOVES))
def dynamic_quantize_to_arithmetic(editor: Editor) -> None:
    """Look at every DynamicQuantizeLinear, then at what reads what it gave."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            if view.op == _OP and not view.domain:
                editor.replace(view, partial(_written, view))
    leave_out_round_trips(editor)


def _written(view: NodeView, build: Builder) -> tuple[Value | None, ...]:
    x = view.need(0)
    if x.elem_type != TensorProto.FLOAT:
        raise Refuse(f"{x.name} must be float32; it is {x.type_name}")
    need_rank(x)
    steps, scale, zero = ranged(build, x)
    kind = TensorProto.UINT8
    return (build.Cast(steps, to=kind), scale, build.Cast(zero, to=kind))
