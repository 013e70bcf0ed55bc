"""From opset 1 to 2.

References: Pad-1 and Split-1 in onnx/defs/tensor, GlobalLpPool-1 and LpPool-1 in onnx/defs/nn
(old.cc).
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView, Refuse, respell
from graphfix.opset.adapting import Adapted, adapter

_EXPONENT = 2.0


@adapter("Pad", 1, 2)
def pad_up(node: NodeView, build: Builder) -> Adapted:
    """The pads were called paddings."""
    return respell(node, build, drop=("paddings",), pads=list(node.attr("paddings")))


@adapter("Split", 1, 2)
def split_up(node: NodeView, build: Builder) -> Adapted:
    """The sizes were an attribute or an input, and the axis had no default."""
    if node.attr("axis") is None:
        raise Refuse("the axis is not given, and opset 1 names no default; write it into the file")
    sizes = node.input(1)
    if sizes is None:
        return respell(node, build)
    whole = [int(size) for size in build.need_const(sizes, "split").reshape(-1)]
    return respell(node, build, drop=("split",), split=whole)


@adapter(("GlobalLpPool", "LpPool"), 1, 2)
def lp_pool_up(node: NodeView, build: Builder) -> Adapted:
    """The exponent was any number, and 2 by default; since, it is a whole one, and 2 by default."""
    exponent = float(node.attr("p", 2.0))
    if exponent != _EXPONENT:
        raise Refuse(f"the exponent is {exponent}, and only {_EXPONENT} is known to mean the same")
    if node.op == "LpPool" and node.attr("kernel_shape") is None:
        raise Refuse("LpPool without kernel_shape has no size of its window")
    return respell(node, build, drop=("p",))
