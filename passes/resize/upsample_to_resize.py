"""Replace Upsample, which opset 10 took away, by Resize.

What it does:
Upsample is a Resize with asymmetric coordinates that rounds down. From opset 11 on the Resize says
so; in opset 10 it means so. The names bilinear and trilinear, which converters wrote, are linear.
Why engines need it:
A model of opset 10 or newer that still holds an Upsample is no valid ONNX; onnxruntime refuses
it, and TensorRT takes only the modes "nearest" and "linear" by name.
Before: y = Upsample <mode = "nearest"> (x, scales)
After:
    y = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric",
                nearest_mode = "floor"> (x, , scales)
When it refuses: Scales below 1, which Upsample does not define; an attribute `scales` next to an
    input.
Accuracy: exact: the same formula.
References: https://onnx.ai/onnx/operators/onnx__Upsample.html;
    https://onnx.ai/onnx/operators/onnx__Resize.html.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, rewrite

from ._emitting import resize
from ._reading import form_of, scale_elements


@rewrite(
    "Upsample",
    removes="op:Upsample attr:Upsample.mode=* model:deprecated-operator",
    emits="Resize",
    since=10,
)
def upsample_to_resize(node: NodeView, build: Builder) -> Value:
    """Replace Upsample by an asymmetric Resize."""
    form = form_of(node)
    given = node.input(1)
    if node.has("scales") and given is not None:
        raise Refuse("scales must be given once; they are given twice")
    elements = needed(scale_elements(node, form), "the node must have scales; it has none")
    if any(isinstance(scale, Fraction) and scale < 1 for scale in elements):
        raise Refuse(
            "scales must be at least 1, as Upsample defines them; they are"
            f" {[float(s) for s in elements if isinstance(s, Fraction)]}"
        )
    scales = given if given is not None else np.array(node.attr("scales"), dtype=np.float32)
    attributes: dict[str, Any] = {"mode": form.mode}
    if build.opset >= 11:
        attributes["coordinate_transformation_mode"] = "asymmetric"
        attributes["nearest_mode"] = "floor"
    return resize(build, form.x, attributes=attributes, scales=scales)
