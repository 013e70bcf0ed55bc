"""Write LpPool as an AveragePool of powers.

What it does: Averages the powers, with the padding, multiplies by the size of the kernel, and takes
    the root.
Why engines need it: TensorRT takes p of 1 or 2 only, and ignores or refuses dilations.
Before: y = LpPool <p = 3, kernel_shape = [2, 2]> (x)
After:
    a = AveragePool <kernel_shape = [2, 2], count_include_pad = 1> (Pow (Abs (x), 3))
    y = Pow (Mul (a, 4), 1 / 3)
When it refuses: The elements are no floats, the opset is below 7, ceil_mode is used, or dilations
    below opset 19. With auto_pad of SAME_UPPER or SAME_LOWER, a stride is longer than the kernel:
    its padding may come out negative, which an AveragePool does not take.
Accuracy: Exact up to rounding of powers and roots, and as long as no power leaves the range of the
    type; infinite numbers and NaN may give the one or the other.
References: https://onnx.ai/onnx/operators/onnx__LpPool.html; builtin_op_importers.cpp:2837 of
    onnx-tensorrt, release 8.6
"""

from math import prod

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("LpPool", removes="op:LpPool attr:LpPool.*", emits="Abs AveragePool Mul Pow", since=7)
def lppool_to_averagepool(node: NodeView, build: Builder) -> Value:
    """Average the powers and take the root, see the module."""
    x = node.need(0)
    dtype = x.dtype
    if dtype is None or dtype.kind != "f":
        raise Refuse(f"{x.name} must be floating point; it is {x.type_name}")
    if node.attr("ceil_mode", 0):
        raise Refuse("ceil_mode must be 0; it is not")
    dilated = any(int(d) != 1 for d in node.attr("dilations", []))
    if dilated and build.opset < 19:
        raise Refuse(
            f"the opset must be at least 19 for an AveragePool with dilations; it is {build.opset}"
        )
    if str(node.attr("auto_pad", "NOTSET")).startswith("SAME") and _skips(node):
        raise Refuse("with auto_pad no stride may be longer than the kernel; one is")
    left_out = ("p", "dilations") if not dilated else ("p",)
    kept = {name: node.attr(name) for name in node.attributes if name not in left_out}
    power = float(node.attr("p", 2))
    if power < 1:
        raise Refuse(f"the power must be at least 1; it is {power:g}")
    sizes = prod(int(k) for k in node.attr("kernel_shape"))
    raised = build.Abs(x) if power == 1 else build.Pow(build.Abs(x), power)
    average = build.AveragePool(raised, count_include_pad=1, **kept)
    total = build.Mul(average, float(sizes))
    return total if power == 1 else build.Pow(total, 1 / power)


def _skips(node: NodeView) -> bool:
    """Say whether the window moves on by more than it covers."""
    kernel = [int(k) for k in node.attr("kernel_shape")]
    dilations = [int(d) for d in node.attr("dilations", [])] or [1] * len(kernel)
    strides = [int(s) for s in node.attr("strides", [])] or [1] * len(kernel)
    covered = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=False)]
    return any(s > c for s, c in zip(strides, covered, strict=False))
