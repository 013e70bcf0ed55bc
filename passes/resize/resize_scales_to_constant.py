"""Write computed scales or sizes of Resize and Upsample as constants.

What it does:
Follows `scales` or `sizes` back through Identity, Cast, Concat, Slice, Gather, Squeeze, Unsqueeze,
Reshape, Floor, Ceil, Mul, Div, Add, Sub and Shape to dimensions that are known, or that cancel
(floor(2 * h) / h), and writes the values as a constant. Sizes that nothing else tells are read
from the shape of the output.
Why engines need it:
TensorRT up to 8.2 wants an initializer ("Resize scales must be an initializer!"), and no version
computes the float arithmetic that exporters write around shapes as a shape tensor.
Before:
    s = Div (floor_of_2h_2w, h_w)
    scales = Concat <axis = 0> (ones, s)
    y = Resize <mode = "linear"> (x, , scales)
After: y = Resize <mode = "linear"> (x, , constant [1, 1, 2, 2])
When it refuses: One element is known only at run time, or the input is constant already.
Accuracy:
exact: the same values, float arithmetic rounded after each step as the nodes do. Dimensions that
cancel are taken to be below 2^24, where float32 holds them exactly.

References:
https://onnx.ai/onnx/operators/onnx__Resize.html; onnx-tensorrt builtin_op_importers.cpp,
release 8.2 (Resize).
"""

from fractions import Fraction

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._reading import form_of, scale_elements, scales_input, size_elements, sizes_input
from ._vectors import Element


@rewrite(
    ["Resize", "Upsample"],
    removes="const:Resize.scales const:Resize.sizes const:Upsample.scales",
    emits="Resize Upsample",
)
def resize_scales_to_constant(node: NodeView, build: Builder) -> Value:
    """Write computed scales or sizes as constants."""
    form = form_of(node)
    inputs = list(node.inputs)
    scales, sizes = scales_input(node), sizes_input(node)
    if scales is not None and not scales.is_constant:
        values = _numbers(scale_elements(node, form), "scale")
        fixed = build.constant(np.array([float(v) for v in values], dtype=np.float32))
        inputs[inputs.index(scales)] = fixed
    elif scales is None and sizes is not None and not sizes.is_constant:
        values = _numbers(size_elements(node, form), "size")
        fixed = build.constant(np.array([int(v) for v in values], dtype=np.int64))
        inputs[3] = fixed
    else:
        raise Refuse("scales or sizes must be computed; they are constant already")
    attributes = {name: node.attr(name) for name in node.attributes}
    return build.multi(node.op, *inputs, **attributes)[0]


def _numbers(elements: list[Element] | None, what: str) -> list[Fraction]:
    numbers: list[Fraction] = []
    for place, element in enumerate(elements or []):
        if not isinstance(element, Fraction):
            raise Refuse(
                f"the {what} at position {place} must be fixed; it is known only at run time"
            )
        numbers.append(element)
    return numbers
