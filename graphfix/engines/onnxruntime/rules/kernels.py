"""ONNX Runtime: versions of opsets and of the format, and kernels that a release lacks.

What depends on the release alone is data of the profiles, measured on the real wheels
(`graphfix/engines/onnxruntime/generate.py`); here is how a node is looked up in it.
"""

from __future__ import annotations

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.features import operator_feature
from graphfix.engines.common_rules import aten_name, is_function, typed_values
from graphfix.engines.onnxruntime.rules import NO_KERNEL
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Yes, model_rule, rule
from graphfix.ir.model import Model
from graphfix.ir.schemas import Form, form_of, newest_opset
from graphfix.ir.views import NodeView

_MICROSOFT = "com.microsoft"
_OLDEST = 7
# Operators of its own in the default domain, and the opset below which they are there. Measured on
# 1.10.0 and 1.32.0 with a model of each at opsets 6, 8, 13 and 18.
_OWN = {
    **dict.fromkeys(("Affine", "Crop", "DynamicSlice", "ImageScaler", "ParametricSoftplus"), 10),
    **dict.fromkeys(("Scale", "ScaledTanh", "ThresholdedRelu"), 10),
    "LayerNormalization": 17,
    "MeanVarianceNormalization": 9,
}
_GUARANTEE = (
    "ONNX Runtime only *guarantees* support for models stamped with official released onnx opset"
    " versions. Opset {version} is under development and support for this is limited. The operator"
    " schemas and or other functionality could possibly change before next ONNX release and in this"
    " case ONNX Runtime will not guarantee backward compatibility. Current official support for"
    " domain {domain} is till opset {highest}."
)


@model_rule(
    feature="opset:too-high",
    versions="ort",
    severity=REJECT,
    text=_GUARANTEE,
    source="model_load_utils.h, ValidateOpsetForDomain; the limit is measured on the wheel",
)
def runtime_opset(model: Model, target: Target) -> Answer:
    """ONNX Runtime refuses an opset newer than this release knows."""
    if model.opset <= target.opset_max:
        return None
    return Yes(
        message=f"{target.title} supports opset {target.opset_max}; the model has {model.opset}",
        text=_guarantee("ai.onnx", model.opset, target.opset_max),
    )


@model_rule(
    feature="domain:too-high",
    versions="ort",
    severity=REJECT,
    text=_GUARANTEE,
    source="model_load_utils.h, ValidateOpsetForDomain; the limit is measured on the wheel",
)
def runtime_domain(model: Model, target: Target) -> list[Answer]:
    """ONNX Runtime refuses a domain imported in a version newer than this release knows."""
    return [
        Yes(
            feature=f"domain:too-high.{domain}",
            message=f"{target.title} supports {domain} {highest}; the model imports {version}",
            text=_guarantee(domain, version, highest),
        )
        for domain, version in model.graph.opsets.items()
        if (highest := target.domain_opsets.get(domain, version)) < version
    ]


def _guarantee(domain: str, version: int, highest: int) -> str:
    filled = _GUARANTEE.replace("{version}", str(version)).replace("{domain}", domain)
    return filled.replace("{highest}", str(highest))


@model_rule(
    feature="ir:too-high",
    versions="ort",
    severity=REJECT,
    text="Unsupported model IR version: {ir}, max supported IR version: {highest}",
    source="model.cc, Model::Model; up to 1.11 it says: Unknown model file format version.",
)
def runtime_ir(model: Model, target: Target) -> Answer:
    """ONNX Runtime refuses an IR version newer than this release reads."""
    if target.ir_max is None or model.ir_version <= target.ir_max:
        return None
    text = f"Unsupported model IR version: {model.ir_version}, max supported IR version: "
    return Yes(
        message=f"{target.title} reads IR version {target.ir_max}; the file has {model.ir_version}",
        text="Unknown model file format version."
        if target.version < (1, 12)
        else text + str(target.ir_max),
    )


