"""Rules that follow from the profile of a target, for engines of every family.

Families with rules of their own for these facts use the messages and exceptions of their engine.
All other profiles, including those of users, are checked here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet

from onnx import TensorProto

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.features import operator_feature
from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Target
from graphfix.engines.rule import FALLBACK, NOTE, REJECT, Answer, Yes, model_rule, rule
from graphfix.ir.graph import Variable
from graphfix.ir.model import Model
from graphfix.ir.printing import shell_word
from graphfix.ir.schemas import Form, form_of
from graphfix.ir.storage.weights import is_external, type_name
from graphfix.ir.views import NodeView, Refuse, Value

_PROFILE = "the profile of the target"
_MICROSOFT = "com.microsoft"


def is_function(node: NodeView) -> bool:
    """Say whether a node calls a local function of the model."""
    known = node.graph.root.known_functions
    return bool(known) and (node.node.domain or "", node.op, node.overload) in known


def given_inputs(model: Model) -> Iterator[Variable]:
    """Walk the graph inputs that are no initializers."""
    initializers = {constant.name for constant in model.graph.initializers}
    for tensor in model.graph.inputs:
        if isinstance(tensor, Variable) and tensor.name not in initializers:
            yield tensor


def undeclared_outputs(model: Model) -> list[Answer]:
    """Return a message for each graph output that is declared without an element type."""
    return [
        f"graph output {tensor.name} is declared without an element type"
        for tensor in model.graph.outputs
        if isinstance(tensor, Variable)
        and tensor.info is not None
        and tensor.info.type.WhichOneof("value") in (None, "tensor_type")
        and not tensor.info.type.tensor_type.elem_type
    ]


def weights_in_files(model: Model) -> Answer:
    """Return a message where weights are stored in external data files."""
    for graph in model.graph.walk():
        for constant in graph.initializers:
            proto = constant.weights.proto
            if isinstance(proto, TensorProto) and is_external(proto):
                return f"weights such as {constant.name} are stored in an external data file"
    return None


def empty_outputs(model: Model) -> list[Answer]:
    """Return a message for each graph output that is empty, or declared or in a branch as such."""
    found: list[Answer] = []
    for end in model.graph.outputs:
        if not isinstance(end, Variable):
            continue
        if 0 in (Value(end).static_shape or ()) or _is_declared_empty(end):
            found.append(Yes(message=f"graph output {end.name} has no elements"))
        elif _is_empty_in_a_branch(Value(end)):
            said = f"a branch of If gives graph output {end.name} without elements"
            found.append(Yes(message=said))
    return found


def _is_empty_in_a_branch(end: Value) -> bool:
    """Say so of what merged decoders need not compute again."""
    maker = end.producer
    if maker is None or maker.op != "If" or maker.domain:
        return False
    place = maker.outputs.index(end)
    branches = (branch for _, branch in maker.node.graphs())
    return any(0 in (Value(branch.outputs[place]).shape or ()) for branch in branches)


def _is_declared_empty(end: Variable) -> bool:
    if end.info is None:
        return False
    dims = end.info.type.tensor_type.shape.dim
    return any(dim.HasField("dim_value") and dim.dim_value == 0 for dim in dims)


@model_rule(feature="opset:too-high", severity=REJECT, source=f"{_PROFILE}: opset")
def stated_opset(model: Model, target: Target) -> Answer:
    """The engine supports no opset as new as the model's."""
    if model.opset <= target.opset_max or not target.rejects_above:
        return None
    return f"{target.title} supports opsets up to {target.opset_max}; the model has {model.opset}"


@model_rule(
    feature="opset:too-high",
    severity=NOTE,
    source=f"{_PROFILE}: opset",
)
def stated_opset_unknown(model: Model, target: Target) -> Answer:
    """The engine supports older opsets; it accepts this one but may misread operators."""
    if model.opset <= target.opset_max or target.rejects_above:
        return None
    return (
        f"{target.title} supports opsets up to {target.opset_max}; it accepts {model.opset} "
        "but may misread operators that changed"
    )


