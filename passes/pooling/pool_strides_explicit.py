"""Write down the strides and pads of a pool that leaves them out.

What it does: Adds `strides`, the ones that ONNX means, and `pads`, zeros, unless they are
    automatic.
Why engines need it: MNN's converter takes strides that are left out for 0 and divides by them, and
    reads pads over three dimensions that are not there: the process ends.
Before: y = MaxPool <kernel_shape = [2, 2]> (x)
After: y = MaxPool <kernel_shape = [2, 2], strides = [1, 1], pads = [0, 0, 0, 0]> (x)
When it refuses: Never; it leaves alone what has both.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__MaxPool.html; measured on MNN 3.6.1
"""

from typing import Any

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_POOLS = ("AveragePool", "LpPool", "MaxPool")


@rewrite(
    _POOLS,
    removes=tuple(f"form:{op}.{what}" for op in _POOLS for what in ("no-strides", "no-pads")),
    emits=_POOLS,
)
def pool_strides_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Add the attributes."""
    dims = len(list(node.attr("kernel_shape")))
    written = {"strides": [1] * dims, "pads": [0] * 2 * dims}
    if node.attr("auto_pad", "NOTSET") != "NOTSET":
        del written["pads"]
    if all(map(node.has, written)):
        raise Refuse("strides or pads must be left out; they are written")
    attributes: dict[str, Any] = {**written, **node.written()}
    return tuple(build.multi(node.op, *node.inputs, outputs=len(node.outputs), **attributes))
