"""Replace LSTM, GRU and RNN whose batch comes first by the form whose sequence comes first.

What it does: With layout = 1 the batch is the first axis of X, of the initial states and of all
    outputs. The operands are transposed, the operator is written with layout = 0, and its outputs
    are transposed back. A layout of 0 that is written is left out by recurrent-layout-left-out.
Why engines need it: TensorRT ignores layout, and takes batch and sequence for each other. layout
    came with opset 14. rknn-toolkit2 takes no batch that comes first, and where the result of GRU
    or LSTM is reshaped it checks the operator by an older opset, which has no layout.
Before: Y, Y_h = LSTM <layout = 1> (X, W, R)
After: Y, Y_h = Transpose (LSTM (Transpose (X), W, R))
When it refuses: layout is 0, or not given; recurrent-layout-left-out: it is 1, or not given.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__LSTM.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_STATES = (5, 6)  # the inputs initial_h and initial_c
_SWAP = [1, 0, 2]
_OUT = [2, 0, 1, 3]  # sequence, directions, batch, hidden -> batch, sequence, directions, hidden


@rewrite(
    ("LSTM", "GRU", "RNN"),
    removes="form:LSTM.layout form:GRU.layout form:RNN.layout",
    emits="LSTM GRU RNN Transpose",
    since=14,
)
def recurrent_layout_to_transpose(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Transpose operands and outputs, see the module."""
    if node.attr("layout", 0) != 1:
        raise Refuse("layout must be 1; it is 0")
    operands = list(node.inputs)
    for place in (0, *_STATES):
        value = operands[place] if place < len(operands) else None
        if value is not None:
            operands[place] = build.Transpose(value, perm=_SWAP)
    attributes = {name: value for name, value in node.written().items() if name != "layout"}
    made = build.multi(node.op, *operands, outputs=len(node.outputs), **attributes)
    return tuple(
        None if old is None else build.Transpose(value, perm=_SWAP if place else _OUT)
        for place, (value, old) in enumerate(zip(made, node.outputs, strict=True))
    )


@rewrite(
    ("LSTM", "GRU", "RNN"),
    removes="attr:LSTM.layout=0 attr:GRU.layout=0 attr:RNN.layout=0",
    emits="LSTM GRU RNN",
    since=14,
    claims="nan inf",
)
def recurrent_layout_left_out(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Leave a written layout of 0 out, see the module."""
    if not node.has("layout") or node.attr("layout", 0):
        raise Refuse("a layout of 0 must be written; it is not")
    return respell(node, build, drop=("layout",))
