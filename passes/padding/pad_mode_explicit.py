"""Write the mode of a Pad down that ONNX lets out.

What it does: Adds `mode`, which is constant where it is left out.
Why engines need it: pnnx knows a Pad by its mode alone, and leaves one without it in its file:
    "layer Pad not exists or registered".
Before: y = Pad (x, pads)
After: y = Pad <mode = "constant"> (x, pads)
When it refuses: The mode is written.
Accuracy: Exact: it is the default of the attribute.
References: https://onnx.ai/onnx/operators/onnx__Pad.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite("Pad", removes="attr:Pad.no-mode", emits="Pad", claims="nan inf")
def pad_mode_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the mode down, see the module."""
    if node.has("mode"):
        raise Refuse("the mode must be left out; it is written")
    return respell(node, build, mode="constant")
