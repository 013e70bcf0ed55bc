"""Operators of com.microsoft and ai.onnx.ml that releases lack or run in some forms alone.

Measured on the wheels from 1.10.0 to 1.31.1 with the forms of `benchmarks/coverage/contrib`: each
was loaded and run in every release (`benchmarks/onnxruntime/child.py`). The features are those of
operators that are not there, for what replaces these replaces the form.
"""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.engines.onnxruntime.rules import FAILS, NO_KERNEL
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_SINCE = "measured on 1.10.0 to 1.31.1: it runs from {} on"
_GRAPH = 'This is an invalid model. In Node, ("{name}", {op}, "com.microsoft", -1)'
_TREES = 5  # the version of ai.onnx.ml that TreeEnsemble came with


def _feature(node: NodeView, message: str) -> Yes:
    return Yes(feature=f"op:com.microsoft::{node.op}", message=message)


@rule(
    "ai.onnx.ml::TreeEnsemble",
    feature="op:ai.onnx.ml::TreeEnsemble",
    versions="ort",
    severity=REJECT,
    text="No Op registered for {op} with domain_version of",
    source="the version of ai.onnx.ml that its wheel reads; TreeEnsemble came with 5",
)
def tree_ensemble_of_5(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime: this release does not support ai.onnx.ml 5, which added TreeEnsemble."""
    newest = target.domain_opsets.get("ai.onnx.ml")
    return newest is not None and newest < _TREES


@rule(
    ("com.microsoft::QuantizeLinear", "com.microsoft::DequantizeLinear"),
    feature="op:com.microsoft::QuantizeLinear",
    versions="..ort-1.16",
    severity=REJECT,
    text="of operator ({op}) in node ({name}) is invalid",
    source=_SINCE.format("1.17"),
)
def contrib_quantize_types(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.17 supports {op} of 8-bit types with a zero point only."""
    zero = node.input(2)
    if zero is None:
        return _feature(node, f"{node.op} of com.microsoft needs a zero point")
    if not zero.elem_type:
        return Unknown(f"dtype of {zero.name}")
    if zero.type_name in ("int8", "uint8"):
        return None
    return _feature(node, f"{node.op} of com.microsoft does not take {zero.type_name}")


@rule(
    "com.microsoft::FusedMatMul",
    feature="op:com.microsoft::FusedMatMul",
    versions="..ort-1.10",
    severity=REJECT,
    text=_GRAPH,
    source=_SINCE.format("1.11"),
)
def fused_matmul_of_batches(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime: FusedMatMul has no transBatchA and transBatchB before 1.11."""
    return node.has("transBatchA") or node.has("transBatchB")


@rule(
    ("com.microsoft::NhwcMaxPool", "com.microsoft::QLinearConv"),
    feature="op:com.microsoft::QLinearConv",
    versions="..ort-1.10",
    severity=REJECT,
    text=NO_KERNEL.replace("{since}", "1"),
    source=_SINCE.format("1.11"),
)
def contrib_int8_kernels(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.11 has no int8 kernel of com.microsoft::{op}."""
    return _is_int8(node)


@rule(
    ("com.microsoft::QLinearAveragePool", "com.microsoft::QLinearGlobalAveragePool"),
    feature="op:com.microsoft::QLinearAveragePool",
    versions="..ort-1.10",
    severity=REJECT,
    text=FAILS,
    source=_SINCE.format("1.11"),
)
def int8_means(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.11 does not run {op} on int8."""
    return _is_int8(node)


def _is_int8(node: NodeView) -> Answer:
    x = node.input(0)
    if x is None or not x.elem_type:
        return Unknown("dtype of the first input")
    if x.type_name != "int8":
        return None
    return _feature(node, f"{node.op} of com.microsoft does not compute int8")


@rule(
    "com.microsoft::SkipLayerNormalization",
    feature="op:com.microsoft::SkipLayerNormalization",
    versions="..ort-1.15",
    severity=REJECT,
    text="skip is expected to have same shape as input",
    source=_SINCE.format("1.16"),
)
def skip_that_broadcasts(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.16 requires skip to have the shape of the input."""
    x, skip = node.input(0), node.input(1)
    if x is None or skip is None or x.rank is None or skip.rank is None:
        return Unknown("shape of the input and of skip")
    if x.rank != skip.rank:
        return True
    sizes = zip(x.shape or (), skip.shape or (), strict=True)
    known = [(a, b) for a, b in sizes if isinstance(a, int) and isinstance(b, int)]
    return any(a != b for a, b in known)


@rule(
    "com.microsoft::MatMulNBits",
    feature="op:com.microsoft::MatMulNBits",
    versions="..ort-1.16",
    severity=WRONG,
    source="measured on 1.16.3 in 540 forms: it is right where the blocks are even, or their zero "
    "points are left out; 1.17.3 is right",
)
def zero_points_of_odd_blocks(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime 1.16 reads zero points of an odd number of blocks without the padding."""
    if node.input(3) is None or int(node.attr("N")) == 1:
        return None
    return -(-int(node.attr("K")) // max(int(node.attr("block_size")), 1)) % 2 == 1
