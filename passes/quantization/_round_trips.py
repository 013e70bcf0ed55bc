"""Reading integers as they were before a cast to 8 bits."""

from functools import partial

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Editor, NodeView, Value, is_stepped, moved_inputs

from ._reading import RANGES, spread

_WIDER = (TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64, TensorProto.DOUBLE)
_BYTES = (TensorProto.INT8, TensorProto.UINT8)
_DEPTH = 16


def leave_out_round_trips(editor: Editor) -> None:
    """Look at every reader of what a graph pass has made so far, and at every other node."""
    edits = [recorded.edit for recorded in editor.recorded if recorded.edit is not None]
    readers = [NodeView(node) for edit in edits for node in edit.added]
    for graph in editor.graphs() if edits else ():
        readers.extend(editor.nodes(graph))
    for view in readers:
        if reads_round_trip(view):
            editor.replace(view, partial(without_round_trip, view))


def reads_round_trip(view: NodeView) -> bool:
    """Say whether a node casts or dequantizes bytes that were integers in floats before."""
    if view.domain or view.op not in ("Cast", "DequantizeLinear"):
        return False
    value = view.input(0)
    if value is None or value.elem_type not in _BYTES or not _reaches(value, _DEPTH):
        return False
    if view.op == "Cast":
        return view.node.attrs.get("to") in _WIDER
    scale, zero = view.input(1), view.input(2)
    plain = view.node.attrs.get("block_size", 0) == 0 and scale is not None
    return (
        plain
        and scale is not None
        and scale.elem_type == TensorProto.FLOAT
        and scale.is_constant
        and (zero is None or zero.is_constant)
        and view.node.attrs.get("output_dtype", 0) in (0, TensorProto.FLOAT)
    )


def _reaches(value: Value, depth: int) -> bool:
    """Say whether what is after some moves of bytes is a cast of integers."""
    maker = value.producer
    if maker is None or maker.domain or not depth or value.elem_type not in _BYTES:
        return False
    if maker.op == "Cast":
        source = maker.input(0)
        return source is not None and is_stepped(source.tensor, RANGES[value.elem_type])
    places = moved_inputs(maker.node)
    operands = [maker.input(place) for place in places]
    late = [x for x in operands if x is not None and not x.is_constant]
    return bool(late) and all(_reaches(x, depth - 1) for x in late)


def without_round_trip(view: NodeView, build: Builder) -> Value:
    """Return what such a node gives, from the numbers as they were."""
    value = view.need(0)
    number = _floating(value, build)
    if view.op == "Cast":
        to = int(view.attr("to"))
        return number if to == TensorProto.FLOAT else build.Cast(number, to=to)
    axis, rank = int(view.attr("axis", 1)), value.rank
    scale = build.need_const(view.need(1), "the scale")
    if view.input(2) is not None:
        zero = build.need_const(view.need(2), "the zero point").astype(np.float32)
        if zero.any():
            number = build.Sub(number, spread(zero, rank, axis))
    return build.Mul(number, spread(scale, rank, axis))


def _floating(value: Value, build: Builder) -> Value:
    known = build.const(value)
    if known is not None:
        return build.constant(known.astype(np.float32))
    maker = value.producer
    assert maker is not None
    if maker.op == "Cast":
        return maker.need(0)
    places = moved_inputs(maker.node)
    operands = [
        _floating(x, build) if x is not None and place in places else x
        for place, x in enumerate(maker.inputs)
    ]
    attributes = {name: maker.attr(name) for name in maker.attributes}
    results = build.multi(maker.op, *operands, outputs=len(maker.outputs), **attributes)
    at = next(i for i, t in enumerate(maker.node.outputs) if t is value.tensor)
    return results[at]
