"""Output the sums that accumulators write into inputs, by consent.

What it does:
    Lets the output that says that an accumulator has done its work, which is always True, hold the
    sum instead that it has written into its buffer. Which input each is to be put into after a run
    is in the report, and in the metadata of the file (graphfix_written_buffers). It runs only with
    --allow-io-change.
Why engines need it: onnxruntime's training accumulates gradients in inputs that it writes into; no
    engine for inference does, and the flag says nothing of the sum.
Before: flag = com.microsoft.InPlaceAccumulatorV2 (buffer, gradient, overwrite)    # bool[1]
After: flag = Where (overwrite, gradient, Add (buffer, gradient))                 # float[N]
When it refuses: Without --allow-io-change. The flag is read by another node or given twice, the
    buffer is no input, or buffer and gradient are not known to be of one rank and of floats.
Accuracy: Exact: the same sum of two numbers. It is compared with what the original writes.
References: microsoft/onnxruntime orttraining/orttraining/core/graph/training_op_defs.cc and
    orttraining/orttraining/training_ops/cpu/optimizer/gradient_control.cc
"""

from functools import partial

from onnx import helper

from graphfix.authoring import (
    GRADIENT_ACCUMULATOR,
    INTERFACE,
    Editor,
    NodeView,
    Refuse,
    Value,
    Variable,
    accounted,
    buffer_output,
    graph_pass,
)

from ._accumulating import SECOND, SUM, accumulated, check_operands


@graph_pass(removes=f"op:com.microsoft::{SECOND}", emits="Add Where", stage=INTERFACE)
def gradient_accumulators_to_outputs(editor: Editor) -> None:
    """Look at every accumulator whose flag is an output of the main graph."""
    for output in list(editor.model.graph.outputs):
        maker = Value(output).producer
        if (
            isinstance(output, Variable)
            and maker is not None
            and (maker.domain, maker.op) == GRADIENT_ACCUMULATOR
            and maker.graph is editor.model.graph
            and maker.output(SUM) is None
            and not editor.is_blocked(maker)
        ):
            try:
                _give_sum(editor, output, accounted(maker))
            except Refuse as refusal:
                editor.refuse(maker, refusal.reason)


def _give_sum(editor: Editor, output: Variable, node: NodeView) -> None:
    buffer = node.need(0)
    inputs = editor.model.graph.inputs
    if output.outputs or output.output_count > 1:
        raise Refuse(f"nothing must read {output.name}; something does")
    if all(buffer.tensor is not given for given in inputs):
        raise Refuse(f"the buffer must be an input; {buffer.name} is none")
    check_operands(node)
    if not editor.can_replace(node, partial(accumulated, node)):
        return
    sizes = [size if isinstance(size, int | str) else None for size in buffer.shape or ()]
    kind = helper.make_tensor_type_proto(buffer.elem_type, sizes)
    buffer_output(editor, output, kind, buffer.name)
    editor.replace(node, partial(accumulated, node), unproved=True)
