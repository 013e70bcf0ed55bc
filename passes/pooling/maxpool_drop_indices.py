"""Drop the Indices output of a MaxPool where nothing uses it.

What it does: Writes the MaxPool with one output. `storage_order`, which says how indices count,
    goes too.
Why engines need it:
TensorRT refuses a MaxPool that names a second output, used or not ("TensorRT does not support the
indices output in MaxPool!"); PyTorch writes one for return_indices=True.
Before: y, unused = MaxPool <kernel_shape = [2, 2]> (x)
After: y = MaxPool <kernel_shape = [2, 2]> (x)
When it refuses: Something uses the indices, or there is no second output.
Accuracy:
exact: the first output does not depend on the second. Only for NaN, which engines treat as they
please: onnxruntime has one kernel with indices and one without, and which number wins against a NaN
differs.

References:
https://onnx.ai/onnx/operators/onnx__MaxPool.html; onnx-tensorrt builtin_op_importers.cpp,
release 8.6 (MaxPool).
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("MaxPool", removes="form:MaxPool.indices", emits="MaxPool")
def maxpool_drop_indices(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Write a MaxPool with one output."""
    if len(node.outputs) < 2:
        raise Refuse("there must be an Indices output; there is none")
    indices = node.output(1)
    if indices is not None and indices.is_used:
        raise Refuse("the Indices output must be unused; a node or the graph reads it")
    attributes = {name: node.attr(name) for name in node.attributes if name != "storage_order"}
    return build.MaxPool(node.need(0), **attributes), None
