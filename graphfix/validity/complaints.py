"""What is wrong with one node by itself: its form, and the element types of what it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

import onnx
from msgspec import Struct
from onnx import AttributeProto, TensorProto, TypeProto
from onnx.defs import OpSchema

from graphfix.analysis.inference import type_text
from graphfix.ir.exporting import export_node
from graphfix.ir.graph import Node, Tensor
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import Form, form_of, newest_opset
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView


class Complaint(Struct, frozen=True):
    """Something that cannot be as the file says it.

    Attributes:
        kind: The id of the rule of `graphfix.engines.file_rules` that it falls under.
        message: One sentence, with both sides of a contradiction.
        node: The node; None where it is about the file.
        text: What ONNX itself says; empty where it says nothing.
        feature: What passes remove it by; empty for the feature of the rule.
    """

    kind: str
    message: str
    node: NodeView | None = None
    text: str = ""
    feature: str = ""


def called(node: NodeView) -> str:
    """Return a node as a sentence names it: ``Add 'sum_3'``, ``Add``."""
    return f"{node.op} {node.name!r}" if node.name else node.op


def named(tensor: Tensor, known: TypeProto | None) -> str:
    """Return a tensor with its type: ``x (float32[2, 3])``."""
    return f"{tensor.name} ({type_text(known)})"


Types = Callable[[Tensor], TypeProto | None]


def element_type_complaints(node: Node, form: Form, types: Types) -> list[Complaint]:
    """Return the inputs of a node whose type its operator does not take, or not together.

    Args:
        node: The node; its number of inputs fits.
        form: The form of its operator.
        types: Gives the type of a tensor; None while unknown.
    """
    view = NodeView(node)
    opset = node.graph.opsets.get(normal_domain(node.domain), 1)
    found: list[Complaint] = []
    bound: dict[str, Tensor] = {}
    for tensor, type_string, allowed, joined in _typed(node, form):
        known = types(tensor)
        name = _schema_text(known)
        if not name:
            continue
        if name not in allowed:
            since = _since(node, form, type_string, name)
            if since:
                kind, why = "type-of-newer-opset", f"takes that since opset {since}"
            else:
                kind, why = "element-type", f"takes {_spoken(allowed)} there"
            said = f"{called(view)} gets {named(tensor, known)} at opset {opset}, and {why}"
            found.append(Complaint(kind, said, view))
            continue
        other = bound.setdefault(type_string, tensor) if joined else tensor
        if other is not tensor and _schema_text(types(other)) != name:
            said = (
                f"{called(view)} gets {named(other, types(other))} and {named(tensor, known)}, "
                "which must be of one type"
            )
            found.append(Complaint("types-differ", said, view))
    return found


def _typed(node: Node, form: Form) -> Iterator[tuple[Tensor, str, frozenset[str], bool]]:
    formal = _formal_inputs(node.op, form.since, normal_domain(node.domain))
    for position, tensor in enumerate(node.inputs):
        if tensor.name and formal:
            yield tensor, *formal[min(position, len(formal) - 1)]


@cache
def _formal_inputs(
    op: str, since: int, domain: str
) -> tuple[tuple[str, frozenset[str], bool], ...]:
    """Return (type parameter, types it may be, whether all of that parameter are one type)."""
    form = form_of(op, since, domain)
    assert form is not None
    parameters = {constraint.type_param_str for constraint in form.schema.type_constraints}
    return tuple(
        (
            formal.type_str,
            frozenset(formal.types),
            formal.type_str in parameters and formal.is_homogeneous,
        )
        for formal in form.schema.inputs
    )


def _since(node: Node, form: Form, type_string: str, name: str) -> int:
    """Return the opset from which on an operator takes a type; 0 where it never does."""
    if normal_domain(node.domain):
        return 0
    for opset in range(form.since + 1, newest_opset() + 1):
        newer = form_of(node.op, opset)
        if newer is None or newer.since != opset or newer.schema.deprecated:
            continue
        formal = _formal_inputs(node.op, opset, "")
        if any(text == type_string and name in allowed for text, allowed, _ in formal):
            return opset
    return 0


@cache
def _tensor_text(elem_type: int) -> str:
    names: dict[int, str] = {TensorProto.FLOAT: "float", TensorProto.DOUBLE: "double"}
    return f"tensor({names.get(elem_type) or type_name(elem_type)})"


def _schema_text(known: TypeProto | None) -> str:
    """Return a type as schemas write it; empty while unknown, or for what is rarely written."""
    kind = known.WhichOneof("value") if known is not None else None
    if known is None or kind is None:
        return ""
    if kind == "tensor_type":
        elem_type = known.tensor_type.elem_type
        return _tensor_text(elem_type) if elem_type else ""
    for field, word in (("sequence_type", "seq"), ("optional_type", "optional")):
        if kind == field:
            inner = _schema_text(getattr(known, field).elem_type)
            return f"{word}({inner})" if inner else ""
    return ""


def _spoken(allowed: frozenset[str]) -> str:
    """Return the types that an operator takes, in the words of reports."""
    words = {"float": "float32", "double": "float64"}
    plain = [text.removeprefix("tensor(").removesuffix(")") for text in allowed]
    return ", ".join(sorted(words.get(text, text) for text in plain))


_ANY_NUMBER = 1 << 30  # of a variadic input
_SUBGRAPHS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


def form_complaints(node: Node, form: Form) -> list[Complaint]:
    """Return what the schema of an operator says against a node, types left out."""
    view = NodeView(node)
    found = [Complaint(kind, f"{called(view)} {said}", view) for kind, said in _against(node, form)]
    if not found:
        return found
    text = _said_by_onnx(node)
    elsewhere = _where_it_fits(node)
    return [Complaint(each.kind, each.message + elsewhere, view, text) for each in found]


class _Demands(Struct, frozen=True):
    """What a schema asks of a node, read once: each look at a schema copies what it holds.

    Attributes:
        deprecated: Whether the operator was there and no longer is.
        counts: For inputs and for outputs, the fewest and the most.
        needed: The formal inputs in order, with whether they may not be left out.
        attributes: Name -> type.
        required: The attributes that must be there.
    """

    deprecated: bool
    counts: tuple[tuple[str, int, int], ...]
    needed: tuple[tuple[str, bool], ...]
    attributes: dict[str, int]
    required: tuple[str, ...]


@cache
def _demands(op: str, since: int, domain: str) -> _Demands:
    form = form_of(op, since, domain)
    assert form is not None
    schema = form.schema
    single = OpSchema.FormalParameterOption.Single
    return _Demands(
        # GroupNormalization is marked so from its first version on, yet has a meaning there that
        # onnxruntime computes.
        bool(schema.deprecated) and form_of(op, since - 1, domain) is not None,
        (
            ("input", schema.min_input, schema.max_input),
            ("output", schema.min_output, schema.max_output),
        ),
        tuple((formal.name, formal.option == single) for formal in schema.inputs),
        {
            # At run time the type is an enumeration of C++, whatever the stub says.
            name: int(cast("Any", known.type).value)
            for name, known in schema.attributes.items()
        },
        tuple(name for name, known in schema.attributes.items() if known.required),
    )


# From this opset on a Split says how many parts there are; before, its outputs did.
_SPLIT_COUNTS = 18


def _against(node: Node, form: Form) -> Iterator[tuple[str, str]]:
    opset = _opset(node)
    asked = _demands(node.op, form.since, normal_domain(node.domain))
    if asked.deprecated:
        yield (
            "deprecated-operator",
            f"does not exist from opset {form.since} on; the file imports {opset}",
        )
        return
    if asked.required or node.attrs or node.attrs.dropped:
        yield from _attributes(node, asked, opset)
    for (what, least, most), tensors in zip(asked.counts, (node.inputs, node.outputs), strict=True):
        count = len(tensors)
        if not least <= count <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            wanted = f"{least} or more" if most > _ANY_NUMBER else wanted
            yield f"{what}-count", f"has {count} {what}s; at opset {opset} it has {wanted}"
    for tensor, (name, needed) in zip(node.inputs, asked.needed, strict=False):
        if needed and not tensor.name:
            yield "input-count", f"leaves out its input {name}, which it needs"
    if node.op == "Split" and form.since >= _SPLIT_COUNTS and not normal_domain(node.domain):
        lengths = node.inputs[1:2]
        if "num_outputs" not in node.attrs and not any(tensor.name for tensor in lengths):
            yield "missing-attribute", "has neither lengths nor the number of its parts"


def _attributes(node: Node, asked: _Demands, opset: int) -> Iterator[tuple[str, str]]:
    names: set[str] = set()
    written = node.proto.attribute if node.proto is not None else ()
    for attribute in written:
        if attribute.name in names:
            yield "attribute-twice", f"has the attribute {attribute.name} twice"
        names.add(attribute.name)
    for name in node.attrs:
        known = asked.attributes.get(name)
        if known is None:
            if not name.startswith("__"):  # which the checker lets pass as a remark of a tool
                yield "unknown-attribute", f"has no attribute {name} at opset {opset}"
            continue
        proto = node.attrs.proto(name)
        kind = proto.type if proto is not None and not proto.ref_attr_name else known
        if kind and kind != known and not (kind in _SUBGRAPHS and known in _SUBGRAPHS):
            yield "attribute-type", f"has {name} as {_kind(kind)}; it is {_kind(known)}"
    for name in asked.required:
        if name not in node.attrs:
            yield "missing-attribute", f"lacks its attribute {name}"


@cache
def _kind(attribute_type: int) -> str:
    return AttributeProto.AttributeType.Name(attribute_type).lower()


def _opset(node: Node) -> int:
    domain = normal_domain(node.domain)
    return node.graph.opsets.get(domain, 1)


def fits(node: Node, opset: int) -> bool:
    """Say whether a node of the default domain has the form that its operator has at `opset`."""
    form = form_of(node.op, opset)
    return form is not None and not any(True for _ in _against(node, form))


def _where_it_fits(node: Node) -> str:
    """Say at which opsets a node would have the form that it has; empty where at none."""
    if normal_domain(node.domain):
        return ""
    able = [opset for opset in range(1, newest_opset() + 1) if fits(node, opset)]
    if not able:
        return ""
    if able[0] > _opset(node):
        return f" (it has this form since opset {able[0]})"
    last = max(opset for opset in able if opset <= max(_opset(node), able[0]))
    return f" (it has this form up to opset {last})"


def _said_by_onnx(node: Node) -> str:
    """Return what ONNX's checker says of one node; empty where it cannot be asked."""
    if any(True for _ in node.graphs()):
        return ""  # it would complain of what the subgraphs take from around them
    context = onnx.checker.C.CheckerContext()
    opsets = {domain: version for domain, version in node.graph.opsets.items() if version > 0}
    opsets.setdefault("", 1)
    context.opset_imports = opsets
    context.ir_version = 10
    try:
        onnx.checker.check_node(export_node(node), context)
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        return str(error).strip().partition("\n")[0]
    return ""
