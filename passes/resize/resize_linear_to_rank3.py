"""Resize images as a batch of rank 3, for engines whose linear Resize takes no more.

What it does:
Puts a Reshape to [n * c, h, w] before an asymmetric linear Resize or Upsample of the last two
axes, and one back to [n, c, h', w'] after it.
Why engines need it:
The full-dimensions parser of TensorRT 6 takes linear for a total rank of 1 to 3 only ("Assertion
failed: (input_dims >= 1) && (input_dims <= 3)"), and 7.0 for Upsample.
Before: y = Resize <mode = "linear"> (x, scales)        with x [2, 3, 8, 8], scales = [1, 1, 2, 2]
After:
    t = Reshape (x, [6, 8, 8])
    u = Resize <mode = "linear"> (t, scales)        with scales = [1, 2, 2]
    y = Reshape (u, [2, 3, 16, 16])
When it refuses:
Ranks up to 3; a mode other than linear, or coordinates other than asymmetric (those engines would
misread them); sizes instead of scales; scales or a length of the last two axes known only at run
time; more than one of the other axes of unknown length; another axis that is resized; an empty
input or output.
Accuracy:
exact up to the order of summation: the same pixels with the same shares, in the same memory. A
pixel that is infinite or NaN next to a share of 0 gives NaN in some kernels of an engine and not in
others.

References:
onnx-tensorrt builtin_op_importers.cpp, release 6.0-full-dims (Upsample, Resize); onnx-tensorrt
issue 309; https://onnx.ai/onnx/operators/onnx__Upsample.html.
"""

import math
from fractions import Fraction

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, needed, rewrite

from ._emitting import resize, sampling_attributes
from ._reading import form_of, scale_elements, scaled_size


@rewrite(
    ["Resize", "Upsample"], removes="rank:Resize.* rank:Upsample.*", emits="Reshape Resize Upsample"
)
def resize_linear_to_rank3(node: NodeView, build: Builder) -> Value:
    """Resize [n, c, h, w] as [n * c, h, w]."""
    form = form_of(node)
    if form.mode != "linear" or form.coordinates != "asymmetric" or form.antialias:
        raise Refuse(
            f"it must be linear with asymmetric coordinates and no antialias; it is {form.mode} "
            f"with {form.coordinates}"
        )
    if form.rank <= 3:
        raise Refuse(f"the rank must be above 3; it is {form.rank} already")
    given = needed(scale_elements(node, form), "the node must give scales; it gives sizes")
    scales = [Fraction(1)] * form.rank
    for index, scale in zip(form.axes, given, strict=True):
        if not isinstance(scale, Fraction):
            raise Refuse(f"the scale of axis {index} must be fixed; it is known only at run time")
        scales[index] = scale
    if any(scale != 1 for scale in scales[:-2]):
        raise Refuse("the last two axes alone must be resized; another one is")
    lengths = [form.x.dim(form.rank - 2), form.x.dim(form.rank - 1)]
    if None in lengths:
        raise Refuse(
            "the sizes of the last two axes must be fixed; they are known only at run time"
        )
    image = [length for length in lengths if length is not None]
    lead = [form.x.dim(axis) for axis in range(form.rank - 2)]
    known = [dim for dim in lead if dim is not None]
    if len(known) < len(lead) - 1:
        raise Refuse("at most one leading axis must be of unknown size; more are")
    if 0 in known or 0 in image:
        raise Refuse("the input must not be empty; it is")
    sizes = [scaled_size(n, s) for n, s in zip(image, scales[-2:], strict=True)]
    if 0 in sizes:
        raise Refuse("the output must not be empty; it is")
    batch = math.prod(known) if len(known) == len(lead) else -1
    flat = build.Reshape(form.x, shape=[batch, *image])
    factors = [1.0, *(float(scale) for scale in scales[-2:])]
    if node.op == "Upsample":
        wanted = factors if build.opset < 9 else build.constant(np.array(factors, np.float32))
        small = build.Upsample(flat, scales=wanted, mode="linear")
    else:
        small = resize(build, flat, attributes=sampling_attributes(node), scales=factors)
    return build.Reshape(small, shape=[*(-1 if dim is None else dim for dim in lead), *sizes])
