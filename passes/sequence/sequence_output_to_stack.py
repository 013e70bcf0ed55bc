"""Give a tensor with the tensors of a list stacked where the model gives the list, by consent.

What it does: Outputs the tensors of a sequence along a new first axis, in their order, instead of
    the sequence. The metadata of the file says that the entries of the output are those of the list
    (graphfix_labels). It runs only with --allow-io-change.
Why engines need it: TensorRT and most engines have no sequences; scripts that return a list of
    tensors (unbind, split, chunk) are exported with one.
Before: y = SplitToSequence <axis = 1, keepdims = 0> (x)    # float[N, 3, 4] -> seq(float[N, 4])
After: y = Transpose <perm = [1, 0, 2]> (x)                # float[3, N, 4]
When it refuses: Without --allow-io-change. Where something reads the sequence, it is the output of
    a Loop or an If, or its tensors are not all of one known shape.
Accuracy: Exact: the same values in the same order.
References: https://onnx.ai/onnx/operators/onnx__SplitToSequence.html
"""

from functools import partial

from onnx import TensorProto, helper

from graphfix.authoring import (
    INTERFACE,
    Builder,
    Editor,
    NodeView,
    Refuse,
    Value,
    Variable,
    graph_pass,
    stacked_output,
)

from ._tracing import Listed, Pieces, pieces, trace

Shape = tuple["int | str | None", ...]


@graph_pass(
    removes=(
        "io:sequence-output op:SequenceConstruct op:SequenceEmpty op:SequenceErase "
        "op:SequenceInsert op:SplitToSequence dtype:sequence"
    ),
    emits="Concat Gather Identity Slice Transpose Unsqueeze",
    stage=INTERFACE,
)
def sequence_output_to_stack(editor: Editor) -> None:
    """Look at every sequence of tensors that the main graph gives."""
    for output in list(editor.model.graph.outputs):
        maker = Value(output).producer
        if (
            not isinstance(output, Variable)
            or maker is None
            or maker.domain
            or maker.graph is not editor.model.graph
            or editor.is_blocked(maker)
            or not _is_list(output)
        ):
            continue
        try:
            _give_stack(editor, output, maker)
        except Refuse as refusal:
            editor.refuse(maker, refusal.reason)


def _is_list(output: Variable) -> bool:
    kind = output.opaque
    return kind is not None and kind.sequence_type.elem_type.HasField("tensor_type")


def _give_stack(editor: Editor, output: Variable, maker: NodeView) -> None:
    if output.outputs or output.output_count > 1:
        raise Refuse(f"nothing must read the sequence {output.name}; something does")
    sequence = trace(Value(output))
    kind, shape = _stacked(sequence)
    stacked_output(editor, output, helper.make_tensor_type_proto(kind, list(shape)))
    editor.replace(maker, partial(_stack, sequence), unproved=True)


def _stacked(sequence: Listed | Pieces) -> tuple[int, Shape]:
    """Return element type and shape of the stack.

    Raises:
        Refuse: The tensors are not all of one known shape.
    """
    if isinstance(sequence, Pieces):
        shape = _shape_of(sequence.x)
        inner = list(shape)
        count = inner.pop(sequence.axis)
        if sequence.step != 1:
            if sequence.sizes is None or len(set(sequence.sizes)) != 1:
                raise Refuse(
                    f"the pieces of {sequence.x.name} must have one length;"
                    f" they have {sequence.sizes or 'unknown ones'}"
                )
            count = len(sequence.sizes)
        if sequence.kept:
            inner.insert(sequence.axis, sequence.step or (sequence.sizes or (1,))[0])
        return _kind_of(sequence.x), (count, *inner)
    shapes = {_shape_of(value) for value in sequence.values}
    if len(shapes) != 1 or any(not isinstance(size, int) for shape in shapes for size in shape):
        raise Refuse(
            f"the {len(sequence.values)} tensors of the list must be of one known shape; "
            f"{len(shapes)} are there"
        )
    return _kind_of(sequence.values[0]), (len(sequence.values), *shapes.pop())


def _shape_of(value: Value) -> Shape:
    if value.shape is None:
        raise Refuse(f"the rank of {value.name} must be known")
    return tuple(size if isinstance(size, int | str) else None for size in value.shape)


def _kind_of(value: Value) -> int:
    if value.elem_type in (None, TensorProto.UNDEFINED, TensorProto.STRING):
        raise Refuse(f"{value.name} must hold numbers; it holds {value.type_name}")
    return int(value.elem_type)


def _stack(sequence: Listed | Pieces, build: Builder) -> Value:
    if isinstance(sequence, Pieces) and sequence.step == 1:
        axis = sequence.axis
        order = [axis, *(other for other in range(sequence.rank) if other != axis)]
        stack = build.Transpose(sequence.x, perm=order)
        return build.Unsqueeze(stack, axes=[axis + 1]) if sequence.kept else stack
    parts = [build.Unsqueeze(part, axes=[0]) for part in pieces(build, sequence)]
    return build.Concat(*parts, axis=0)
