"""Between opset 22 and 21.

References: AveragePool-22 and MaxPool-22 in onnx/defs/nn/defs.cc, which skip windows that start
in the padding at the end; AveragePool-19 and MaxPool-12 in onnx/defs/nn/old.cc do not say so.
"""

from __future__ import annotations

from graphfix.authoring import Builder, NodeView, Refuse, respell
from graphfix.opset.adapters._pooling import averages, axes_of_pool, pads_of
from graphfix.opset.adapting import KEEP, Adapted, adapter


def _differs(node: NodeView) -> bool:
    """Say whether a window can start in the padding at the end.

    Raises:
        Refuse: That depends on a size that is unknown.
    """
    if not node.attr("ceil_mode", 0) or node.attr("auto_pad", "NOTSET") != "NOTSET":
        return False
    kernel = node.attr("kernel_shape")
    count = len(kernel)
    strides = node.attr("strides", [1] * count)
    dilations = node.attr("dilations", [1] * count)
    pads = node.attr("pads", [0] * (2 * count))
    for axis in range(count):
        begin, end = pads[axis], pads[axis + count]
        reach = dilations[axis] * (kernel[axis] - 1) + 1
        if strides[axis] + end <= reach:
            continue  # the last window would start before the padding whatever the size
        size = node.need(0).dim(axis + 2)
        if size is None:
            raise Refuse(f"the size of spatial axis {axis} must be known where ceil_mode is set")
        steps = -(-(size + begin + end - reach) // strides[axis])
        if steps * strides[axis] >= size + begin:
            return True
    return False


@adapter(("AveragePool", "MaxPool"), 22, 21)
def pool_down(node: NodeView, build: Builder) -> Adapted:
    """Keep the node, or write the pads with which its windows fit without ceil_mode."""
    if not _differs(node):
        return KEEP
    axes = axes_of_pool(node)
    counted = node.op == "AveragePool" and node.attr("count_include_pad", 0)
    if counted and any(axis.needed != axis.end for axis in axes):
        return averages(node, build)
    return respell(node, build, ceil_mode=0, pads=pads_of(axes))


@adapter(("AveragePool", "MaxPool"), 21, 22)
def pool_up(node: NodeView, build: Builder) -> Adapted:
    """Keep the node where no window can start in the padding at the end."""
    if _differs(node):
        raise Refuse("no window may start in the padding with ceil_mode; one does")
    return KEEP
