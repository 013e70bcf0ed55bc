"""Take a tensor out of a sequence without the sequence.

What it does: Follows the sequence back to what it was made of and gives the tensor at the position:
    an operand of SequenceConstruct or SequenceInsert itself, a Slice of what SplitToSequence cut,
    or a Gather where the pieces have length 1. There, and among tensors of one shape, which are
    joined for it, the position may be computed at run time.
Why engines need it: Engines without sequences have no SequenceAt. PyTorch's exporter writes one for
    each result of split, chunk and unbind in scripted code.
Before:
    s = SplitToSequence <axis = 1, keepdims = 0> (x)
    y = SequenceAt (s, 2)
After: y = Gather <axis = 1> (x, 2)
When it refuses: The sequence is an input or is the output of a Loop or an If; a position, a length
    or a rank is not known; a position is computed at run time among tensors of several shapes, or
    of unknown ones.
Accuracy: Exact: no number changes.
References: https://onnx.ai/onnx/operators/onnx__SequenceAt.html;
    https://onnx.ai/onnx/operators/onnx__SplitToSequence.html
"""

from collections.abc import Sequence

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._tracing import Listed, taken, trace


@rewrite(
    "SequenceAt",
    # What made the sequence goes with its last use.
    removes=(
        "op:SequenceAt op:SequenceConstruct op:SequenceEmpty op:SequenceErase op:SequenceInsert "
        "op:SplitToSequence"
    ),
    emits="Concat Gather Slice Unsqueeze",
)
def sequence_at_to_slice(node: NodeView, build: Builder) -> Value:
    """Take one tensor, see the module."""
    sequence = trace(node.need(0))
    where = node.need(1)
    array = build.const(where)
    if array is not None and array.size == 1:
        return taken(build, sequence, int(array.reshape(())))
    if isinstance(sequence, Listed):
        return _chosen(build, sequence.values, where)
    if sequence.step != 1:
        raise Refuse(f"the position {where.name} must be a constant; it is computed at run time")
    if where.rank != 0:
        raise Refuse(f"{where.name} must be a scalar; it is not known to be")
    if sequence.kept:
        where = build.Unsqueeze(where, axes=[0])
    return build.Gather(sequence.x, where, axis=sequence.axis)


def _chosen(build: Builder, values: Sequence[Value], where: Value) -> Value:
    """Join tensors along a new axis and take the one at the position."""
    if not values:
        raise Refuse("the sequence must hold a tensor; it is empty")
    kinds = {(value.elem_type, value.shape) for value in values}
    shape = values[0].shape
    if len(kinds) > 1 or shape is None or not all(isinstance(size, int) for size in shape):
        raise Refuse(
            f"the position {where.name} must be a constant; it is computed at run time, and the "
            "tensors are not known to have one shape"
        )
    if where.rank != 0:
        raise Refuse(f"{where.name} must be a scalar; it is not known to be")
    layers = [build.Unsqueeze(value, axes=[0]) for value in values]
    return build.Gather(build.Concat(*layers, axis=0), where, axis=0)
