"""What operators share that ONNX had as experiments: one input, and factors as attributes."""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import NodeView, Refuse

Array = np.ndarray[Any, Any]
Attributes = dict[str, Any]


def factor(node: NodeView, name: str, default: float | None = None) -> float:
    """Return a number that the input, float32 or float16, is multiplied by or added to.

    Args:
        node: The node.
        name: The attribute.
        default: What it is where it is not given; None where it has to be.

    Raises:
        Refuse: It is missing, or the type of the input is another or unknown.
    """
    value = node.attr(name, default)
    if value is None:
        raise Refuse(f"{name} must be given")
    x = node.need(0)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.FLOAT16):
        raise Refuse(f"{x.name} must be float32 or float16; it is {x.type_name or 'unknown'}")
    return float(value)


def given(inputs: list[Array | None]) -> Array:
    """Return the one input, which is never left out."""
    (x,) = inputs
    assert x is not None
    return x
