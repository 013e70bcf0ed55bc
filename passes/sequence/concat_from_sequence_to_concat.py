"""Join the tensors of a sequence by Concat.

What it does: Follows the sequence back through SequenceConstruct, SequenceEmpty, SequenceInsert,
    SequenceErase and SplitToSequence to its tensors, and joins those by Concat, with an Unsqueeze
    before where the tensors are stacked on a new axis. What was cut along an axis and is stacked on
    another one, however many pieces there are, is one Transpose; what is joined as it was cut is
    the tensor itself.
Why engines need it: Engines without sequences have no SequenceConstruct, SplitToSequence or
    ConcatFromSequence.
Before:
    s = SequenceConstruct (a, b)
    y = ConcatFromSequence <axis = 0, new_axis = 1> (s)
After: y = Concat <axis = 0> (Unsqueeze <axes = [0]> (a), Unsqueeze <axes = [0]> (b))
When it refuses: The sequence is an input or is the output of a Loop or an If, is empty, has more
    than 256 tensors or an unknown number of them that is not joined as it was cut, or a position, a
    length or a rank is not known.
Accuracy: Exact: no number changes.
References: https://onnx.ai/onnx/operators/onnx__ConcatFromSequence.html;
    https://onnx.ai/onnx/operators/onnx__SplitToSequence.html;
    https://onnx.ai/onnx/operators/onnx__SequenceInsert.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_rank, needed, rewrite

from ._tracing import Listed, Pieces, axis_of, pieces, trace


@rewrite(
    "ConcatFromSequence",
    # What made the sequence goes with its last use.
    removes=(
        "op:ConcatFromSequence op:SequenceConstruct op:SequenceEmpty op:SequenceErase "
        "op:SequenceInsert op:SplitToSequence"
    ),
    emits="Concat Gather Slice Transpose Unsqueeze",
)
def concat_from_sequence_to_concat(node: NodeView, build: Builder) -> Value:
    """Join the tensors, see the module."""
    sequence = trace(node.need(0))
    if isinstance(sequence, Listed) and not sequence.values:
        raise Refuse("the sequence must not be empty; it is")
    axis = needed(node.attr("axis"), "the node must have the attribute axis; it has none")
    stacked = bool(node.attr("new_axis", 0))
    if isinstance(sequence, Pieces):
        whole = _whole(build, sequence, int(axis), stacked)
        if whole is not None:
            return whole
    values = pieces(build, sequence)
    axis = int(axis)
    if axis < 0:
        rank = need_rank(values[0])
        axis = axis_of(axis, rank + stacked)
    if stacked:
        values = [build.Unsqueeze(value, axes=[axis]) for value in values]
    return values[0] if len(values) == 1 else build.Concat(*values, axis=axis)


def _whole(build: Builder, cut: Pieces, axis: int, stacked: bool) -> Value | None:
    """Return the tensor that was cut, where it is joined as it was; None where it is not."""
    if cut.kept:
        return cut.x if not stacked and axis_of(axis, cut.rank) == cut.axis else None
    if not stacked:
        return None
    axis = axis_of(axis, cut.rank)
    if axis == cut.axis:
        return cut.x
    order = [k for k in range(cut.rank) if k != cut.axis]
    order.insert(axis, cut.axis)
    return build.Transpose(cut.x, perm=order)
