"""What rules of several families ask of the operands of a node."""

from __future__ import annotations

import numpy as np

from graphfix.authoring.views import NodeView, Value


def holds_negatives(value: Value | None) -> bool:
    """Say whether a constant has numbers below 0; False where it is computed or not there."""
    array = None if value is None else value.array()
    return array is not None and bool((array < 0).any())


def has_negative_pads(node: NodeView) -> bool:
    """Say whether a Pad of any opset crops; False where its pads are computed."""
    given = node.attr("pads", ())  # an input from opset 11 on
    return bool((np.asarray(given) < 0).any()) or holds_negatives(node.input(1))
