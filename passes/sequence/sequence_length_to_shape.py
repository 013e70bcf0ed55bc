"""Count the tensors of a sequence without the sequence.

What it does: Follows the sequence back to what it was made of. The count is a constant where all
    tensors are known, and the length of the axis where SplitToSequence cut pieces of length 1.
Why engines need it: Engines without sequences have no SequenceLength.
Before:
    s = SplitToSequence <axis = 0, keepdims = 0> (x)
    n = SequenceLength (s)
After: n = Gather (Shape (x), 0)
When it refuses: The sequence is an input or is the output of a Loop or an If, or a position or a
    length is not known.
Accuracy: Exact: integers.
References: https://onnx.ai/onnx/operators/onnx__SequenceLength.html
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._tracing import Listed, trace


@rewrite("SequenceLength", removes="op:SequenceLength", emits="Gather Shape")
def sequence_length_to_shape(node: NodeView, build: Builder) -> Value:
    """Count, see the module."""
    sequence = trace(node.need(0))
    if isinstance(sequence, Listed):
        return build.constant(np.int64(len(sequence.values)))
    if sequence.sizes is not None:
        return build.constant(np.int64(len(sequence.sizes)))
    if sequence.step != 1:
        raise Refuse(f"the length of axis {sequence.axis} of {sequence.x.name} must be known")
    return build.Gather(build.Shape(sequence.x), build.constant(np.int64(sequence.axis)), axis=0)
