"""OpenVINO: products by constants that it computes within the filters of the Conv after them."""

from __future__ import annotations

from graphfix.engines.operands import is_stored
from graphfix.engines.profile import Target
from graphfix.engines.rule import WRONG, Answer, rule
from graphfix.ir.views import NodeView, Value

_IMAGE = 4  # axes from which on filters have a size along each


@rule(
    "Conv",
    feature="form:Conv.scaled-input",
    versions="openvino",
    severity=WRONG,
    source="measured on 2026.4.1: [1,3,3,3] by a constant [3], [3,1], [3,3] and [1,3,3], filters of"
    " 3 by 3, with and without groups, of 2 by 2, 5 by 5 and 3 by 3 by 3; a constant for each"
    " channel, of other sizes than the filters, a batch of constants, a product that is read twice,"
    " Add, Sub, ConvTranspose and lines are right",
)
def scaled_within_filters(node: NodeView, target: Target) -> Answer:
    """OpenVINO scales the filters of Conv in the place of an input that is scaled along an axis."""
    x, filters = node.input(0), node.input(1)
    product = None if x is None else x.producer
    shape = None if filters is None else filters.static_shape
    if x is None or product is None or product.op not in ("Div", "Mul") or shape is None:
        return False
    if len(shape) < _IMAGE or len(x.consumers) != 1 or x.is_graph_output:
        return False
    operands = product.inputs if product.op == "Mul" else product.inputs[1:]
    return any(_is_taken_in(factor, shape) for factor in operands)


def _is_taken_in(factor: Value | None, filters: tuple[int, ...]) -> bool:
    """Say whether a constant differs along an axis of the image and fits the filters."""
    sizes = factor.static_shape if factor is not None and is_stored(factor) else None
    if sizes is None or len(sizes) > len(filters):
        return False
    aligned = (1,) * (len(filters) - len(sizes)) + sizes
    fits = all(size in (1, own) for size, own in zip(aligned[2:], filters[2:], strict=True))
    return fits and aligned[0] == 1 and any(size != 1 for size in aligned[2:])
