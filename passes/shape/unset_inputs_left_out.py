"""Leave out optional inputs at the end that are written as an empty name.

What it does: Ends the list of inputs with the last one that is there.
Why engines need it: TensorRT counts the inputs of some operators and takes the empty name for a
    tensor: "Trying to access weights or a null tensor!", or it crashes.
Before: y = Gemm (a, b, "")
After: y = Gemm (a, b)
When it refuses: The last input is there, or the operator needs the place of an empty one before it.
Accuracy: Exact: both forms mean that the input is not there.
References: https://github.com/onnx/onnx/blob/main/docs/IR.md (optional inputs); onnx/onnx-tensorrt
    8.6.1 builtin_op_importers.cpp:1649, 4749
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

OPS = ("DeformConv", "Dropout", "Gemm", "QuantizeLinear", "Squeeze", "Trilu")


@rewrite(OPS, removes=tuple(f"form:{op}.unset-input" for op in OPS), emits=OPS)
def unset_inputs_left_out(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rewrite one node."""
    if not node.inputs or node.inputs[-1] is not None:
        raise Refuse("the last input must be left out; it is there")
    return respell(node, build)
