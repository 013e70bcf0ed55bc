"""Leave out the mode of GridSample where it is the one that ONNX fills in.

What it does: Drops the attribute `mode` of a GridSample of opset 20 or newer that says linear.
Why engines need it: The mode was called bilinear before opset 20. Parsers that know the older name
    alone read linear as nearest, and interpolate where nothing is said.
Before: y = GridSample <mode = "linear"> (x, grid)
After: y = GridSample (x, grid)
When it refuses: The mode is not said, or is another one.
Accuracy: Exact: linear is what the attribute is where it is left out.
References: https://onnx.ai/onnx/operators/onnx__GridSample.html; NVIDIA/TensorRT issue 4646;
    onnx/onnx-tensorrt builtin_op_importers.cpp (importGridSample, 8.6.1)
"""

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite


@rewrite("GridSample", removes="form:GridSample.mode=linear", emits="GridSample", since=20)
def grid_sample_mode_left_out(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Drop it, see the module."""
    mode = node.attr("mode", "left out")
    if mode != "linear":
        raise Refuse(f"the mode must be linear; it is {mode}")
    return respell(node, build, drop=("mode",))
