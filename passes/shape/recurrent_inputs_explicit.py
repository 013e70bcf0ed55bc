"""Write down the bias and the first states of LSTM and GRU that ONNX lets out.

What it does: Adds zeros where the bias or a first state is left out, which is what they are then.
Why engines need it: OpenCV: "Required inputs: X, W, R, B, seqLen, h0, c0", where one of the states
    is given or the bias is not; before 5.0 "node_proto.input_size() == 6 in function 'parseGRU'".
Before: y, h, c = LSTM <hidden_size = 5> (x, w, r, b, , , c0)
After: y, h, c = LSTM <hidden_size = 5> (x, w, r, b, , zeros, c0)
When it refuses: Nothing is left out; the weights of the recurrence or the size of the batch are
    unknown; the numbers are no floats.
Accuracy: Exact: zeros are the default of ONNX.
References: https://onnx.ai/onnx/operators/onnx__LSTM.html, onnx__GRU.html; opencv/opencv
    modules/dnn/src/layers/recurrent2_layers.cpp:283 (5.0.0)
"""

from typing import Any

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, respell, rewrite

_GATES = {"LSTM": 4, "GRU": 3}
_LEFT_OUT = {"LSTM": {"B": 3, "initial_h": 5, "initial_c": 6}, "GRU": {"B": 3, "initial_h": 5}}


@rewrite(
    ("LSTM", "GRU"),
    removes="form:LSTM.unset-input form:GRU.unset-input",
    emits="GRU LSTM",
    claims="nan inf",
)
def recurrent_inputs_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Add zeros, see the module."""
    x, recurrence = node.need(0), node.need(2)
    if x.dtype is None or x.dtype.kind != "f":
        raise Refuse(f"{x.name} must be floats; it is {x.type_name}")
    missing = [name for name, index in _LEFT_OUT[node.op].items() if node.input(index) is None]
    if not missing:
        raise Refuse("the bias or a state must be left out; all are there")
    sizes = recurrence.static_shape
    if sizes is None or len(sizes) != 3:
        raise Refuse(f"the sizes of {recurrence.name} must be known")
    by_batch = bool(node.attr("layout", 0))
    batch = needed(x.dim(0 if by_batch else 1), f"the batch of {x.name} must be known")
    directions, _, hidden = sizes
    state = (batch, directions, hidden) if by_batch else (directions, batch, hidden)
    shapes = {"B": (directions, 2 * _GATES[node.op] * hidden)}
    zeros: dict[str, Any] = {name: np.zeros(shapes.get(name, state), x.dtype) for name in missing}
    return respell(node, build, **zeros)
