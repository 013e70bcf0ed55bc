"""Give LayerNormalization a bias of zeros where it has none.

What it does: Adds a bias of -0.0, as long as the scale.
Why engines need it: onnxruntime from 1.15 to 1.18 ends its process where a LayerNormalization
    without bias is read more than once: it looks for an attention after it, and reads its bias.
Before: y = LayerNormalization (x, scale)
After: y = LayerNormalization (x, scale, bias = [-0.0, ...])
When it refuses: There is a bias, or the shape or the dtype of the scale is not known.
Accuracy: Exact: no number changes with -0.0, 0.0 among them.
References: https://onnx.ai/onnx/operators/onnx__LayerNormalization.html; microsoft/onnxruntime
    core/optimizer/attention_fusion.cc; asked of 1.15.1 to 1.20.1
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite(
    "LayerNormalization",
    removes="form:LayerNormalization.no-bias",
    emits="LayerNormalization",
    claims="nan inf",
)
def layer_normalization_bias_given(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Add zeros, see the module."""
    scale = node.need(1)
    if node.input(2) is not None:
        raise Refuse("there must be no bias; there is one")
    if scale.static_shape is None or not scale.elem_type:
        raise Refuse(f"shape and dtype of {scale.name} must be known; they are not")
    bias = build.constant(np.full(scale.static_shape, -0.0, scale.dtype))
    kept = {name: node.attr(name) for name in node.attributes}
    return build.multi(
        "LayerNormalization", node.need(0), scale, bias, outputs=len(node.outputs), **kept
    )
