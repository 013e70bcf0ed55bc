"""Conv, ConvTranspose, DeformConv and pooling."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import is_weights, unknown_rank
from graphfix.ir.views import NodeView

_CHANNELS = (
    "Assertion failed: (nchan == -1 || kernelWeights.shape.d[1] * ngroup == nchan) && "
    '"Kernel weight dimension failed to broadcast to input."'
)
_KERNEL = (
    'Assertion failed: ... && "The attribute kernel_shape misaligns with the shape of the input '
    'tensor."'
)
_INDICES = (
    "Assertion failed: node.output().size() == 1 && "
    '"TensorRT does not support the indices output in MaxPool!"'
)


@rule(
    "Conv",
    feature="shape:Conv.channels",
    versions="trt7.0..",
    severity=REJECT,
    text=_CHANNELS,
    source="builtin_op_importers.cpp:722 (8.6.1)",
)
def conv_channels(node: NodeView, target: Target) -> Answer:
    """TensorRT: weight channels times group differ from the channels of the input of Conv."""
    data, weight = node.input(0), node.input(1)
    if data is None or weight is None:
        return None
    channels, per_group = data.dim(1), weight.dim(1)
    if channels is None or per_group is None:
        return None
    return per_group * int(node.attr("group", 1)) != channels


@rule(
    ("Conv", "ConvTranspose"),
    feature="rank:Conv",
    versions="trt7.0..",
    severity=REJECT,
    text="Assertion failed: ... && \"The number of spatial dimensions and the kernel shape doesn't "
    'match up for the Conv operator."',
    source="builtin_op_importers.cpp:665, 789 (8.6.1)",
)
def conv_rank(node: NodeView, target: Target) -> Answer:
    """TensorRT supports {op} of rank 3 to 5, with weights of the same rank."""
    data, weight = node.input(0), node.input(1)
    if data is None or weight is None:
        return None
    if data.rank is None:
        return unknown_rank(data)
    if data.rank not in (3, 4, 5):
        return Yes(feature=f"rank:{node.op}.{data.rank}")
    return weight.rank is not None and weight.rank != data.rank


@rule(
    ("Conv", "ConvTranspose"),
    feature="attr:Conv.kernel_shape",
    versions="trt7.0..",
    severity=REJECT,
    text='Assertion failed: ... && "The size of spatial dimension and the size of kernel shape are '
    'not equal for the Conv operator."',
    source="builtin_op_importers.cpp:700, 840 (8.6.1)",
)
def conv_kernel_shape(node: NodeView, target: Target) -> Answer:
    """TensorRT requires kernel_shape of {op} to match the shape of the weights."""
    kernel = node.attr("kernel_shape")
    weight = node.input(1)
    if kernel is None or weight is None or weight.static_shape is None:
        return None
    return tuple(kernel) != weight.static_shape[2:]


@rule(
    ("Conv", "MaxPool", "AveragePool", "LpPool"),
    feature="shape:Pool.window",
    versions="trt7.0..",
    severity=REJECT,
    text="Error Code 4: Internal Error ({op}: spatial dimension of convolution/deconvolution/"
    "pooling output cannot be negative)",
    source="NvInfer.h 8.6.1: PaddingMode; onnx2trt_utils.cpp: getKernelParams (8.6.1); "
    "tensorrt-rtx 1.4.0 to 1.7.1 build a pooling of no window, and one that ceil_mode rounds up to",
)
def window_too_large(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support {op} with a kernel larger than its padded input."""
    data, weight = node.need(0), node.input(1)
    kernel = node.attr("kernel_shape")
    if kernel is None and weight is not None and weight.shape is not None:
        kernel = weight.shape[2:]
    if kernel is None or data.shape is None or len(data.shape) != len(kernel) + 2:
        return None  # said by the rules on ranks
    if node.attr("auto_pad", "NOTSET") in ("SAME_UPPER", "SAME_LOWER"):
        return None
    count = len(kernel)
    pads = node.attr("pads", [0] * (2 * count))
    # Pooling ignores dilations, or refuses them.
    gaps = node.attr("dilations", [1] * count) if node.op == "Conv" else [1] * count
    steps = node.attr("strides", [1] * count)
    for axis, (size, width) in enumerate(zip(data.shape[2:], kernel, strict=True)):
        if not isinstance(size, int) or not isinstance(width, int):
            continue
        room = size + pads[axis] + pads[count + axis] - (width - 1) * gaps[axis] - 1
        # None or one window is known to be built by what is like 10.15 and later.
        strict = node.op == "Conv" or target.level < (10, 15)
        if room < 0 and (strict or _windows(node, room, steps[axis]) < 0):
            return Yes(feature=f"shape:{node.op}.window")
    return None


