"""Write down the strides of a pool that leaves them out.

What it does:
    Adds `strides`, the ones that ONNX means.

Why engines need it:
    MNN's converter takes strides that are left out for 0 and divides by them: the process ends.

Before:
    y = MaxPool <kernel_shape = [2, 2]> (x)

After:
    y = MaxPool <kernel_shape = [2, 2], strides = [1, 1]> (x)

When it refuses:
    Never; it leaves alone what has strides.

Accuracy:
    Exact.

References:
    https://onnx.ai/onnx/operators/onnx__MaxPool.html; measured on MNN 3.6.1
"""

from __future__ import annotations

from typing import Any

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_POOLS = ("AveragePool", "LpPool", "MaxPool")


@rewrite(
    _POOLS,
    removes=tuple(f"form:{op}.no-strides" for op in _POOLS),
    emits=_POOLS,
)
def pool_strides_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Add the attribute."""
    if node.has("strides"):
        raise Refuse("the strides must be left out; they are written")
    strides = [1] * len(list(node.attr("kernel_shape")))
    attributes: dict[str, Any] = {**node.node.attrs, "strides": strides}
    return tuple(build.multi(node.op, *node.inputs, outputs=len(node.outputs), **attributes))