@model_rule(
    feature="opset:too-low",
    severity=REJECT,
    source=f"{_PROFILE}: opset",
)
def stated_oldest_opset(model: Model, target: Target) -> Answer:
    """The engine supports no opset as old as the model's."""
    if target.opset_min is None or not 0 < model.opset < target.opset_min:
        return None
    return f"{target.title} supports opsets from {target.opset_min} on; the model has {model.opset}"


@model_rule(feature="ir:too-high", severity=REJECT, source=f"{_PROFILE}: ir_max")
def stated_ir(model: Model, target: Target) -> Answer:
    """The engine supports no IR version as new as the model's."""
    if target.ir_max is None or model.ir_version <= target.ir_max:
        return None
    return f"{target.title} reads IR version {target.ir_max}; the file has {model.ir_version}"


@model_rule(
    feature="domain:too-high",
    severity=REJECT,
    source=f"{_PROFILE}: domain_opsets",
)
def stated_domain_version(model: Model, target: Target) -> list[Answer]:
    """The engine supports no version of a domain as new as the model imports."""
    return [
        Yes(
            feature=f"domain:too-high.{domain}",
            message=f"{target.title} supports {domain} {highest}; the model imports {version}",
        )
        for domain, version in model.graph.opsets.items()
        if domain and (highest := target.domain_opsets.get(domain, version)) < version
    ]


def _io(tensor: Variable) -> str:
    if tensor.opaque is None:
        return type_name(tensor.elem_type)
    return str(tensor.opaque.WhichOneof("value")).removesuffix("_type")


@model_rule(
    feature="io:input",
    severity=REJECT,
    source=f"{_PROFILE}: io_dtypes",
)
def stated_io_types(model: Model, target: Target) -> list[Answer]:
    """The engine does not support the element type of a graph input or output."""
    return unbound_ends(model, target)


def unbound_ends(
    model: Model, target: Target, *, but: AbstractSet[str] = frozenset()
) -> list[Answer]:
    """Return a message for each graph input or output of a type that the profile does not list.

    Args:
        model: The model.
        target: The target; no message where its profile lists no types.
        but: Names of inputs that are supported all the same.
    """
    if target.io_dtypes is None:
        return []
    ends = [("input", tensor) for tensor in given_inputs(model) if tensor.name not in but]
    ends += [("output", t) for t in model.graph.outputs if isinstance(t, Variable)]
    return [
        Yes(
            feature=f"io:{name}-{side}",
            message=f"{target.title} does not support {name} of graph {side} {tensor.name}",
        )
        for side, tensor in ends
        if (name := _io(tensor)) not in target.io_dtypes and name != "unknown"
    ]


@model_rule(
    feature="io:dynamic-input",
    severity=REJECT,
    source=f"{_PROFILE}: static_shapes",
)
def stated_static_shapes(model: Model, target: Target) -> list[Answer]:
    """The engine requires static shapes, and a graph input has dynamic sizes."""
    if not target.static_shapes:
        return []
    return [
        Yes(
            message=f"{target.title} requires static shapes; fix those of input {tensor.name}: "
            f"--shape {shell_word(f'{tensor.name}={_dims(tensor.shape)}')}",
            severity=FALLBACK if target.fallback else None,
        )
        for tensor in given_inputs(model)
        if tensor.shape is not None and not all(isinstance(dim, int) for dim in tensor.shape)
    ]


def _dims(shape: Iterable[int | str | None]) -> str:
    return "x".join(str(dim) if isinstance(dim, int) else f"<{dim or '?'}>" for dim in shape)


@rule(
    feature="scope:local-function",
    severity=REJECT,
    source=f"{_PROFILE}: functions",
)
def stated_function(node: NodeView, target: Target) -> Answer:
    """The engine does not support local functions, and the node calls one."""
    return not target.functions and is_function(node)


