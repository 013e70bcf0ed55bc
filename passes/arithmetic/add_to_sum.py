"""Write a sum that an engine computes within the Conv before it as Sum.

What it does: Replaces Add by Sum of the same two tensors.
Why engines need it: OpenCV 4 computes an Add within the Conv whose result it adds to another
    tensor, in the memory of that tensor. Where a Concat gives it, its parts are written to the
    wrong places or refused, and weights that are computed are refused. A Sum is a layer of its own.
Before: y = Add (Conv (x, w), Concat <axis = 1> (a, b))
After: y = Sum (Conv (x, w), Concat <axis = 1> (a, b))
When it refuses: The operands are no floats, which alone Sum takes; the opset is below 8, where Sum
    repeats none.
Accuracy: Exact: the same sums of two numbers.
References: https://onnx.ai/onnx/operators/onnx__Sum.html; opencv 4.10.0,
    modules/dnn/src/net_impl_fuse.cpp
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Add", removes="form:Add.within-conv", emits="Sum", since=8, claims="nan inf")
def add_to_sum(node: NodeView, build: Builder) -> Value:
    """Sum up, see the module."""
    first, second = node.need(0), node.need(1)
    if first.dtype is None or first.dtype.kind != "f":
        raise Refuse(f"the operands must be floats; they are {first.type_name or 'unknown'}")
    return build.Sum(first, second)
