"""Raise the opset of a model to 10 where scales of a nearest Upsample are computed.

What it does: Moves the model from opset 9 to 10, where Upsample is called Resize and computes the
    same. The Resize of opset 11, to which `opset-raising` goes, rounds differently by scales below
    1, which computed ones may be.
Why engines need it: OpenVINO reads nearest Upsample as if pixels was at halves, and Resize of
    opset 10 as it is.
Before: opset 9: y = Upsample <mode = "nearest"> (x, Div (sizes of z, sizes of x))
After: opset 10: y = Resize <mode = "nearest"> (x, Div (sizes of z, sizes of x))
When it refuses: A node cannot follow exactly; see `opset`.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Upsample.html;
    https://onnx.ai/onnx/operators/onnx__Resize.html; measured on OpenVINO 2026.4.1
"""

from graphfix.authoring import Editor, NodeView, graph_pass

from ._moving import moved_to

_TO = 10


@graph_pass(removes="op:Upsample", emits="*::*")
def opset_raising_for_upsample(editor: Editor) -> None:
    """Move to opset 10, see the module."""
    if editor.model.opset != _TO - 1:
        return
    views = (view for graph in editor.graphs() for view in editor.nodes(graph, "Upsample"))
    if any(map(_computes_its_scales, views)):
        moved_to(editor, _TO)


def _computes_its_scales(view: NodeView) -> bool:
    scales = view.input(1)
    nearest = view.attr("mode", "nearest") == "nearest"
    return not view.domain and nearest and scales is not None and not scales.is_constant
