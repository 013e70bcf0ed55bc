"""Write a constant of int8 as what QuantizeLinear makes of whole floats.

What it does: Where another operator than DequantizeLinear reads a constant of int8, such as a Scan
    whose state begins with zeros, the constant is kept as float32 and quantized by a scale of 1 and
    a zero point of 0, which gives the same bytes. A Constant that is an output of the model
    likewise.
Why engines need it: TensorRT's builder takes a constant of int8 where DequantizeLinear reads it,
    and nowhere else; a tensor that QuantizeLinear makes is no constant to it.
Before: y = Concat <axis = 0> (x, w)                               w: constant of int8
After: y = Concat <axis = 0> (x, QuantizeLinear (w as float32, 1.0, 0))
When it refuses: The node reads no constant of int8, or has a body that takes a sequence; before
    opset 10 there is no QuantizeLinear.
Accuracy: Exact: every number of 8 bits is one of float32, and rounding and saturation leave it as
    it is.
References: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html; NVIDIA/TensorRT issue 3919;
    tensorrt-rtx 1.7.1 builds the result
"""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    copy_nodes,
    graph_pass,
    rewrite,
)

# What takes int8 by its page and is read by engines; what they fold or refuse in int8 is left out.
_OPERATORS = (
    *("Abs", "Add", "ArgMax", "ArgMin", "Clip", "Concat", "DepthToSpace", "Div", "Equal"),
    *("Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Greater", "GreaterOrEqual"),
    *("Identity", "Less", "LessOrEqual", "Loop", "Max", "MaxPool", "Min", "Mod", "Mul", "Neg"),
    *("Pad", "ReduceMax", "ReduceMin", "Reshape", "Resize", "ReverseSequence", "Scan"),
    *("Scatter", "ScatterElements", "ScatterND", "Sign", "Slice", "SpaceToDepth", "Split"),
    *("Squeeze", "Sub", "Tile", "TopK", "Transpose", "Trilu", "Unsqueeze", "Where"),
)


@rewrite(
    _OPERATORS,
    removes=tuple(f"dtype:{op}.int8-constant" for op in _OPERATORS),
    emits="*::*",  # the subgraphs of Loop and Scan are written again
)
def quantized_constant_to_quantizelinear(
    node: NodeView, build: Builder
) -> tuple[Value | None, ...]:
    """Quantize the constants that one node reads, see the module."""
    values = {id(old.tensor): new for old, new in _changed(node.inputs, build)}
    if not values:
        raise Refuse("a constant of int8 must be read; none is")
    copy_nodes(build, [node.node], values, _in_body)
    return tuple(None if old is None else values[id(old.tensor)] for old in node.outputs)


@graph_pass(removes="io:int8-constant", emits="QuantizeLinear")
def quantized_constant_output_to_quantizelinear(editor: Editor) -> None:
    """Quantize the constants that the model outputs, see the module."""
    for tensor in list(editor.model.graph.outputs):
        given = Value(tensor)
        maker = given.producer
        if given.elem_type == TensorProto.INT8 and maker is not None and maker.op == "Constant":
            array = given.array()
            if array is not None:
                editor.replace(maker, partial(_quantized, array))


def _in_body(build: Builder, node: NodeView, read: list[Value | None]) -> Sequence[Value] | None:
    """Do the same in a body that is written again; None where there is nothing to do.

    What has a body itself comes in its own turn.
    """
    changed = dict(_changed(read, build))
    if not changed or node.op not in _OPERATORS or node.domain or any(node.node.graphs()):
        return None
    operands = [None if value is None else changed.get(value, value) for value in read]
    attributes = node.written()
    return build.multi(node.op, *operands, outputs=len(node.outputs), **attributes)


def _changed(values: Iterable[Value | None], build: Builder) -> list[tuple[Value, Value]]:
    """Return each constant of int8, and its value before QuantizeLinear."""
    bytes_ = dict.fromkeys(v for v in values if v is not None and v.elem_type == TensorProto.INT8)
    arrays = [(value, build.const(value)) for value in bytes_]
    return [(value, _quantized(array, build)) for value, array in arrays if array is not None]


def _quantized(array: Array, build: Builder) -> Value:
    numbers, scale, zero = array.astype(np.float32), np.array(1, np.float32), np.array(0, np.int8)
    return build.QuantizeLinear(
        build.constant(numbers), build.constant(scale), build.constant(zero)
    )
