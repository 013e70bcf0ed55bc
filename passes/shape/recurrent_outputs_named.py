"""Give names to the outputs of LSTM and GRU that nothing reads.

What it does: Writes the node with all of its outputs.
Why engines need it: MNN writes the last states of an LSTM to outputs that are not there, and its
    process ends. OpenCV 5 gives the last state of a GRU in the place of all states where only
    these have a name, without a word.
Before: y = GRU <hidden_size = 5> (x, w, r)
After: y, last = GRU <hidden_size = 5> (x, w, r)
When it refuses: All outputs have names.
Accuracy: Exact: the node is the same.
References: https://onnx.ai/onnx/operators/onnx__GRU.html; measured on MNN 3.6.1 and OpenCV 5.0.0
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_OUTPUTS = {"GRU": 2, "LSTM": 3}


@rewrite(
    tuple(_OUTPUTS),
    removes="form:GRU.unnamed-output form:LSTM.unnamed-output",
    emits="GRU LSTM",
    claims="nan inf",
)
def recurrent_outputs_named(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Name all outputs, see the module."""
    count = _OUTPUTS[node.op]
    named = [output for output in node.outputs if output is not None]
    if len(named) == count:
        raise Refuse("an output must have no name; all have one")
    made = build.multi(node.op, *node.inputs, outputs=count, **node.written())
    return tuple(
        value if old is not None else None for value, old in zip(made, node.outputs, strict=False)
    )
