"""Give two outputs that are one tensor as two, the second through Max of it with itself.

What it does:
    Replaces the Identity that makes an output of what another output is already by ``Max (x, x)``.

Why engines need it:
    rknn-toolkit2 takes Identity out, gives such outputs once, and moves those behind them up. It
    takes factors of 1 out as well, and Max not.

Before:
    y = Relu (x)
    z = Identity (y)                 # y and z are outputs

After:
    y = Relu (x)
    z = Max (y, y)

When it refuses:
    The tensor has other numbers than floats.

Accuracy:
    Exact: the larger of two equal numbers is that number, NaN and infinities included.

References:
    https://onnx.ai/onnx/operators/onnx__Max.html; rknn-toolkit2 2.3.2, measured
"""

from __future__ import annotations

from functools import partial

from graphfix.authoring import Builder, Editor, Refuse, Value, Variable, graph_pass

_COPIES = frozenset({"Dropout", "Identity"})
_SINCE = 8  # the opset of a Max whose operands need no one shape


@graph_pass(removes="io:repeated-output", emits="Max", claims="nan inf")
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
    if opset < _SINCE:
        raise Refuse(f"the opset must be {_SINCE} or above; it is {opset}")
    if value.dtype is None or value.dtype.kind != "f":
        raise Refuse(f"{value.name} must be floats; it is {value.type_name or 'unknown'}")
    return build.Max(value, value)