def _windows(node: NodeView, room: int, step: int) -> int:
    """Return how many windows a pooling counts, which may be none but not fewer."""
    return (-(-room // step) if node.attr("ceil_mode", 0) else room // step) + 1


@rule(
    "ConvTranspose",
    feature="attr:ConvTranspose.negative-pads",
    versions="trt8..",
    severity=REJECT,
    text="Assertion failed: begPadding.d[i] >= 0 && "
    '"TensorRT does not support negative pre-padding in the ConvTranspose operator!"',
    source="builtin_op_importers.cpp:870, onnx2trt_utils.cpp:930 (8.6.1)",
)
def conv_transpose_padding(node: NodeView, target: Target) -> Answer:
    """TensorRT: this output_shape of ConvTranspose makes the padding at the start negative."""
    shape = node.attr("output_shape")
    data, weight = node.need(0), node.need(1)
    if shape is None or node.attr("auto_pad", "NOTSET") != "NOTSET":
        return None
    sizes, kernel = data.static_shape, weight.static_shape
    if sizes is None or kernel is None:
        return Unknown(f"shape of {data.name}")
    count = len(sizes) - 2
    ones, zeros = [1] * count, [0] * count
    strides, dilations = node.attr("strides", ones), node.attr("dilations", ones)
    extra = node.attr("output_padding", zeros)
    offset = len(shape) - count
    for i in range(count):
        span = (kernel[2 + i] - 1) * dilations[i] + 1
        total = strides[i] * (sizes[2 + i] - 1) + extra[i] + span - shape[offset + i]
        if int(total / 2) < 0:
            return True
    return None


@rule(
    "MaxPool",
    feature="form:MaxPool.indices",
    versions="trt7.1..",
    severity=REJECT,
    text=_INDICES,
    source="builtin_op_importers.cpp:2954 (8.6.1)",
)
def max_pool_indices(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support the Indices output of MaxPool, even if unused."""
    return len(node.node.outputs) > 1


@rule(
    ("MaxPool", "AveragePool"),
    feature="rank:Pool",
    versions="trt7.0..",
    severity=REJECT,
    text=_KERNEL,
    source="onnx2trt_utils.cpp:1477-1485 (8.6.1)",
)
def pool_rank(node: NodeView, target: Target) -> Answer:
    """TensorRT supports kernels of one to three dimensions of {op}."""
    kernel = node.attr("kernel_shape")
    rank = node.need(0).rank
    if kernel is None:
        return True
    if len(kernel) in (2, 3) or (len(kernel) == 1 and rank in (3, None)):
        return None
    return Yes(feature=f"rank:{node.op}.{len(kernel) + 2}")


@rule(
    ("Conv", "ConvTranspose"),
    feature="shape:Conv.bias",
    versions="trt8..",
    severity=REJECT,
    text="The shape of the bias tensor misaligns with the weight tensor.",
    source="builtin_op_importers.cpp:670-685, 818-826 (8.6.1), onnxOpImporters.cpp:755-770 (10.1)",
)
def conv_bias_shape(node: NodeView, target: Target) -> Answer:
    """TensorRT requires a 1D bias of {op} with one value per output channel."""
    bias, weight = node.input(2), node.input(1)
    if bias is None or weight is None or not is_weights(bias) or bias.rank is None:
        return None
    if node.op == "Conv" and not is_weights(weight):
        return None  # imported another way, which does not look
    if bias.rank > 1 or (bias.rank == 0 and node.op == "ConvTranspose"):
        return Yes(feature=f"shape:{node.op}.bias", text='"The bias tensor is required to be 1D."')
    given = bias.dim(0) if bias.rank else 1
    if node.op == "Conv":
        channels = weight.dim(0)
    else:
        per_group = weight.dim(1)
        channels = None if per_group is None else per_group * int(node.attr("group", 1))
    wrong = given is not None and channels is not None and given != channels
    return wrong and Yes(feature=f"shape:{node.op}.bias")


@rule(
    "Conv",
    feature="attr:Conv.no-kernel_shape",
    versions="trt8.5..",
    severity=REJECT,
    text="Assertion failed: checkSpatialDims(kernel_tensor_ptr->getDimensions()) && "
    '"The input tensor shape misaligns with the input kernel shape."',
    source="onnx2trt_utils.cpp: convMultiInput (8.6.1), importerUtils.cpp:1755-1822 (10.1)",
)
def conv_window_unknown(node: NodeView, target: Target) -> Answer:
    """TensorRT requires kernel_shape of Conv if its weight or bias is not constant."""
    weight, bias = node.input(1), node.input(2)
    if weight is None or node.attr("kernel_shape") is not None:
        return None
    return not is_weights(weight) or (bias is not None and not is_weights(bias))


@rule(
    "DeformConv",
    feature="attr:DeformConv.pads",
    versions="trt10.1..",
    severity=REJECT,
    text='Assertion failed: begPadding == endPadding && "TensorRT only support the pads attribute '
    "of the DeformConv operator where the same number of pixels are added to the beginning and the "
    'end of the corresponding axis."',
    source="importerUtils.cpp:1087 (10.1)",
)
def deform_conv_pads(node: NodeView, target: Target) -> Answer:
    """TensorRT requires equal pads at both ends of an axis of DeformConv."""
    pads = [int(pad) for pad in node.attr("pads", [])]
    half = len(pads) // 2
    return pads[:half] != pads[half:]
