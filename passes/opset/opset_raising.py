"""Raise the opset of a model to 11, for operators whose older form an engine lacks.

What it does: Moves the model to opset 11: TopK gets its K as an input, Upsample becomes Resize, and
    so on for every node, as `opset` does.
Why engines need it: tract knows TopK with two inputs and Resize, and neither TopK of opset 9 nor
    Upsample, which cannot be written differently where sizes are computed. TVM reads Slice with
    inputs alone, of which unrolled recurrences are made, and no axis of ArgMax from the end below
    opset 11. The trees of ai.onnx.ml are walked with GatherElements, which came with opset 11.
    TensorRT takes a BatchNormalization with statistics of each channel, not of each place, as
    spatial = 0 asks for below opset 9. Integers are compared from opset 9 on, and quantized from
    opset 10 on, as repairs of reductions, of Abs and of 8 bit constants do; sizes of sequences are
    counted by Range, which came with opset 11.
Before: opset 9: y, i = TopK <k = 2> (x)
After: opset 11: y, i = TopK (x, [2])
When it refuses: A node cannot follow exactly; see `opset`. A file that does not import the default
    domain has no opset to raise: a repair that needs one imports it.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__TopK.html; measured on tract 0.23.9 and
    onnxruntime-qnn 2.7.0
"""

from graphfix.authoring import Editor, graph_pass

from ._moving import moved_to

_TO = 11


@graph_pass(
    removes="form:Clip.6 form:TopK.1 form:Resize.10 form:Slice.1 op:Upsample op:ReverseSequence "
    "attr:ArgMax.axis attr:ArgMin.axis op:GRU op:LSTM op:RNN op:ai.onnx.ml::TreeEnsemble* "
    "rank:BatchNormalization.parameters dtype:Abs.int* dtype:Concat.int8-constant "
    "dtype:Greater.int8-constant dtype:Less.int8-constant dtype:ReduceL2.* dtype:ReduceLogSum.* "
    "dtype:ReduceLogSumExp.*",
    emits="*::*",
)
def opset_raising(editor: Editor) -> None:
    """Move to opset 11, see the module."""
    if 0 < editor.model.opset < _TO:
        moved_to(editor, _TO)
