"""Leave out operands of Concat that have no elements.

What it does: Joins what remains; where that is one operand, its consumers read it instead. What
    made the others goes as nobody reads it. The measure that it lowers is the number of operands.
Why engines need it: GPT-J rotates the first of each head and appends the rest, which is nothing
    where all is rotated: a Slice without elements, which QNN leaves to the CPU, and other engines
    do not take at all.
Before:
    r = Slice (x, {8}, {9223372036854775807}, {3})          # x [2, 6, 4, 8], r [2, 6, 4, 0]
    y = Concat <axis = 3> (a, r)
After: y = a
When it refuses: It leaves alone a Concat of which all operands are without elements, or of which
    the ranks are not known to be one, and one of a single operand that gives its name to an output.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Concat.html
"""

from graphfix.authoring import CANONICAL, Builder, Editor, NodeView, Value, graph_pass


@graph_pass(stage=CANONICAL, looks_at=["Concat"])
def empty_operands_left_out(editor: Editor) -> None:
    """Walk every scope once."""
    for graph in editor.graphs():
        for view in editor.nodes(graph, "Concat"):
            kept = _kept(view)
            if kept is not None:
                editor.replace(view, lambda build, view=view, kept=kept: _joined(view, kept, build))


def _joined(view: NodeView, kept: list[Value], build: Builder) -> Value:
    return build.Concat(*kept, axis=int(view.attr("axis", 0))) if len(kept) > 1 else kept[0]


def _kept(view: NodeView) -> list[Value] | None:
    """Return the operands that have elements; None where nothing can be left out."""
    operands, output = [each for each in view.inputs if each is not None], view.output(0)
    if view.domain or output is None or not operands or view.attr("axis", None) is None:
        return None
    rank = operands[0].rank
    if not rank or any(each.rank != rank for each in operands):
        return None
    axis = int(view.attr("axis", 0)) % rank
    kept = [each for each in operands if each.dim(axis) != 0]
    if len(kept) == len(operands) or not kept or (len(kept) == 1 and output.is_graph_output):
        return None
    return kept
