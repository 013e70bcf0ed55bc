"""Raise the opset of a model to 11 where the places of a filled vector stand for Range.

What it does: Moves the model to opset 11, as `opset-raising` does, but only where NonZero reads
    what ConstantOfShape gives: that is how PyTorch exported ``arange`` before opset 11 brought
    Range.
Why engines need it: TensorRT has no NonZero before 8.5, and nothing else counts up to a computed
    number.
Before: opset 9: y = NonZero (ConstantOfShape <value = {1}> (n))
After: opset 11: the same, which Range can replace
When it refuses: A node cannot follow exactly; see `opset`.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Range.html; pytorch/pytorch
    torch/onnx/symbolic_opset9.py (arange)
"""

from graphfix.authoring import Editor, NodeView, graph_pass

from ._moving import moved_to

_TO = 11


@graph_pass(removes="op:NonZero", emits="*::*")
def opset_raising_for_arange(editor: Editor) -> None:
    """Move to opset 11, see the module."""
    if not 0 < editor.model.opset < _TO:
        return
    views = (view for graph in editor.graphs() for view in editor.nodes(graph, "NonZero"))
    if any(map(_counts, views)):
        moved_to(editor, _TO)


def _counts(view: NodeView) -> bool:
    maker = view.need(0).producer
    filled = maker is not None and maker.op == "ConstantOfShape" and not maker.domain
    return filled and not view.domain
