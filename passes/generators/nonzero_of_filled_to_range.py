"""Replace NonZero of a vector that is filled with one number by Range.

What it does: A vector of ones of a length that is computed at run time, and the places where it is
    not zero: before opset 11 brought Range, PyTorch exported ``arange`` so. The places are counted
    instead.
Why engines need it: TensorRT has no NonZero before 8.5, and no engine can tell how many places
    there will be.
Before: y = NonZero (ConstantOfShape <value = {1}> (n))      n: [1], y: [1, N]
After: y = Unsqueeze <axes = {0}> (Range (0, Squeeze <axes = {0}> (n), 1))
When it refuses: What it reads is not computed by ConstantOfShape with a number other than 0, or is
    no vector.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__NonZero.html; pytorch/pytorch
    torch/onnx/symbolic_opset9.py (arange)
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("NonZero", removes="op:NonZero", emits="Range Squeeze Unsqueeze", since=11)
def nonzero_of_filled_to_range(node: NodeView, build: Builder) -> Value:
    """Count the places, see the module."""
    maker = node.need(0).producer
    if maker is None or maker.op != "ConstantOfShape" or maker.domain:
        raise Refuse("the vector must be filled with one number by ConstantOfShape; it is not")
    lengths, filled = maker.need(0), np.asarray(maker.attr("value", np.zeros(1, np.float32)))
    if lengths.dim(0) != 1:
        raise Refuse(f"one length must be filled; it is {lengths.dim(0) or 'an unknown number'}")
    if not filled.any():
        raise Refuse("the number must be another one than 0; it is 0")
    length = build.Squeeze(lengths, axes=[0])
    return build.Unsqueeze(build.Range(np.int64(0), length, np.int64(1)), axes=[0])
