"""What ONNX says of a whole file, and which nodes it says it of; weights are not loaded.

The checker and strict shape inference are asked once, in C++. Only where they have something
against the file, or cannot see all of it, is it walked node by node: they stop at what they find
first, and do not always say where that is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import onnx
from msgspec import Struct
from onnx import ModelProto, TypeProto

from graphfix.analysis.inference import form_at, type_of
from graphfix.analysis.shape_inference import infer_shapes
from graphfix.ir.graph import Function, Node, Tensor
from graphfix.ir.importing import sort_graph
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.schemas import newest_opset
from graphfix.ir.views import NodeView
from graphfix.validity.complaints import Complaint
from graphfix.validity.declarations import (
    data_complaints,
    declaration_complaints,
    name_complaints,
    node_name_complaints,
    repeated_node_complaints,
    stored_complaints,
)
from graphfix.validity.shapes import CHECKED_HERE, SCALED, baked_sizes, free_sides, own_complaint
from graphfix.validity.walk import Calls, Walk

_ERRORS = (onnx.checker.ValidationError, onnx.shape_inference.InferenceError)
_BLAMED = re.compile(r"\(op_type:(\w+)(?:, node name: ([^)]*))?\): (.*)")
_CONTEXT = re.compile(r"Bad node spec for node\. Name: (?P<name>.*) OpType: (?P<op>\w+)")
_ANOTHER_SIZE = "and existing shape differ"
_UNKNOWN_TYPE = (
    "but instead is null",
    "Inference error(s):",  # in the function body of an operator, whose attributes it misses there
    "was not a tensor",  # nor is it known where IR 3 leaves an initializer out of the inputs
    "No opset import for domain",
    "type is unknown",
)

# What the checker asks for and no engine misses, and what other rules and passes are for. The
# texts are those of onnx/checker.cc.
_FORMALITIES = (
    "Field 'shape' of 'type' is required but missing",
    "Field 'name' of ",
    "Field 'type' of 'value_info' is required but missing",
    "in initializer but not in graph input",
    "initializer name is not unique",
    "duplicate keys in metadata_props",
)
_ELSEWHERE = (
    "No Op registered for",
    "is deprecated in domain_version of",  # form_complaints says which have a meaning all the same
    "No opset import for domain",
    "must specify opset_import",
    "should contain one and only one value field",  # data_complaints looks at all of them
    "raw_data size (",
    "_data size (",
    "Negative dimension value",
    "Opset import version",
    "IR version",
)
_NAMES = ("repeated-node-name",)
_ASSIGNED_TWICE = "single static assignment (SSA) form"
_UNSORTED = "Nodes in a graph must be topologically sorted"


class Examination(Struct, frozen=True):
    """What was found wrong with a file.

    Attributes:
        checker: What the checker says, in one line; empty for nothing.
        inference: What strict shape inference says, in one line; empty for nothing.
        complaints: Everything, node by node.
        typed: What inference says of types, in one line, which may name no node.
    """

    checker: str
    inference: str
    complaints: tuple[Complaint, ...]
    typed: str = ""


def examine(model: Model, misdeclared: Collection[str] = ()) -> Examination:
    """Look at a file: forms, types, shapes, declarations, stored data.

    Args:
        model: The model; its types may be inferred or not.
        misdeclared: Outputs whose declared shape is known to be wrong, and not looked at.
    """
    raw = model.light_proto().SerializeToString()
    checker = _checker(raw)
    later = ""
    if _UNSORTED in checker:  # which hides all that follows, from inference as well
        raw = _in_order(raw)
        later = _checker(raw)
    foreign = any(form_at(node) is None for node in model.nodes())
    if misdeclared:
        light = ModelProto.FromString(raw)
        forget_shapes(light, misdeclared)
        raw = light.SerializeToString()
        del light
    inferred, typed = _inferred(raw, check_types=True)
    inference = ""
    if not foreign and typed:
        inferred, inference = _inferred(raw, check_types=False)
        if inference and any(_is_scaled(node) for node in model.graph.nodes):
            _, inference = _inferred(_without_scales(model, raw), check_types=False)
    complaints = [*_numbers(model), *name_complaints(model), *data_complaints(model)]
    if model.is_text:
        complaints.append(Complaint("text-form", "engines read the binary form of a model alone"))
    for name in model.misplaced:
        message = f"the node that writes {name} lies outside of the subgraph whose tensor it reads"
        complaints.append(Complaint("misplaced-node", message))
    complaints += [*node_name_complaints(model), *repeated_node_complaints(model)]
    complaints += declaration_complaints(model)
    complaints += stored_complaints(model)
    if checker or typed or foreign or inferred is None:
        complaints += _walked(model, inference)
    else:
        complaints += _own(model, inferred)
    for text in (checker, later):
        complaints += _of_the_checker(model, text, complaints)
    return Examination(
        checker.partition("\n")[0],
        inference.partition("\n")[0],
        _distinct(complaints),
        _of_types(typed),
    )


def types_said(model: Model) -> str:
    """Return what inference says of the types of a file, in one line; empty for nothing.

    Sizes that are declared and wrong are no matter of types.
    """
    return _of_types(_inferred(model.light_proto().SerializeToString(), check_types=True)[1])


def _of_types(text: str) -> str:
    """Return the first of what inference says that is about types, or may hide such."""
    each = (line for line in text.splitlines() if line and _ANOTHER_SIZE not in line)
    return next(each, "")


def forget_shapes(proto: ModelProto, names: Collection[str]) -> None:
    """Drop the declared shapes of some outputs."""
    for info in proto.graph.output:
        if info.name in names:
            info.type.tensor_type.ClearField("shape")


def _checker(raw: bytes) -> str:
    try:
        onnx.checker.check_model(raw)  # pyright: ignore[reportUnknownMemberType]
    except (*_ERRORS, RuntimeError, ValueError) as error:
        return str(error).strip() or type(error).__name__
    return ""


def _inferred(raw: bytes, *, check_types: bool) -> tuple[ModelProto | None, str]:
    try:
        found = infer_shapes(raw, check_type=check_types, strict_mode=True)
    except (*_ERRORS, RuntimeError, ValueError) as error:
        return None, str(error).strip() or type(error).__name__
    return found, ""


def _in_order(raw: bytes) -> bytes:
    """Return a file without weights whose nodes come after those that they read."""
    model = Model(ModelProto.FromString(raw))
    for graph in model.graphs():
        sort_graph(graph)
    return model.to_proto().SerializeToString()


def _is_scaled(node: Node) -> bool:
    return node.op in SCALED and not normal_domain(node.domain)


def _without_scales(model: Model, raw: bytes) -> bytes:
    """Return a file where what scales give is fed instead, in any size; as it is if that fails.

    Inference multiplies sizes by scales as doubles, engines as floats: 5 rows times 1.8 are 8 for
    the one and 9 for the others.
    """
    try:
        light = infer_shapes(raw)
    except (*_ERRORS, RuntimeError, ValueError):
        return raw
    given = {t.name for n in model.graph.nodes if _is_scaled(n) for t in n.outputs if t.name}
    kept = [node for node in light.graph.node if given.isdisjoint(node.output)]
    fed = [i for i in (*light.graph.value_info, *light.graph.output) if i.name in given]
    del light.graph.node[:], light.graph.value_info[:]
    light.graph.node.extend(kept)
    for info in fed:
        light.graph.input.append(info)
        for dim in light.graph.input[-1].type.tensor_type.shape.dim:
            dim.Clear()
    return light.SerializeToString()


def _numbers(model: Model) -> Iterator[Complaint]:
    """Yield what is wrong with the opset numbers of the file."""
    newest = newest_opset()
    versions: dict[str, int] = {}
    for entry in model.proto.opset_import:
        domain = normal_domain(entry.domain)
        shown = domain or "ai.onnx"
        known = versions.setdefault(domain, entry.version)
        if known != entry.version:
            message = f"{shown} is imported twice, as opset {known} and as {entry.version}"
            yield Complaint("opset-number", message)
    opset = model.graph.opsets.get("")
    if opset is not None and not 1 <= opset <= newest:
        message = f"the file says opset {opset}; those that are known here are 1 to {newest}"
        yield Complaint("opset-number", message)


def _own(model: Model, inferred: ModelProto) -> Iterator[Complaint]:
    """Yield what inference does not look at, in a file that it has nothing against."""
    nodes = [node for node in model.graph.nodes if node.op in CHECKED_HERE]
    if not nodes:
        return
    infos = {info.name: info for info in inferred.graph.value_info}
    free = free_sides(model)

    def types(tensor: Tensor) -> TypeProto | None:
        info = infos.get(tensor.name)
        return info.type if info is not None else type_of(tensor)

    for node in nodes:
        found = own_complaint(node, types)
        if found is not None:
            yield found
        yield from baked_sizes(node, types, free)


def _walked(model: Model, inference: str) -> Iterator[Complaint]:
    """Yield what is wrong with single nodes, in every scope."""
    seen: set[int] = set()
    calls = Calls({function.key: function for function in model.functions})
    for root in model.roots():
        walk = Walk(free_sides(model), calls)
        for found in walk.graph(root, typed=not isinstance(root, Function)):
            if found.node is not None:
                seen.add(id(found.node.node))
            yield found
    yield from _of_inference(model, inference, seen)


def _of_inference(model: Model, inference: str, seen: set[int]) -> Iterator[Complaint]:
    """Yield what strict inference says of nodes that the walk has nothing against."""
    for match in _BLAMED.finditer(inference):
        op, name, said = match.group(1), match.group(2) or "", match.group(3)
        if any(part in said for part in _UNKNOWN_TYPE) or _ANOTHER_SIZE in said:
            continue
        if "differs from existing elem type" in said:
            continue
        node = _first(model, op, name)
        if node is None or id(node) in seen or _holds(node, seen):
            continue
        view = NodeView(node)
        plain = said.partition("] ")[2] or said
        if "inputs but 0 were provided" in said:
            message = f"a branch of {op} {name!r} declares inputs, which branches cannot have"
            yield Complaint("branch-inputs", message, view, said)
        else:
            yield Complaint("type-contradiction", f"{op} {name!r}: {plain}", view, said)


def _holds(node: Node, seen: set[int]) -> bool:
    """Say whether something was found in the subgraphs of a node, which may be why it fails."""
    return any(
        id(inner) in seen for _, body in node.graphs() for g in body.walk() for inner in g.nodes
    )


def _first(model: Model, op: str, name: str) -> Node | None:
    return next((n for n in model.nodes() if n.op == op and n.name == name), None)


def _of_the_checker(model: Model, text: str, known: Collection[Complaint]) -> Iterator[Complaint]:
    """Yield what the checker says of the file itself, with the node where it names one."""
    first = text.partition("\n")[0]
    named = _CONTEXT.search(text)
    node = _first(model, named["op"], named["name"]) if named is not None else None
    view = NodeView(node) if node is not None else None
    if not text or any(part in text for part in _ELSEWHERE):
        return
    if _ASSIGNED_TWICE in first:
        if all(each.kind not in ("repeated-constant", "repeated-node") for each in known):
            message = f"a subgraph reuses the name of a tensor of an outer graph: {first}"
            yield Complaint("shadowed-name", message, view, first)
    elif _UNSORTED in first:
        yield Complaint("unsorted", "nodes precede the nodes whose outputs they read", None, first)
    elif any(part in first for part in _FORMALITIES):
        yield Complaint("formality", f"the ONNX checker asks for more: {first}", None, first)
    elif not any(each.node is not None and each.kind not in _NAMES for each in known):
        yield Complaint("invalid-model", f"the ONNX checker refuses the file: {first}", view, first)


def _distinct(complaints: Collection[Complaint]) -> tuple[Complaint, ...]:
    kept: dict[tuple[str, str, int], Complaint] = {}
    for each in complaints:
        node = id(each.node.node) if each.node is not None else 0
        kept.setdefault((each.kind, each.message, node), each)
    return tuple(kept.values())
