"""Replace operators of QONNX that prepare a network for hardware by those of ONNX.

What it does: QuantAvgPool2d becomes the sum of each window, of which the lowest bits are dropped;
    Im2Col one Slice for each point of the kernel, side by side; XnorPopcountMatMul a product of the
    bits as -1 and 1; DebugMarker, which gives what it gets, is left out. Each has a pass.
Why engines need it: Engines know none of their domains.
Before: y = qonnx.custom_op.general.XnorPopcountMatMul (a, b)          # a: [N, 64], bits
After: y = Mul (Add (MatMul (Sub (Mul (a, 2), 1), Sub (Mul (b, 2), 1)), 64), 0.5)
When it refuses: QuantAvgPool2d adds up more than 20 bits, or its opset is below 11, which has no
    Round; Im2Col reads a batch of more than one, an image whose sizes are not known, or fewer
    points than its kernel has; XnorPopcountMatMul reads rows whose size is not known.
Accuracy: Exact: integers that float32 holds. QONNX takes the mean and multiplies it as well.
References: https://github.com/fastmachinelearning/qonnx, src/qonnx/custom_op/general:
    quantavgpool2d.py, im2col.py, xnorpopcount.py, debugmarker.py
"""

from collections.abc import Sequence
from itertools import product

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, every_nth, rewrite

from ._brevitas import named, need_floats

_MOST_BITS = 20  # sums up to there are whole after a mean, whose error stays below a half
_LAST = "NHWC"


def infer_type(node: NodeView) -> Sequence[InferredType | None]:
    """The type of the first input."""
    return (InferredType(node.need(0).elem_type),)


@rewrite(
    named("QuantAvgPool2d"),
    emits="AveragePool Floor Mul Round Transpose",
    infer=infer_type,
    since=11,
)
def qonnx_average_pool_to_floor(node: NodeView, build: Builder) -> Value:
    """Replace QuantAvgPool2d of QONNX by the mean times its points, without the lowest bits."""
    x = need_floats(node)
    if x.rank != 4:
        raise Refuse(f"{x.name} must be images; its rank is {x.rank}")
    kernel, stride = int(node.attr("kernel", 1)), int(node.attr("stride", 1))
    most = (2 ** int(node.attr("ibits", 1)) - 1) * kernel * kernel
    if most.bit_length() > _MOST_BITS:
        raise Refuse(f"sums must have at most {_MOST_BITS} bits; they have {most.bit_length()}")
    dropped = max(0, most.bit_length() - int(node.attr("obits", 1)))
    last = node.attr("data_layout", "NCHW") == _LAST
    first = build.Transpose(x, perm=[0, 3, 1, 2]) if last else x
    mean = build.AveragePool(first, kernel_shape=[kernel] * 2, strides=[stride] * 2)
    whole = build.Round(build.Mul(mean, float(kernel * kernel)))
    cut = build.Floor(build.Mul(whole, 2.0**-dropped))
    return build.Transpose(cut, perm=[0, 2, 3, 1]) if last else cut


@rewrite(named("Im2Col"), emits="Concat Pad Slice", infer=infer_type, since=11)
def qonnx_im2col_to_slices(node: NodeView, build: Builder) -> Value:
    """Replace Im2Col of QONNX by a Slice for each point of the kernel."""
    x = need_floats(node)
    sizes = x.static_shape
    if sizes is None or len(sizes) != 4 or sizes[0] != 1:
        raise Refuse(f"{x.name} must be one image of known sizes; its shape is {x.shape}")
    kernel, strides = _pair(node, "kernel_size"), _pair(node, "stride")
    gaps = _pair(node, "dilations", [1, 1])
    pads = [int(p) for p in node.attr("pad_amount", [0, 0, 0, 0])]
    padded = x
    if any(pads):
        amounts = [0, *pads[:2], 0, 0, *pads[2:], 0]
        padded = build.Pad(x, pads=amounts, constant_value=float(node.attr("pad_value", 0)))
    counts: list[int] = []
    for axis in range(2):
        span = (kernel[axis] - 1) * gaps[axis] + 1
        room = sizes[1 + axis] + pads[axis] + pads[2 + axis] - span
        if room < 0:
            raise Refuse(f"the kernel must fit into the image; it spans {span} of axis {1 + axis}")
        counts.append(room // strides[axis] + 1)
    pieces: list[Value] = []
    for point in product(*(range(k) for k in kernel)):
        starts = [p * d for p, d in zip(point, gaps, strict=True)]
        pieces.append(every_nth(padded, starts, counts, strides, build, first=1))
    return build.Concat(*pieces, axis=3) if len(pieces) > 1 else pieces[0]


def _pair(node: NodeView, name: str, default: Sequence[int] = ()) -> list[int]:
    given = [int(value) for value in node.attr(name, list(default))]
    if len(given) != 2:
        raise Refuse(f"{name} must be two numbers; it is {given}")
    return given


@rewrite(named("XnorPopcountMatMul"), emits="Add MatMul Mul Sub", infer=infer_type)
def qonnx_xnor_to_matmul(node: NodeView, build: Builder) -> Value:
    """Replace XnorPopcountMatMul of QONNX by a product of signs."""
    x, other = need_floats(node), node.need(1)
    size = x.dim(-1) if x.dim(-1) is not None else other.dim(0)
    if other.rank != 2 or size is None:
        raise Refuse(
            f"the rows must be of known size and the second operand of rank 2; it has {other.rank}"
        )
    signs = [build.Sub(build.Mul(bits, 2.0), 1.0) for bits in (x, other)]
    return build.Mul(build.Add(build.MatMul(*signs), float(size)), 0.5)


@rewrite(named("DebugMarker"), emits="")
def qonnx_debug_marker_elimination(node: NodeView, build: Builder) -> Value:
    """Leave DebugMarker of QONNX out: it gives what it gets."""
    return node.need(0)
