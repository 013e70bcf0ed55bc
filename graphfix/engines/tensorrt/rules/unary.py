"""Operators on one tensor and activations: which element types they take."""

from __future__ import annotations

from graphfix.engines.profile import Target
from graphfix.engines.rule import BUILDER, REJECT, Answer, rule
from graphfix.engines.rule_makers import refused_type, refuses_types
from graphfix.engines.tensorrt.rules.parsed import words
from graphfix.ir.views import NodeView

_UNARY = (
    'Assertion failed: validUnaryType && "This version of TensorRT does not support the given '
    'operator with the given input data type."'
)

FLOAT_ONLY = words(
    "Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Erf Exp Floor Log Reciprocal Round "
    "Sign Sin Sinh Sqrt Tan ReduceLogSumExp"
)

unary_of_integers = refuses_types(
    "unary-of-integers",
    tuple(op for op in FLOAT_ONLY if op != "Sign"),
    ("bool", "int32", "int64", "uint8"),
    versions="trt7.1..",
    text=_UNARY,
    source="onnx2trt_utils.cpp:1765-1778 (8.6.1)",
)
sign_of_integers = refuses_types(
    "sign-of-integers",
    "Sign",
    ("bool", "int32", "int64", "uint8"),
    versions="trt7.1..trt8",
    text=_UNARY,
    source="onnx2trt_utils.cpp:1765-1778 (8.6.1)",
)
sign_of_bool = refuses_types(
    "sign-of-bool",
    "Sign",
    ("bool", "uint8"),
    versions="trt9..",
    text=_UNARY,
    source="onnx2trt_utils.cpp:2031 (9.3), importerUtils.cpp: unaryHelper (10.1)",
)
abs_neg_of_integers = refuses_types(
    "abs-neg-of-integers",
    ("Abs", "Neg"),
    ("bool", "int32", "int64"),
    versions="trt7.1..trt7",
    text=_UNARY,
    source="onnx2trt_utils.cpp:1680 (7.1)",
)
abs_neg_of_bool = refuses_types(
    "abs-neg-of-bool",
    ("Abs", "Neg", "ReduceL1"),
    ("bool", "uint8"),
    versions="trt8..",
    text=_UNARY,
    source="onnx2trt_utils.cpp:1743-1761 (8.6.1)",
)
not_of_numbers = refuses_types(
    "not-of-numbers",
    "Not",
    ("float32", "float16", "int32", "int64", "int8", "uint8"),
    versions="trt7.1..",
    text=_UNARY,
    source="onnx2trt_utils.cpp:1738 (8.6.1)",
)


@rule(
    "IsInf",
    feature="dtype:IsInf",
    versions="trt8.6..",
    severity=REJECT,
    text=_UNARY,
    source="onnx2trt_utils.cpp:1762, builtin_op_importers.cpp:2218-2228 (8.6.1)",
)
def isinf_of_integers(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support IsInf of integers unless it detects only one sign."""
    if not node.attr("detect_negative", 1) or not node.attr("detect_positive", 1):
        return None
    return refused_type(node, target, frozenset(words("bool int32 int64 int8 uint8")))


log_of_reduced_integers = refuses_types(
    "log-of-reduced-integers",
    ("ReduceLogSum", "ReduceL2"),
    ("bool", "int32", "int64"),
    versions="trt7.1..",
    text=_UNARY,
    source="builtin_op_importers.cpp:3651, 3676 (8.6.1)",
)

_ACTIVATIONS = words(
    "Relu LeakyRelu Sigmoid Tanh Elu Selu Softplus Softsign HardSigmoid "
    "ThresholdedRelu ScaledTanh ParametricSoftplus"
)
# Up to 9.3 int64 is int32 here: target.dtype_aliases.
activation_of_integers = refuses_types(
    "activation-of-integers",
    _ACTIVATIONS,
    ("int32", "bool", "uint8"),
    versions="trt8..",
    text="Found invalid input type of {type}",
    source="onnx2trt_utils.cpp:31 (8.6.1), importerUtils.cpp:37 (10.1)",
)
activation_of_int64 = refuses_types(
    "activation-of-int64",
    _ACTIVATIONS,
    ("int64",),
    versions="trt10.0..",
    text="{op}: only activation types allowed as input to this layer",
    source="importerUtils.cpp:37 (10.1): int64 passes the parser; NvInfer.h 10.1: IActivationLayer",
    severity=BUILDER,
)
activation_of_integers_7 = refuses_types(
    "activation-of-integers-7",
    words("Relu LeakyRelu Sigmoid Tanh Elu Selu Softplus Softsign HardSigmoid ThresholdedRelu"),
    ("int32", "int64", "bool"),
    versions="trt7.1..trt7",
    text="TensorRT does not support activations on INT32 or BOOL inputs!",
    source="onnx2trt_utils.cpp:35 (7.1)",
)

activation_of_bfloat16 = refuses_types(
    "activation-of-bfloat16",
    ("HardSwish", "Mish", "Shrink"),
    ("bfloat16",),
    versions="trt10.0..",
    text="Only FLOAT, HALF or INT8 input is supported for the {op} operator in this version of "
    "TensorRT. The current type = BF16.",
    source="onnxOpImporters.cpp: importHardSwish, importMish, importShrink (10.1)",
)
