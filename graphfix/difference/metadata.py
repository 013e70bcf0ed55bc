"""Facts next to the graph: versions, opsets, producer, texts, metadata entries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onnx import FunctionProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto

from graphfix.difference.difference import FieldChange
from graphfix.difference.scopes import function_scope
from graphfix.ir.protos import normal_domain

_MODEL_FIELDS = ("ir_version", "producer_name", "producer_version", "domain", "model_version")
_REPEATED = ("training_info", "configuration")
_MOST_CHARACTERS = 200

Facts = Mapping[str, str]


def changes(where: str, before: Facts, after: Facts) -> list[FieldChange]:
    """Return the entries that differ; an entry that a side lacks is None there."""
    found: list[FieldChange] = []
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old != new:
            found.append(FieldChange(where, name, _shortened(old, new), _shortened(new, old)))
    return found


def _shortened(text: str | None, other: str | None) -> str | None:
    """Cut a long text around the first character that differs."""
    if text is None or len(text) <= _MOST_CHARACTERS:
        return text
    start = 0
    if other is not None:
        pairs = zip(text, other, strict=False)
        start = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))
    start = max(0, start - 20)
    end = start + _MOST_CHARACTERS
    head, tail = "..." if start else "", "..." if end < len(text) else ""
    return f"{head}{text[start:end]}{tail} ({len(text)} characters)"


def entries(props: Iterable[StringStringEntryProto]) -> dict[str, str]:
    """Return metadata entries as facts."""
    return {f"metadata {entry.key}": entry.value for entry in props}


def texts(doc_string: str, props: Iterable[StringStringEntryProto]) -> dict[str, str]:
    """Return doc string and metadata entries as facts."""
    found = {"doc_string": doc_string} if doc_string else {}
    return {**found, **entries(props)}


def _opsets(imports: Iterable[OperatorSetIdProto]) -> dict[str, str]:
    return {
        f"opset {normal_domain(entry.domain) or 'ai.onnx'}": str(entry.version) for entry in imports
    }


def model_changes(before: ModelProto, after: ModelProto) -> list[FieldChange]:
    """Return what differs between two models next to their graphs."""
    found = changes("model", _model_facts(before), _model_facts(after))
    for name in _REPEATED:
        old, new = _serialized(before, name), _serialized(after, name)
        if old != new:
            text = (f"{len(old)} entries", f"{len(new)} entries")
            found.append(FieldChange("model", name, *text))
    found += changes("main", _graph_facts(before), _graph_facts(after))
    return found


def _model_facts(model: ModelProto) -> dict[str, str]:
    facts = {name: str(getattr(model, name)) for name in _MODEL_FIELDS if model.HasField(name)}
    return {
        **facts,
        **_opsets(model.opset_import),
        **texts(model.doc_string, model.metadata_props),
    }


def _graph_facts(model: ModelProto) -> dict[str, str]:
    graph = model.graph
    return {"name": graph.name, **texts(graph.doc_string, graph.metadata_props)}


def _serialized(model: ModelProto, name: str) -> list[bytes]:
    return [entry.SerializeToString(deterministic=True) for entry in getattr(model, name)]


def function_changes(before: FunctionProto, after: FunctionProto) -> list[FieldChange]:
    """Return what differs between two functions next to their nodes."""
    return changes(function_scope(before), _function_facts(before), _function_facts(after))


def _function_facts(function: FunctionProto) -> dict[str, str]:
    from graphfix.difference.attributes import attribute_text

    return {
        "inputs": str(len(function.input)),
        "outputs": str(len(function.output)),
        **{f"attribute {name}": "required" for name in function.attribute},
        **{f"attribute {a.name}": f"default {attribute_text(a)}" for a in function.attribute_proto},
        **_opsets(function.opset_import),
        **texts(function.doc_string, function.metadata_props),
    }


def node_facts(node: NodeProto) -> dict[str, str]:
    """Return the facts of a node next to its attributes and its edges."""
    facts = {"overload": node.overload} if node.overload else {}
    places = {name: f"input {i}" for i, name in reversed(list(enumerate(node.input)))}
    places |= {name: f"output {i}" for i, name in enumerate(node.output)}
    for number, device in enumerate(node.device_configurations):
        plain = type(device)()
        plain.CopyFrom(device)
        for spec in plain.sharding_spec:
            spec.tensor_name = places.get(spec.tensor_name, spec.tensor_name)
        facts[f"device configuration {number}"] = " ".join(str(plain).split())
    return {**facts, **texts(node.doc_string, node.metadata_props)}
