"""Give two outputs that are one tensor as two, the second through Max of it with itself.

What it does: Replaces the Identity that makes an output of what another output is already by ``Max
    (x, x)``, or ``And (x, x)`` of bools.
Why engines need it: rknn-toolkit2 takes Identity out, gives such outputs once, and moves those
    after them up. It takes factors of 1 out as well, and Max not.
Before:
    y = Relu (x)
    z = Identity (y)                 # y and z are outputs
After:
    y = Relu (x)
    z = Max (y, y)
When it refuses: The tensor has other values than floats, int32 and int64, or the opset lacks Max
    of them.
Accuracy: Exact: the larger of two equal numbers is that number, NaN and infinities included.
References: https://onnx.ai/onnx/operators/onnx__Max.html; rknn-toolkit2 2.3.2, measured
"""

from functools import partial

from onnx import TensorProto

from graphfix.authoring import Builder, Editor, Refuse, Value, Variable, graph_pass

_COPIES = frozenset({"Dropout", "Identity"})
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)
_INTEGERS = (TensorProto.INT32, TensorProto.INT64)
_SINCE = 8  # the opset of a Max whose operands need no one shape
_SINCE_OF_INTEGERS = 12


@graph_pass(removes="io:repeated-output", emits="And Max", claims="nan inf")
def repeated_outputs_apart(editor: Editor) -> None:
    """Look at every output of the main graph."""
    seen: set[Value] = set()
    for tensor in editor.model.graph.outputs:
        if not isinstance(tensor, Variable):
            continue
        value = Value(tensor)
        origin, maker = _origin(value), value.producer
        if origin in seen and maker is not None and maker.op == "Identity":
            editor.replace(maker, partial(_apart, maker.need(0), maker.opset))
        seen.add(origin)


def _origin(value: Value) -> Value:
    maker = value.producer
    while maker is not None and maker.op in _COPIES and value == maker.output(0):
        value = maker.need(0)
        maker = value.producer
    return value


def _apart(value: Value, opset: int, build: Builder) -> Value:
    if value.elem_type == TensorProto.BOOL:
        return build.And(value, value)
    if value.elem_type not in (*_FLOATS, *_INTEGERS):
        raise Refuse(f"{value.name} must be numbers of a Max; it is {value.type_name or 'unknown'}")
    since = _SINCE_OF_INTEGERS if value.elem_type in _INTEGERS else _SINCE
    if opset < since:
        raise Refuse(f"the opset must be {since} or above; it is {opset}")
    return build.Max(value, value)
