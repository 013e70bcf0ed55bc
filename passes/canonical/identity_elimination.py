"""Remove Identity, and the operators that do nothing at the place where they are.

What it does: Connects the consumers to the input of an Identity, of a Dropout that does not train,
    of a Cast to the type that its input already has, of a Reshape to the sizes that it already has,
    and of a Concat of which one operand alone has elements; leaves out operands of others that have
    none. The measure that it lowers is the number of nodes and operands.
Why engines need it: TensorRT's parser looks for initializers after an input and does not see them
    through an Identity ("Resize scales must be an initializer!", NVIDIA/TensorRT issue 2803). GPT-J
    rotates the first of each head and appends the rest, which is nothing where all is rotated: a
    Slice without elements, which QNN leaves to the CPU.
Before:
    a = Identity (w)
    y = Conv (x, a)
After: y = Conv (x, w)
When it refuses: It leaves alone an Identity that gives its name to an output of a graph or body,
    sequences and optionals, a Dropout whose mask is used or whose training mode is on or unknown,
    and a Concat of which no operand has elements, or whose ranks are not known to be one.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Identity.html
    https://onnx.ai/onnx/operators/onnx__Dropout.html https://onnx.ai/onnx/operators/onnx__Cast.html
    https://onnx.ai/onnx/operators/onnx__Concat.html
"""

from collections.abc import Callable, Sequence
from math import prod

from graphfix.authoring import CANONICAL, Builder, Editor, NodeView, Refuse, Value, graph_pass


@graph_pass(stage=CANONICAL, looks_at=["Identity Dropout Cast Concat Reshape"])
def identity_elimination(editor: Editor) -> None:
    """Walk every scope once."""
    for graph in editor.graphs():
        for view in editor.nodes(graph, "Identity", "Dropout", "Cast", "Reshape"):
            source = _source(view)
            if source is not None:
                editor.replace(view, _passing(source, len(view.node.outputs)))
        for view in editor.nodes(graph, "Concat"):
            kept = _with_elements(view)
            if kept:
                editor.replace(view, _joining(view, kept))


def _passing(source: Value, outputs: int) -> Callable[[Builder], tuple[Value | None, ...]]:
    def make(build: Builder) -> tuple[Value | None, ...]:
        return (source, *([None] * (outputs - 1)))

    return make


def _joining(view: NodeView, kept: Sequence[Value]) -> Callable[[Builder], Value]:
    def make(build: Builder) -> Value:
        return build.Concat(*kept, axis=int(view.attr("axis", 0))) if len(kept) > 1 else kept[0]

    return make


def _with_elements(view: NodeView) -> list[Value]:
    """Return the operands that are left where others have no elements; none where all stay."""
    operands, output = [each for each in view.inputs if each is not None], view.output(0)
    rank = operands[0].rank if operands else None
    if view.domain or output is None or not rank or not view.has("axis"):
        return []
    if any(each.rank != rank for each in operands):
        return []
    axis = int(view.attr("axis", 0)) % rank
    kept = [each for each in operands if each.dim(axis) != 0]
    if len(kept) == len(operands) or (len(kept) == 1 and output.is_graph_output):
        return []
    return kept


def _source(view: NodeView) -> Value | None:
    """Return the value that the node gives on unchanged; None where it does something."""
    if view.domain:
        return None
    source, output = view.input(0), view.output(0)
    if source is None or output is None or output.is_graph_output or not source.is_tensor:
        return None
    if source.rank is not None and output.rank is None and not output.is_used:
        return None
    try:
        if view.op == "Dropout" and not _idle_dropout(view):
            return None
        if view.op == "Cast" and (
            source.elem_type == 0 or int(view.attr("to", 0)) != source.elem_type
        ):
            return None
        if view.op == "Reshape" and not _keeps_sizes(view, source):
            return None
    except Refuse:
        return None
    return source


def _keeps_sizes(view: NodeView, source: Value) -> bool:
    """Say whether the sizes that a Reshape is given are those of its input."""
    wanted, sizes = view.input(1), source.static_shape
    given = None if wanted is None else wanted.array()
    if sizes is None or given is None or len(given) != len(sizes) or view.attr("allowzero", 0):
        return False
    kept = [one in (size, 0) for one, size in zip(given.tolist(), sizes, strict=True)]
    if kept.count(False) == 1 and prod(sizes) > 0:
        return bool(given[kept.index(False)] == -1)
    return all(kept)


def _idle_dropout(view: NodeView) -> bool:
    mask = view.output(1)
    if mask is not None and mask.is_used:
        return False
    if view.opset < 7:
        return bool(view.attr("is_test", 0))
    training = view.input(2)
    if training is None:
        return True
    array = training.array()
    return array is not None and not array.any()
