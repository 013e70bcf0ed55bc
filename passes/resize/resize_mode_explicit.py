"""Write the mode of a Resize down, and leave a rounding out that is the default or of no use.

What it does: Adds `mode`, which is nearest where it is left out, and takes `nearest_mode` away
    where the mode is another one, or where it is round_prefer_floor, as without it.
Why engines need it: pnnx knows a Resize by its mode, and none with a rounding but floor, whatever
    the mode: "layer Resize not exists or registered".
Before: y = Resize <mode = "linear", nearest_mode = "ceil"> (x, , , sizes)
After: y = Resize <mode = "linear"> (x, , , sizes)
When it refuses: The mode is written, and so is no rounding that can be left out.
Accuracy: Exact: these are the defaults of the attributes, and only nearest rounds.
References: https://onnx.ai/onnx/operators/onnx__Resize.html
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_DEFAULT = "round_prefer_floor"


@rewrite(
    "Resize",
    removes="attr:Resize.no-mode attr:Resize.nearest_mode=*",
    emits="Resize",
    since=11,
    claims="nan inf",
)
def resize_mode_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write the mode, and no rounding that is not read, see the module."""
    mode = node.attr("mode", "nearest")
    rounds = mode == "nearest" and node.attr("nearest_mode", _DEFAULT) != _DEFAULT
    needless = node.has("nearest_mode") and not rounds
    if node.has("mode") and not needless:
        raise Refuse("mode must be missing, or nearest_mode be unused; neither is so")
    return respell(node, build, drop=("nearest_mode",) if needless else (), mode=mode)
