"""Turn the axes that Pad acts on into the last two.

What it does: Transposes the data so that the padded axes come last, pads, and turns it back.
Why engines need it: TensorRT before 8.2 pads the last two axes only.
Before: y = Pad (x, {0, 1, 0, 0, 0, 1, 0, 0})
After: y = Transpose (Pad (Transpose <perm = {0, 2, 3, 1}> (x), {0, 0, 0, 1, 0, 0, 0, 1}))
When it refuses: More than two axes are padded, the mode is not constant, or pads or rank are
    unknown.
Accuracy: Exact: elements are moved.
References: https://onnx.ai/onnx/operators/onnx__Pad.html; onnx/onnx-tensorrt 8.0
    builtin_op_importers.cpp, importPad
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Pad", removes="attr:Pad.outer-dims", emits="Pad Transpose")
def pad_outer_dims_by_transpose(node: NodeView, build: Builder) -> Value:
    """Pad in another order of axes, see the module."""
    x = node.need(0)
    if node.attr("mode", "constant") != "constant":
        raise Refuse(f"the mode must be constant; it is {node.attr('mode')}")
    if x.rank is None or node.input(3) is not None:
        raise Refuse("the rank must be known, and the pads have no axes of their own")
    pads = node.attr("pads", node.attr("paddings"))
    if pads is None:
        pads = build.need_const(node.need(1), "the number of pads").reshape(-1)
    rank = x.rank
    padded = [axis for axis in range(rank) if pads[axis] or pads[rank + axis]]
    if len(padded) > 2 or rank < 3:
        raise Refuse(f"at most 2 of at least 3 axes must be padded; it is {len(padded)} of {rank}")
    order = [*(axis for axis in range(rank) if axis not in padded), *padded]
    if order == list(range(rank)):
        raise Refuse("an axis before the last two must be padded; none is")
    turned = [int(pads[place]) for axes in (0, rank) for place in (axes + axis for axis in order)]
    data = build.Transpose(x, perm=order)
    value = node.input(2)
    if node.has("pads") or node.has("paddings"):
        filled = build.Pad(data, pads=turned, mode="constant", value=node.attr("value", 0.0))
    else:
        filled = build.Pad(data, np.array(turned, np.int64), value, mode="constant")
    return build.Transpose(filled, perm=[int(place) for place in np.argsort(order)])
