"""From opset 8 to 9.

References: BatchNormalization-7 in onnx/defs/nn, Upsample-7 in onnx/defs/tensor (old.cc).
"""

from __future__ import annotations

import numpy as np

from graphfix.authoring import Builder, NodeView, need_elem_type, respell
from graphfix.opset.adapting import Adapted, adapter


@adapter("BatchNormalization", 8, 9)
def batch_normalization_up(node: NodeView, build: Builder) -> Adapted:
    """Statistics could be of each place, not of each channel alone."""
    if node.attr("spatial", 1):
        return respell(node, build, drop=("spatial",))
    x, scale, bias, mean, variance = (node.need(at) for at in range(5))
    need_elem_type(x)
    epsilon = build.constant(np.array(node.attr("epsilon", 1e-5), dtype=x.dtype))
    deviation = build.Sqrt(build.Add(variance, epsilon))
    return build.Add(build.Mul(build.Div(build.Sub(x, mean), deviation), scale), bias)


@adapter("Upsample", 8, 9)
def upsample_up(node: NodeView, build: Builder) -> Adapted:
    """The scales became an input."""
    scales = build.constant(np.array(node.attr("scales"), dtype=np.float32))
    return respell(node, build, drop=("scales",), scales=scales)
