"""Normalisations, Dropout and Softmax."""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, WRONG, Answer, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import engine_type, is_weights, opset_of
from graphfix.ir.views import NodeView, needed

_OUTPUTS = (
    "Assertion failed: (node.output().size() <= static_cast<int32_t>(outputs.size())) && "
    '"Node has more output tensors than TRT expected."'
)


@rule(
    ("LayerNormalization", "BatchNormalization", "GroupNormalization", "InstanceNormalization"),
    feature="form:outputs",
    versions="trt8..",
    severity=REJECT,
    text=_OUTPUTS,
    source="ModelImporter.cpp:228 (8.6.1)",
)
def normalization_outputs(node: NodeView, target: Target) -> Answer:
    """TensorRT supports the first output of {op} only."""
    return len(node.node.outputs) > 1 and Yes(feature=f"form:{node.op}.outputs")


@rule(
    ("GroupNormalization", "InstanceNormalization"),
    feature="rank:normalization",
    versions="trt8.6..",
    severity=REJECT,
    text='Assertion failed: nbDims >= 3 && "Input to normalization should be at least 3D!"',
    source="onnx2trt_utils.cpp: normalizationHelper (8.6.1), importerUtils.cpp:1312 (10.1)",
)
def normalization_rank(node: NodeView, target: Target) -> Answer:
    """TensorRT supports {op} of rank 3 or higher only."""
    rank = node.need(0).rank
    if node.op == "InstanceNormalization" and target.level < (10, 0):
        return None  # a plugin up to then, with a rule of its own
    return rank is not None and rank < 3 and Yes(feature=f"rank:{node.op}.{rank}")


@rule(
    "Dropout",
    feature="attr:Dropout.is_test",
    versions="trt7.1..",
    severity=REJECT,
    text="TensorRT does not support the Droupout operator with training mode.",
    source="builtin_op_importers.cpp:1330 (8.6.1), onnxOpCheckers.cpp: checkDropout (10.1)",
)
def dropout_in_training(node: NodeView, target: Target) -> Answer:
    """TensorRT requires is_test=1 of Dropout up to opset 6."""
    return opset_of(node) <= 6 and not node.attr("is_test", 1)


@rule(
    "Dropout",
    feature="const:Dropout.training_mode",
    versions="trt7.1..",
    severity=REJECT,
    text='Assertion failed: inputs.at(2).is_weights() && "This Version of TensorRT only supports '
    'the training_mode input as an initializer."',
    source="builtin_op_importers.cpp:1337-1347 (8.6.1)",
)
def dropout_training(node: NodeView, target: Target) -> Answer:
    """TensorRT requires a constant training_mode of Dropout, set to false."""
    mode = node.input(2)
    if mode is None or opset_of(node) < 12:
        return None
    if not is_weights(mode):
        return True
    array = mode.array()
    if array is None:
        return None
    return bool(array.any()) and Yes(
        feature="attr:Dropout.training_mode",
        text='Assertion failed: !trainingMode[0] && "TensorRT does not support the Dropout '
        'operator in training mode."',
    )


@rule(
    "InstanceNormalization",
    feature="attr:InstanceNormalization.epsilon",
    versions="trt6..trt7.0",
    severity=WRONG,
    source="builtin_op_importers.cpp:1542 (7.0): epsilon is at least 1e-4",
)
def instance_norm_epsilon(node: NodeView, target: Target) -> Answer:
    """TensorRT raises epsilon of InstanceNormalization to at least 1e-4."""
    return float(node.attr("epsilon", 1e-5)) < 1e-4


@rule(
    "GroupNormalization",
    feature="form:GroupNormalization.per-channel",
    versions="trt8.6..trt9.3",
    severity=BUILDER,
    text="GroupNormalization: scale and bias of length num_groups are expected",
    source="builtin_op_importers.cpp:1344-1395 (8.6.1); NVIDIA/TensorRT issues 4336, 4313",
)
def group_norm_scale(node: NodeView, target: Target) -> Answer:
    """TensorRT reads one scale per group; GroupNormalization-21 has one per channel."""
    scale = node.input(1)
    if scale is None:
        return None
    length, groups = scale.dim(0), int(node.attr("num_groups", 1))
    if length is None:
        return node.opset >= 21 or Unknown(f"length of {scale.name}")
    return length != groups


@rule(
    ("MeanVarianceNormalization", "LpNormalization", "LpPool"),
    feature="dtype:normalization",
    versions="trt8..",
    severity=REJECT,
    text='Assertion failed: ... && "Only float/half inputs/outputs supported in {op}."',
    source="builtin_op_importers.cpp:2765, 2835, 2997 (8.6.1)",
)
def normalization_type(node: NodeView, target: Target) -> Answer:
    """TensorRT supports {op} of floats only."""
    data = node.need(0)
    found = needed(engine_type(data, target) or None, f"dtype of {data.name}")
    taken = {"float32", "float16"}
    if node.op == "MeanVarianceNormalization" or target.level > (10, 1):
        taken.add("bfloat16")  # not the other two up to 10.1: onnxOpImporters.cpp:3262 (10.1)
    if found in taken:
        return None
    return Yes(feature=f"dtype:{node.op}.{data.type_name}")


@rule(
    "LayerNormalization",
    feature="form:LayerNormalization.no-bias",
    versions="trt8.6..trt9.3",
    severity=REJECT,
    text="segmentation fault",
    source="builtin_op_importers.cpp:2215 (8.6.1): a null tensor is used where the name is empty",
)
def layer_norm_bias(node: NodeView, target: Target) -> Answer:
    """TensorRT crashes on a LayerNormalization bias that is an empty name; leave it out."""
    return len(node.node.inputs) == 3 and node.input(2) is None


@rule(
    ("Softmax", "LogSoftmax"),
    feature="form:Softmax.opset13",
    versions="..trt7",
    severity=WRONG,
    source="builtin_op_importers.cpp:3150-3174 (7.1): flattened to two dimensions at the axis",
)
def softmax_13(node: NodeView, target: Target) -> Answer:
    """TensorRT computes {op}-13 like that of opset 11, which flattens to 2D."""
    if opset_of(node) < 13:
        return None
    rank = needed(node.need(0).rank, f"rank of {node.need(0).name}")
    axis = int(node.attr("axis", -1)) % max(rank, 1)
    written = "axis" in node.node.attrs
    same = axis == rank - 1 and (written or rank <= 2)
    return not same and Yes(feature=f"form:{node.op}.opset13")
