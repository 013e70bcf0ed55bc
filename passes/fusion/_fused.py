"""What fusions share: the operator for several nodes, and what patterns have in common."""

from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Builder, Find, Option, Refuse, Sought, Value

CONTRIB = {
    "contrib": Option(
        bool, False, "Emit the operator of com.microsoft where the opset has none yet."
    )
}
_HALF = (TensorProto.FLOAT16, TensorProto.BFLOAT16)
_NOTE = "float16 and bfloat16: one node rounds less often than the nodes that it stands for"


def fused(
    build: Builder, op: str, since: int, *operands: Any, contrib: str = "", **attributes: Any
) -> Value:
    """Emit one operator for several.

    Args:
        build: Where it goes.
        op: The operator of the default domain.
        since: The opset that has it in the form that is meant.
        operands: Its inputs.
        contrib: The operator of com.microsoft of the same inputs and attributes; empty for none.
        attributes: Its attributes.

    Raises:
        Refuse: The opset is older, and com.microsoft has none or is not asked for.
    """
    rounds_less(build, operands[0])
    if build.opset >= since:
        return build.node(op, *operands, **attributes)
    if contrib and build.option("contrib"):
        return build.node(f"com.microsoft::{contrib}", *operands, **attributes)
    other = " or the option contrib" if contrib else ""
    raise Refuse(f"{op} needs opset {since}{other}; this is opset {build.opset}")


def rounds_less(build: Builder, x: Value) -> None:
    """Label a site whose steps were rounded to 16 bits one by one, and are no longer."""
    if not x.elem_type:
        raise Refuse("the element type must be known")
    if x.elem_type in _HALF:
        build.declare(APPROXIMATE, _NOTE)


def held(x: Value, epsilon: float) -> float:
    """Return an epsilon that an attribute of the node of `x` can hold: that is a float32.

    Raises:
        Refuse: It is of float64, and no float32 is equal to it.
    """
    if x.elem_type == TensorProto.DOUBLE and float(np.float32(epsilon)) != epsilon:
        raise Refuse(f"the epsilon must be a float32, as the attribute is; {epsilon:g} is not")
    return epsilon


def over_root(find: Find, x: Sought, square: Sought) -> Sought:
    """Look for x / sqrt(square), in each way in which exporters and authors write it."""
    root = find.Sqrt(square)
    return find.either(
        x / find.either(root, square**0.5),
        x * find.either(find.Reciprocal(root), 1.0 / root, square**-0.5),
    )


def deviating(find: Find, x: Sought, axes: Sought, eps: Sought) -> Sought:
    """Look for (x - mean) / sqrt(variance + eps) over axes."""
    deviation = x - find.ReduceMean(x, axes=axes)
    variance = find.ReduceMean(squared(find, deviation), axes=axes)
    return over_root(find, deviation, variance + find.number(eps))


def squared(find: Find, x: Sought) -> Sought:
    """Look for x * x."""
    return find.either(x * x, x**2)


def halved(find: Find, x: Sought, share: Sought) -> Sought:
    """Look for 0.5 * x * share, multiplied in any order."""
    return find.either((x * share) * 0.5, x * (share * 0.5), (x * 0.5) * share)
