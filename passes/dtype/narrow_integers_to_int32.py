"""Compute in int32 what stands between nodes as 8 or 16 bit integers.

What it does:
    Where such a tensor ends, in a Cast, a comparison or a graph output, the computation of it is
    written anew in int32: data is moved as int32, sums and products wrap around as before, and
    what the model gives out is cast back.

Why engines need it:
    TensorRT takes uint8 from 8.5 on, as input and output alone ("TensorRT does not support UINT8
    types for intermediate tensors!"), and has no other narrow integers.

Before:
    q = Cast <to = 2> (x)              # uint8
    r = Transpose (q)
    y = Cast <to = 1> (r)

After:
    q = Mod (Cast <to = 6> (x), 256)
    r = Transpose (q)
    y = Cast <to = 1> (r)

When it refuses:
    The computation has an operator that is not listed here; a product of uint16, which needs more
    than 31 bits.

Accuracy:
    Exact: int32 holds every value, and what would wrap around is taken modulo its range. Floats
    outside the range have no defined result before, and another one after.

References:
    ModelImporter.cpp:243 of onnx-tensorrt, release 8.6; NvInfer.h 8.6.1, DataType::kUINT8;
    NVIDIA/TensorRT issues 1775, 2809
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import graph_pass
from graphfix.authoring.editing import Editor
from graphfix.authoring.refusing import Refuse
from graphfix.authoring.views import NodeView, Value
from graphfix.report import EXACT

_NARROW = (TensorProto.UINT8, TensorProto.UINT16, TensorProto.INT16)
_NAMES = ("uint8", "uint16", "int16")
# Operators that move data -> the inputs that are data; None for all.
_MOVES: dict[str, tuple[int, ...] | None] = {
    **dict.fromkeys(
        (
            "Compress",
            "DepthToSpace",
            "Expand",
            "Flatten",
            "Gather",
            "GatherElements",
            "GatherND",
            "Identity",
            "Pad",
            "ReduceMax",
            "ReduceMin",
            "Reshape",
            "ReverseSequence",
            "Slice",
            "SpaceToDepth",
            "Squeeze",
            "Tile",
            "Transpose",
            "Trilu",
            "Unsqueeze",
        ),
        (0,),
    ),
    **dict.fromkeys(("ScatterElements", "ScatterND"), (0, 2)),
    **dict.fromkeys(("Concat", "Max", "Min"), None),
    "Where": (1, 2),
}
_ARITHMETIC = ("Add", "Div", "Mod", "Mul", "Sub")
_WRAPPING = ("Add", "Mul", "Sub")
# Operators where a narrow tensor ends -> the inputs that are narrow.
_ENDS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("ArgMax", "ArgMin", "Cast", "Shape", "Size"), (0,)),
    **dict.fromkeys(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"), (0, 1)),
}
_TOUCHED = (*_MOVES, *_ARITHMETIC, *_ENDS)
_DEPTH = 64


@graph_pass(
    removes=(
        *(f"dtype:{name}" for name in _NAMES),
        *tuple(f"dtype:{op}.{name}" for op in _TOUCHED for name in _NAMES),
    ),
    emits=_TOUCHED,
    accuracy=EXACT,
)
def narrow_integers_to_int32(editor: Editor) -> None:
    """Look at every node where a narrow tensor ends."""
    for graph in editor.graphs():
        for view in editor.nodes(graph):
            output = view.output(0)
            if view.domain or output is None:
                continue
            if view.op in _ENDS and output.elem_type not in _NARROW:
                narrow = [v for i in _ENDS[view.op] if (v := view.input(i)) and _is_narrow(v)]
                plain = view.op == "Cast" and all(v.producer is None for v in narrow)
                if narrow and not plain:
                    editor.replace(view, _ending(view))
            elif output.is_graph_output and _is_narrow(output) and view.op != "Cast":
                editor.replace(view, _given_out(view, output))


def _is_narrow(value: Value) -> bool:
    return value.elem_type in _NARROW


def _ending(view: NodeView) -> Callable[[Builder], Value]:
    def make(build: Builder) -> Value:
        operands = [view.need(index) for index in range(len(view.inputs))]
        for index in _ENDS[view.op]:
            operands[index] = _wide(operands[index], build, 0)
        attributes = {name: view.attr(name) for name in view.attributes}
        return build.multi(view.op, *operands, **attributes)[0]

    return make


def _given_out(view: NodeView, output: Value) -> Callable[[Builder], Value]:
    def make(build: Builder) -> Value:
        return build.Cast(_computed(view, output, build, 0), to=output.elem_type)

    return make


def _wide(value: Value, build: Builder, depth: int) -> Value:
    """Return a narrow value as int32.

    Raises:
        Refuse: Something that is not listed computes it.
    """
    known = build.const(value)
    if known is not None:
        return build.constant(known.astype(np.int32))
    maker = value.producer
    if maker is None:
        return build.Cast(value, to=TensorProto.INT32)
    if depth > _DEPTH:
        raise Refuse("the computation is too long")
    return _computed(maker, value, build, depth)


def _computed(maker: NodeView, value: Value, build: Builder, depth: int) -> Value:
    if maker.domain or len([o for o in maker.outputs if o is not None]) != 1:
        raise Refuse(f"{maker.op} computes {value.name}")
    if maker.op == "Cast":
        return _cast(maker.need(0), value, build, depth)
    operands = [maker.input(index) for index in range(len(maker.inputs))]
    attributes = {name: maker.attr(name) for name in maker.attributes}
    if maker.op not in _MOVES and maker.op not in _ARITHMETIC:
        raise Refuse(f"{maker.op} computes {value.name}")
    if attributes.get("reduction", b"none") not in (b"none", "none"):
        raise Refuse(f"{maker.op} reduces as {value.type_name}")
    places = _MOVES.get(maker.op)
    for place, operand in enumerate(operands):
        if operand is not None and (places is None or place in places):
            operands[place] = _wide(operand, build, depth + 1)
    if maker.op == "Pad" and len(operands) > 2 and (fill := operands[2]) is not None:
        operands[2] = _wide(fill, build, depth + 1)
    if maker.op == "Mul" and value.elem_type == TensorProto.UINT16:
        raise Refuse("a product of uint16 does not fit into int32")
    result = build.multi(maker.op, *operands, **attributes)[0]
    return _wrapped(result, value, build) if maker.op in _WRAPPING else result


def _cast(source: Value, value: Value, build: Builder, depth: int) -> Value:
    if source.elem_type == value.elem_type:
        return _wide(source, build, depth + 1)
    if _is_narrow(source):
        wide = _wide(source, build, depth + 1)
        fits = source.elem_type == TensorProto.UINT8
        return wide if fits else _wrapped(wide, value, build)
    wide = build.Cast(source, to=TensorProto.INT32)
    return wide if source.elem_type == TensorProto.BOOL else _wrapped(wide, value, build)


def _wrapped(wide: Value, value: Value, build: Builder) -> Value:
    """Take int32 modulo the range of a narrow type."""
    if value.elem_type == TensorProto.UINT8:
        return build.Mod(wide, np.int32(1 << 8))
    if value.elem_type == TensorProto.UINT16:
        return build.Mod(wide, np.int32(1 << 16))
    half = np.int32(1 << 15)
    return build.Sub(build.Mod(build.Add(wide, half), np.int32(1 << 16)), half)
