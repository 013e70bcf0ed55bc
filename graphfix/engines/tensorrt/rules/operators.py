"""Operators that the engine has no importer for, foreign domains and local functions."""

from __future__ import annotations

from graphfix.authoring.features import operator_feature
from graphfix.engines.common_rules import aten_name, is_function
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, rule
from graphfix.ir.views import NodeView

_NO_IMPORTER = "No importer registered for op: {op}"
_NO_PLUGIN = (
    "No importer registered for op: {op}. Attempting to import as plugin.\n"
    "3: getPluginCreator could not find plugin: {op} version: 1\n"
    'Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace '
    'correct?"'
)


# Plugins that bear the name of an operator of onnxruntime, and how many inputs they take
# (plugin/cropAndResizePlugin/cropAndResizePlugin.cpp); onnxruntime's has four.
_INPUTS_OF_PLUGINS = {"CropAndResize": 2}


def _imported(op: str, target: Target) -> bool:
    known = target.ops.get(op)
    return known is not None and known.supported


@rule(
    feature="op:unknown",
    versions="trt",
    severity=REJECT,
    text=_NO_PLUGIN,
    source="builtin_op_importers.cpp:5395, ModelImporter.cpp:165 (8.6.1)",
)
def operator_not_supported(node: NodeView, target: Target) -> Answer:
    """TensorRT has no importer for {op}, and ships no plugin of that name."""
    op = node.op
    if _imported(op, target) or _is_plugin(node, target) or is_function(node):
        return None
    feature = operator_feature(op, node.domain, aten_name(node))
    shown = feature.removeprefix("op:")
    text = _NO_IMPORTER if target.level < (7, 1) else ""
    return Yes(
        feature=feature,
        text=text,
        message=f"TensorRT has no importer for {shown} and ships no plugin {op}",
    )


def _is_plugin(node: NodeView, target: Target) -> bool:
    wanted = _INPUTS_OF_PLUGINS.get(node.op, len(node.inputs))
    return node.op in target.plugins and len(node.inputs) == wanted


@rule(
    feature="domain:unknown",
    versions="trt",
    severity=WRONG,
    source="ModelImporter.cpp:165 (8.6.1): only op_type is looked up",
)
def foreign_domain(node: NodeView, target: Target) -> Answer:
    """TensorRT ignores the domain and reads {op} as the ONNX operator of that name."""
    domain = node.domain
    if not domain or domain in target.domains or not _imported(node.op, target):
        return None
    if is_function(node):
        return None
    return Yes(
        feature=f"domain:{domain}::{node.op}",
        message=f"TensorRT reads {domain}::{node.op} as the ONNX operator {node.op}",
    )


@rule(
    feature="scope:local-function",
    versions="..trt8",
    severity=REJECT,
    text=_NO_PLUGIN,
    source="ModelImporter.cpp:130-180 (8.6.1): model.functions() is never read",
)
def local_function(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support local functions, and the node calls one."""
    if not is_function(node):
        return None
    if _imported(node.op, target):
        return Yes(
            severity=WRONG,
            message=f"TensorRT reads the call of the local function {node.op} as the ONNX operator",
        )
    return Yes(text=_NO_IMPORTER if target.level < (7, 1) else "")