@rule(
    feature="op:unknown",
    versions="ort",
    severity=REJECT,
    text=NO_KERNEL,
    source="graph_partitioner.cc and inference_session.cc; measured on the wheel",
)
def no_kernel(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime has no kernel for {op} of this opset."""
    if node.domain or is_function(node):
        return None
    form = form_of(node.op, node.opset)
    known = target.ops.get(node.op)
    if form is None and node.opset < _OWN.get(node.op, 0):
        return None
    if form is None and known is not None and form_of(node.op, newest_opset()) is not None:
        return Yes(
            feature=f"opset:too-low.{node.op}",
            message=f"{node.op} is not defined in opset {node.opset}; a newer opset adds it",
            text=f"No Op registered for {node.op} with domain_version of {node.opset}",
        )
    if known is None or not known.supported:
        return Yes(
            feature=f"op:{node.op}",
            message=f"{target.title} has no {node.op}",
            text=f"No Op registered for {node.op} with domain_version of {node.opset}"
            if known is None
            else _kernel(node, form),
        )
    if _superseded(node.op, form):
        return Yes(
            feature="opset:too-low",
            message=f"{target.title} has no kernel for {node.op} of opsets before {_OLDEST}",
            text=_kernel(node, form),
        )
    if form is None or form.since not in known.lacks or known.lacks[form.since]:
        return None
    return Yes(
        feature=f"form:{node.op}.{form.since}",
        message=f"{target.title} has no kernel for {node.op} of opset {form.since}",
        text=_kernel(node, form),
    )


@rule(
    feature="dtype:{op}",
    versions="ort",
    severity=REJECT,
    text=NO_KERNEL,
    source="graph_partitioner.cc and inference_session.cc; measured on the wheel",
)
def no_kernel_for_type(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime has no kernel for {op} of this element type."""
    known = target.ops.get(node.op)
    if node.domain or known is None or not known.lacks or is_function(node):
        return None
    form = form_of(node.op, node.opset)
    lacks = known.lacks.get(form.since) if form is not None else None
    if form is None or not lacks:
        return None
    unknown: Unknown | None = None
    for parameter, value in typed_values(node, form):
        missing = lacks.get(parameter)
        if not missing or value.tensor.opaque is not None:
            continue
        if not value.elem_type:
            unknown = Unknown(f"dtype of {value.name}")
        elif value.type_name in missing:
            return Yes(
                feature=f"dtype:{node.op}.{value.type_name}",
                message=f"{target.title} has no {value.type_name} kernel for {node.op}",
                text=_kernel(node, form),
            )
    return unknown


def _superseded(op: str, form: Form | None) -> bool:
    """Say whether a form ended before opset 7, the first that kernels are written for.

    Measured on 1.10.0 and 1.32.0 with `benchmarks/coverage/lists/old_forms.py`: of the forms that
    do, Reshape alone has a kernel.
    """
    oldest = form_of(op, _OLDEST)
    return form is not None and oldest is not None and form.since < oldest.since and op != "Reshape"


def _kernel(node: NodeView, form: Form | None) -> str:
    since = form.since if form is not None else node.opset
    return (
        NO_KERNEL.replace("{op}", node.op)
        .replace("{since}", str(since))
        .replace("{name}", node.node.name)
    )


@rule(
    feature="op:unknown",
    versions="ort",
    severity=REJECT,
    text="Fatal error: {op} is not a registered function/op",
    source="model.cc and graph.cc, InitFunctionBodyForNode; measured on the wheel",
)
def not_registered(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime does not have the operator {op}."""
    domain = node.domain
    if not domain or is_function(node):
        return None
    if domain == _MICROSOFT and node.op in target.contrib:
        return None
    if domain != _MICROSOFT and domain in target.domains:
        return None
    if domain == _MICROSOFT and node.op in target.registered:
        return Yes(
            feature=operator_feature(node.op, domain, aten_name(node)),
            message=f"{target.title} has no CPU kernel for {domain}::{node.op}",
            text=NO_KERNEL.replace("{op}", node.op)
            .replace("{since}", "1")
            .replace("{name}", node.node.name),
        )
    shown = node.op if target.version < (1, 11) else f"{domain}:{node.op}(-1)"
    return Yes(
        feature=operator_feature(node.op, domain, aten_name(node)),
        message=f"{target.title} has no {domain}::{node.op}",
        text=f"Fatal error: {shown} is not a registered function/op",
    )


@rule(
    feature="scope:local-function",
    versions="..ort-1.14",
    severity=REJECT,
    text="Fatal error: {op} is not a registered function/op",
    source="measured on the wheels: before 1.15 a call that leaves an input out is not read",
)
def runtime_function(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime before 1.15 does not support a local function call that omits an input."""
    return is_function(node)


@rule(
    "Reshape",
    feature="form:Reshape.allowzero",
    versions="..ort-1.10",
    severity=REJECT,
    text="!allow_zero was false. The input tensor cannot be reshaped to the requested shape.",
    source="reshape_helper.h:18 (1.8.1): -1 in a shape fails with allowzero; measured up to 1.10",
)
def reshape_allowzero(node: NodeView, target: Target) -> Answer:
    """ONNX Runtime up to 1.10 does not support a -1 in the shape of Reshape with allowzero=1."""
    if not node.attr("allowzero", 0):
        return None
    shape = node.input(1)
    values = shape.array() if shape is not None else None
    if values is None:
        return Unknown("the shape, which must not have a -1")
    return bool((values == -1).any())
