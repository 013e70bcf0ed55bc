"""Replace DynamicSlice by Slice.

What it does: DynamicSlice reads starts, ends and axes as inputs, as Slice does from opset 10 on;
    below it they become attributes.
Why engines need it: onnx dropped it in 1.5. Old exporters of PyTorch wrote it.
Before: y = DynamicSlice (x, starts, ends, axes)
After: y = Slice <starts = [1], ends = [3], axes = [2]> (x)
When it refuses: Below opset 10, starts, ends or axes are computed at run time.
Accuracy: Exact.
References: onnx/defs/experiments/defs.cc of onnx 1.4;
    onnxruntime/core/providers/cpu/tensor/slice.cc
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite

_BY_INPUTS = 10  # the opset from which on Slice has them as inputs


@rewrite("DynamicSlice", removes="op:DynamicSlice", emits="Slice")
def dynamic_slice_to_slice(node: NodeView, build: Builder) -> Value:
    """Slice, see the module."""
    x, starts, ends, axes = node.need(0), node.need(1), node.need(2), node.input(3)
    if node.opset >= _BY_INPUTS:
        return build.Slice(x, starts, ends, axes)
    known = None if axes is None else build.need_const(axes, "the axes")
    return build.Slice(
        x,
        starts=build.need_const(starts, "where it starts"),
        ends=build.need_const(ends, "where it ends"),
        axes=known,
    )
