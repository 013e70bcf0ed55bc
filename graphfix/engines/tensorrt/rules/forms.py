"""Operators without importer, and forms read differently: what is omitted, and opsets below 7.

The parser takes the empty name for a name or a tensor, and the older form for the later one.
"""

from __future__ import annotations

from graphfix.authoring.features import operator_feature
from graphfix.engines.common_rules import aten_name, is_function
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Yes, model_rule, rule
from graphfix.engines.tensorrt.rules.parsed import opset_of
from graphfix.ir.graph import Graph, Node
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView

# Operator -> inputs that are used wherever their place is there, empty or not.
_USED = {
    "DeformConv": (3, 4),
    "Dropout": (2,),
    "Gemm": (2,),
    "QuantizeLinear": (2,),
    "Squeeze": (1,),
    "Trilu": (1,),
}
# Before these opsets the place is not read.
_SINCE = {"Dropout": 12, "Squeeze": 13}
_ENDED = {"Cast": 6, "Concat": 4, "LpPool": 2, "Pad": 2, "Tile": 6, "Upsample": 7}


@rule(
    tuple(_USED),
    feature="form:unset-input",
    versions="trt8.5..trt10.1",
    severity=REJECT,
    text="Trying to access weights or a null tensor!",
    source="builtin_op_importers.cpp:1649, 4749 (8.6.1): inputs are counted, not looked at, and "
    "8.6.1 crashes; onnxOpImporters.cpp:1211, 5617 (10.1)",
)
def unset_input(node: NodeView, target: Target) -> Answer:
    """TensorRT does not support an empty name as an optional input of {op}; leave it out."""
    if opset_of(node) < _SINCE.get(node.op, 0):
        return None
    count = len(node.node.inputs)
    unset = any(index < count and node.input(index) is None for index in _USED[node.op])
    return unset and Yes(feature=f"form:{node.op}.unset-input")


@model_rule(
    feature="form:outputs.omitted",
    versions="trt",
    severity=REJECT,
    text='Assertion failed: toposort(graph.node(), &topoOrder) && "Failed to sort the model '
    'topologically."',
    source="toposort.hpp:30-84 (8.6.1, 10.1): the empty name is looked up like any other",
)
def omitted_output(model: Model, target: Target) -> list[Answer]:
    """TensorRT sees a cycle: a node with an omitted output depends on one with an omitted input."""
    found: list[Answer] = []
    for graph in model.graph.walk():
        makers = [node for node in graph.nodes if any(not t.name for t in node.outputs)]
        if len(makers) != 1:
            continue  # none, or two of one name, which has a rule of its own
        needy = next((node for node in _before(makers[0], graph) if _omits(node)), None)
        if needy is not None:
            message = f"TensorRT sees a cycle: {makers[0].op} omits an output and depends on"
            view = NodeView(makers[0])
            found.append(Yes(message=f"{message} {needy.op}, which omits an input", node=view))
    return found


def _omits(node: Node) -> bool:
    return any(not tensor.name for tensor in node.inputs)


def _before(node: Node, graph: Graph) -> list[Node]:
    """Return a node and all of its graph that it depends on, the nearest first."""
    front, seen = [node], {id(node)}
    for near in front:
        for tensor in near.inputs:
            for maker in tensor.inputs if tensor.name else ():
                if maker.graph is graph and id(maker) not in seen:
                    seen.add(id(maker))
                    front.append(maker)
    return front


@rule(
    ("Unsqueeze", "Slice", "TopK"),
    feature="form:other-opset",
    versions="trt8..",
    severity=REJECT,
    text="Attribute not found: axes",
    source="builtin_op_importers.cpp:4487, 4894, 5007 (8.6.1), onnxOpImporters.cpp: "
    "importSlice, importTopK, importUnsqueeze (10.1)",
)
def form_of_other_opset(node: NodeView, target: Target) -> Answer:
    """TensorRT reads {op} as the opset of the model defines it; this is the form of another."""
    opset, count = opset_of(node), len(node.node.inputs)
    feature = f"form:{node.op}.other-opset"
    if node.op == "Unsqueeze":
        return opset < 13 and "axes" not in node.node.attrs and Yes(feature=feature)
    fewest, text = 2, "Expects two input tensors for opset >= 10: X and K"
    if node.op == "Slice":
        fewest, text = 3, "Post-opset 10 Slice operator requires 3 - 5 inputs."
    return opset >= 10 and count < fewest and Yes(feature=feature, text=text)


@rule(
    (*_ENDED,),
    feature="opset:too-low",
    versions="trt7.0..",
    severity=REJECT,
    text="Attribute not found",
    source="builtin_op_importers.cpp:291, 549, 2831, 3266, 4825, 5106 (8.6.1): the attributes and "
    "inputs of the later form are read without a default",
)
def ended_form(node: NodeView, target: Target) -> Answer:
    """TensorRT reads {op} of opset 7 or later only; this older form has other attributes."""
    if not 0 < node.opset < _ENDED[node.op]:
        return None
    if node.op == "Cast":
        return isinstance(node.attr("to"), str)
    if node.op == "Concat":
        return node.attr("axis") is None
    if node.op == "LpPool":
        return node.attr("p") is not None
    return True


@rule(
    ("Split", "GlobalLpPool"),
    feature="opset:too-low",
    versions="trt7.0..",
    severity=WRONG,
    source="builtin_op_importers.cpp:4660 and 1684 (8.6.1): sizes are read from an input from "
    "opset 13 on alone, and the exponent as an integer",
)
def ended_form_misread(node: NodeView, target: Target) -> Answer:
    """TensorRT reads {op} of opset 1 as that of a later opset and ignores its inputs."""
    if node.opset != 1:
        return None
    return node.input(1) is not None if node.op == "Split" else node.attr("p") is not None


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
