"""Cast bytes before they are moved.

What it does: Where uint8 passes through Slice, Gather, Reshape and their like to a Cast, the bytes
    are cast to int32 before that, moved as int32, and cast to the wanted type after.
Why engines need it: TensorRT before 10.0 has no uint8 inside of a graph, and later ones move it in
    few operators.
Before: y = Cast <to = bool> (Slice (bytes, ...))
After: y = Cast <to = bool> (Slice (Cast <to = int32> (bytes), ...))
When it refuses: It leaves alone what is used in other ways than by such operators and Cast.
Accuracy: Exact: int32 holds every byte.
References: https://onnx.ai/onnx/operators/onnx__Cast.html; onnx/onnx-tensorrt 10.1
    docs/operators.md (Slice, Gather)
"""

from functools import partial

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Editor, NodeView, Value, graph_pass

_MOVES = (
    "Concat",
    "Expand",
    "Flatten",
    "Gather",
    "Identity",
    "Reshape",
    "Slice",
    "Squeeze",
    "Tile",
    "Transpose",
    "Unsqueeze",
)
_DEPTH = 64


@graph_pass(
    removes=(*(f"dtype:{op}.uint8" for op in _MOVES), "dtype:uint8"), emits=(*_MOVES, "Cast")
)
def bytes_cast_early(editor: Editor) -> None:
    """Look at every Cast of bytes."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            if view.op != "Cast" or view.domain or not _is_moved(view.input(0)):
                continue
            editor.replace(view, partial(_moved, view))


def _is_moved(value: Value | None) -> bool:
    if value is None or value.elem_type != TensorProto.UINT8 or value.is_constant:
        return False
    maker = value.producer
    return maker is not None and not maker.domain and maker.op in _MOVES


def _moved(view: NodeView, build: Builder) -> Value:
    return build.Cast(_wide(view.need(0), build, _DEPTH), to=int(view.attr("to")))


def _wide(value: Value, build: Builder, depth: int) -> Value:
    known = build.const(value)
    if known is not None:
        return build.constant(known.astype(np.int32))
    maker = value.producer
    if not depth or maker is None or not _is_moved(value):
        return build.Cast(value, to=TensorProto.INT32)
    count = len(maker.inputs) if maker.op == "Concat" else 1
    operands = [
        _wide(operand, build, depth - 1) if operand is not None and place < count else operand
        for place, operand in enumerate(maker.inputs)
    ]
    attributes = {name: maker.attr(name) for name in maker.attributes}
    return build.multi(maker.op, *operands, outputs=1, **attributes)[0]