@rule(feature="op:unknown", severity=REJECT, source=f"{_PROFILE}: ops")
def stated_operator(node: NodeView, target: Target) -> Answer:
    """The engine does not support the operator {op}."""
    if is_function(node) or node.op in target.plugins or _is_had(node, target):
        return None
    feature = operator_feature(node.op, node.domain, aten_name(node))
    if node.domain and node.domain not in target.domains:
        return Yes(
            feature=feature,
            message=f"{target.title} does not support the domain of {node.domain}::{node.op}",
        )
    return Yes(feature=feature, message=f"{target.title} has no {feature.removeprefix('op:')}")


def _is_had(node: NodeView, target: Target) -> bool:
    if not node.domain:
        known = target.ops.get(node.op)
        return known is not None and known.supported
    if node.domain == _MICROSOFT and target.contrib:
        return node.op in target.contrib
    return node.domain in target.domains


def aten_name(node: NodeView) -> str:
    """Return the operator of ATen that a node calls; empty for any other."""
    if "operator" not in node.node.attrs:
        return ""
    try:
        return str(node.attr("operator"))
    except Refuse:
        return ""


@rule(
    feature="form:operator",
    severity=REJECT,
    source=f"{_PROFILE}: lacks of the operator",
)
def stated_form(node: NodeView, target: Target) -> Answer:
    """The engine does not support {op} of this opset."""
    known = target.ops.get(node.op)
    if node.domain or known is None or not known.lacks or is_function(node):
        return None
    form = form_of(node.op, node.opset)
    if form is None or form.since not in known.lacks or known.lacks[form.since]:
        return None
    return Yes(
        feature=f"form:{node.op}.{form.since}",
        message=f"{target.title} has no {node.op} of opset {form.since}",
    )


@rule(
    feature="dtype:{op}",
    severity=REJECT,
    source=f"{_PROFILE}: dtypes and lacks of the operator",
)
def stated_types(node: NodeView, target: Target) -> Answer:
    """The engine does not support an element type of {op}."""
    known = target.ops.get(node.op)
    if node.domain or known is None or not known.supported or is_function(node):
        return None
    if known.dtypes is None and not known.lacks:
        return None
    form = form_of(node.op, node.opset)
    main = main_type(form)
    lacks: Mapping[str, frozenset[str]] = known.lacks.get(form.since if form else 0, {})
    unknown: Unknown | None = None
    engine = engine_of(target.family)
    for parameter, value in typed_values(node, form):
        stated = known.dtypes is not None and parameter == main
        if not (stated or parameter in lacks) or value.tensor.opaque is not None:
            continue
        if not value.elem_type:
            unknown = Unknown(f"dtype of {value.name}")
            continue
        own = value.type_name
        seen = engine.element_type(value, target)
        refused = stated and not {own, seen} & (known.dtypes or frozenset())
        if refused or own in lacks.get(parameter, ()):
            return Yes(
                feature=f"dtype:{node.op}.{own}",
                message=f"{target.title} has no {node.op} of {own}",
            )
    return unknown


def main_type(form: Form | None) -> str:
    """Return the type parameter that the element types of an operator in a profile refer to.

    That is the one of the first output, where an input has it as well; otherwise that of the first
    input: T of Where, T1 of Cast, T of Gather, whose indices have a type of their own.
    """
    if form is None:
        return ""
    taken = [formal.type_str for formal in form.schema.inputs]
    given = [formal.type_str for formal in form.schema.outputs]
    return next(iter([p for p in given[:1] if p in taken or not taken] or taken), "")


def typed_values(node: NodeView, form: Form | None) -> Iterator[tuple[str, Value]]:
    """Walk the values of a node with their type parameters, inputs first."""
    schema = form.schema if form is not None else None
    sides = (
        (node.inputs, schema.inputs if schema is not None else ()),
        (node.outputs, schema.outputs if schema is not None else ()),
    )
    for values, formal in sides:
        for position, value in enumerate(values):
            if value is not None:
                last = min(position, len(formal) - 1)
                yield formal[last].type_str if formal else "", value
