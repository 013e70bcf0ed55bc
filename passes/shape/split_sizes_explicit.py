"""Write the sizes on a Split that makes parts of unequal size without naming them.

What it does: Works out the sizes that Split-18 gives its `num_outputs` parts: all the same, rounded
    up, and the last one what is left.
Why engines need it: TensorRT before 10.0 makes equal parts, rounded down, and drops the rest
    without a word.
Before: a, b, c = Split <num_outputs = 3> (x)        # x: float[8]
After: a, b, c = Split (x, {3, 3, 2})
When it refuses: A size that is unknown; parts of which the last would be empty or less (onnxruntime
    refuses these as well); equal parts before opset 18 that do not come out.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__Split.html onnx/onnx-tensorrt 8.6
    builtin_op_importers.cpp:4703
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("Split", removes="form:Split.uneven", emits="Split")
def split_sizes_explicit(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rewrite one Split."""
    if node.input(1) is not None or node.has("split"):
        raise Refuse("the sizes must be left out; they are given")
    data, axis = node.need(0), int(node.attr("axis", 0))
    size, count = data.dim(axis), len(node.outputs)
    if int(node.attr("num_outputs", count)) != count:
        raise Refuse("num_outputs must be the number of outputs; it is not")
    if size is None:
        raise Refuse(f"the size of axis {axis} must be known")
    part = -(-size // count)
    last = size - part * (count - 1)
    if last <= 0 or (last != part and node.opset < 18):
        raise Refuse(f"the size must make {count} parts; it is {size}")
    sizes = [part] * (count - 1) + [last]
    made = build.multi("Split", data, outputs=count, axis=axis, split=sizes)
    return tuple(
        value if old is not None else None for value, old in zip(made, node.outputs, strict=True)
    )
