"""TFLite: blocks that become channels, which onnx2tf looks for itself and puts in another order.

Its ``ops/Reshape.py`` looks for a Reshape to six dimensions, a Transpose and a Reshape to an image.
"""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.analysis.memo import origin_through
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tflite.rules import MEASURED
from graphfix.engines.tflite.rules.layouts import PICTURES
from graphfix.ir.views import NodeView, Value
from graphfix.operators.table import ELEMENTWISE

_PERM = [0, 1, 3, 5, 2, 4]
_IMAGE, _CUT = 4, 6  # ranks


@rule(
    "Transpose",
    feature="form:Transpose.space-to-depth",
    severity=WRONG,
    source=f"{MEASURED}: facts/asked.json, space-to-depth",
)
def space_to_depth(node: NodeView, target: Target) -> Answer:
    """onnx2tf takes this Transpose between two Reshapes for SpaceToDepth, which it is not."""
    cut, before = node.input(0), node.need(0).producer
    if list(node.attr("perm", ())) != _PERM or cut is None or before is None:
        return False
    moved = node.output(0)
    if moved is None or len(cut.consumers) != 1 or len(moved.consumers) != 1:
        return False
    after = moved.consumers[0]
    image = after.output(0) if after.op == "Reshape" else None
    if before.op != "Reshape" or image is None or image.rank not in (None, _IMAGE):
        return False
    sizes, joined = cut.static_shape, image.static_shape
    if sizes is None or joined is None:
        return None if cut.rank in (None, _CUT) else False
    _, channels, _, block, _, other = sizes
    if channels == 1 or block == 1 or block != other or joined[1] != channels * block**2:
        return False
    image_maker = _maker_after_numbers(before.need(0))
    return image_maker is None or image_maker.op not in PICTURES


@rule(
    ("DepthToSpace", "SpaceToDepth"),
    feature="op:{op}",
    severity=REJECT,
    source=f"{MEASURED}: facts/asked.json, blocks-of-no-image: with CRD, and after what is no"
    " Reshape, they are equal",
)
def blocks_of_no_image(node: NodeView, target: Target) -> Answer:
    """onnx2tf's {op} reads the output of a Reshape as if channels were last."""
    x = node.need(0)
    maker = _maker_after_numbers(x)
    sizes = {*(x.shape or ())[1:]}
    if maker is None or maker.op != "Reshape" or len(sizes) == 1 or known_with_sizes(x):
        return False
    if node.attr("mode", "DCR") == "CRD":
        return False
    return Yes(severity=WRONG) if node.op == "SpaceToDepth" else True


def _maker_after_numbers(value: Value) -> NodeView | None:
    """Return the first node before a tensor that does more than compute one number of each."""
    return _before_numbers(value).producer


_before_numbers = origin_through(
    lambda maker: maker.op in ELEMENTWISE and len(maker.node.inputs) == 1
)
