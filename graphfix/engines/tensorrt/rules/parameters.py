"""Parameters of convolutions whose shapes the importers ask for: biases, DeformConv."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, rule
from graphfix.engines.rule_makers import refuses_rank, refuses_types
from graphfix.engines.tensorrt.rules.parsed import is_weights
from graphfix.ir.views import NodeView


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


deform_conv_rank = refuses_rank(
    "DeformConv",
    0,
    range(3, 5),
    versions="trt10.1..",
    text="Assertion failed: nbDims >= 3 && nbDims <= 4: TensorRT only supports DeformConv on 3D, "
    "or 4D tensors!",
    source="importerUtils.cpp:1020 (10.1)",
)
deform_conv_types = refuses_types(
    "deform-conv-types",
    "DeformConv",
    ("bfloat16",),
    versions="trt10.1..trt10.1",
    text="Inputs must be either FLOAT or FLOAT16.",
    source="onnxOpImporters.cpp: importDeformConv (10.1)",
)


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
