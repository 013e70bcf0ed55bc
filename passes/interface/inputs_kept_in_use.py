"""Let an output hang on an input that nothing reads.

What it does:
    Compares one element of the input with itself, s < s, which is false whatever it is, and adds
    the 0 that this is as a number to an output.

Why engines need it:
    OpenCV 4 refuses to run a net one of whose inputs no layer reads: "inputs.size() ==
    requiredOutputs in function 'getMemoryShapes'". Inputs that only give a shape become such ones
    where that shape is folded.

Before:
    y = Relu (x)                     # the model has an input u: float[2, 5], too

After:
    r = Relu (x)
    s = Reshape (Slice (u, [0, 0], [1, 1], [0, 1]), [1, 1])
    y = Add (r, Cast <to = 1> (Less (s, s)))

When it refuses:
    A size of the input is not known, or it is empty; no output is computed in the main graph as
    floats or integers of known rank.

Accuracy:
    Exact: nothing is less than itself, NaN neither, and adding 0 changes no number.

References:
    opencv/opencv 4.10.0 modules/dnn/src/layer_internals.hpp:309;
    https://onnx.ai/onnx/operators/onnx__Less.html
"""

from __future__ import annotations

from functools import partial

from onnx import TensorProto

from graphfix.authoring import (
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    Variable,
    graph_pass,
    respell,
)

_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
_SUMMED = (*_FLOATS, TensorProto.INT32, TensorProto.INT64)
_COMPARED = (*_SUMMED, TensorProto.INT8, TensorProto.UINT8, TensorProto.BOOL)


@graph_pass(removes="io:unused-input", emits="*::*")
def inputs_kept_in_use(editor: Editor) -> None:
    """Look at every input of the main graph."""
    graph = editor.model.graph
    for tensor in graph.inputs:
        if not isinstance(tensor, Variable) or tensor.opaque is not None:
            continue
        value = Value(tensor)
        if value.is_graph_output or any(use.op not in ("Shape", "Size") for use in value.consumers):
            continue
        _keep(editor, value, [Value(end) for end in graph.outputs if isinstance(end, Variable)])


def _keep(editor: Editor, unused: Value, ends: list[Value]) -> None:
    for end in ends:
        maker = end.producer
        if maker is None or end.elem_type not in _SUMMED or end.rank is None:
            continue
        if editor.replace(maker, partial(_with_zero, maker, end, unused)):
            return


def _with_zero(
    maker: NodeView, end: Value, unused: Value, build: Builder
) -> tuple[Value | None, ...]:
    """Return what a node gave, with a zero made of the unused input added to one of it."""
    shape = unused.static_shape
    if shape is None or 0 in shape:
        raise Refuse(f"the sizes of {unused.name} must be known and above 0")
    if unused.elem_type not in _COMPARED:
        raise Refuse(f"{unused.name} must be numbers that are compared; it is {unused.type_name}")
    one = unused
    if shape and set(shape) != {1}:
        count = len(shape)
        one = build.Slice(one, starts=[0] * count, ends=[1] * count, axes=list(range(count)))
    if unused.elem_type not in _FLOATS:
        one = build.Cast(one, to=TensorProto.FLOAT)
    assert end.rank is not None
    if len(shape) != end.rank:
        one = build.Reshape(one, [1] * end.rank)
    zero = build.Cast(build.Less(one, one), to=end.elem_type)
    return tuple(
        build.Add(value, zero) if value is not None and maker.output(place) == end else value
        for place, value in enumerate(respell(maker, build))
    )
