"""TFLite: what onnx2tf takes for a SpaceToDepth, whose channels it puts in another order.

Its ``ops/Reshape.py`` looks for a Reshape to six dimensions, a Transpose and a Reshape to an image.
"""

from __future__ import annotations

from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.engines.tflite.rules.layouts import PICTURES
from graphfix.operators.table import ELEMENTWISE

_PERM = [0, 1, 3, 5, 2, 4]
_IMAGE, _CUT = 4, 6  # ranks
_MOST = 200  # nodes that are looked at


@rule(
    "Transpose",
    feature="form:Transpose.space-to-depth",
    versions="tflite",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, space-to-depth",
)
def space_to_depth(node: NodeView, target: Target) -> Answer:
    """A Transpose between two Reshapes is taken for a SpaceToDepth of an image, which it is not."""
    cut, before = node.input(0), node.need(0).producer
    if list(node.attr("perm", ())) != _PERM or cut is None or before is None:
        return False
    moved = node.output(0)
    if moved is None or len(cut.consumers) != 1 or len(moved.consumers) != 1:
        return False
    behind = moved.consumers[0]
    image = behind.output(0) if behind.op == "Reshape" else None
    if before.op != "Reshape" or image is None or image.rank not in (None, _IMAGE):
        return False
    sizes, joined = cut.static_shape, image.static_shape
    if sizes is None or joined is None:
        return None if cut.rank in (None, _CUT) else False
    _, channels, _, block, _, other = sizes
    if channels == 1 or block == 1 or block != other or joined[1] != channels * block**2:
        return False
    return not _comes_of_a_picture(before)


def _comes_of_a_picture(node: NodeView) -> bool:
    """Say whether what a node reads lies as an image, and nothing else is mixed into it."""
    for _ in range(_MOST):
        maker = node.need(0).producer
        if maker is None or maker.op in PICTURES:
            return maker is not None
        if maker.op not in ELEMENTWISE or len(maker.inputs) != 1:
            return False
        node = maker
    return False
