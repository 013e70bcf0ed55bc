"""Why a model does not run: the node that stops, what it reads there, and who made that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from onnx import ModelProto, NodeProto

from graphfix.authoring.registry import shipped_passes
from graphfix.errors import GraphfixError
from graphfix.ir.model import Model
from graphfix.ir.protos import called, copied, names_read, with_outputs
from graphfix.pipeline.model_types import evaluators_for
from graphfix.pipeline.verifying import on_disk
from graphfix.proving.models import run_model
from graphfix.proving.values.kinds import Array

# How onnxruntime says at which node a run ended (1.32), and the reference evaluator of onnx.
_BLAMED = (
    re.compile(r"while running (?P<op>\w+) node\. Name:'(?P<name>[^']*)'"),
    re.compile(r"operator '+(?P<op>\w+)'+"),
)


def explanation(model: Model, feeds: Sequence[Mapping[str, Any]], message: str) -> tuple[str, ...]:
    """Return what is known of the node that stopped a run; empty where it is not found.

    Args:
        model: The model.
        feeds: The inputs; the first with which it stops is looked into.
        message: What the engine said.
    """
    proto = model.to_proto()
    node = blamed_node(proto, message)
    if node is None:
        return ()
    makers = {name: each for each in proto.graph.node for name in each.output if name}
    stored = {t.name: f"stored, {list(t.dims)}" for t in proto.graph.initializer}
    made = [name for name in dict.fromkeys(node.input) if name in makers]
    for feed in feeds:
        values = _values(model, proto, made, feed)
        if values is None:
            continue
        lines = [f"it stops at {called(node.op_type, node.name, node.output)}, which reads"]
        for name in filter(None, node.input):
            value = values.get(name, feed.get(name))
            maker = makers.get(name)
            by = f", made by {called(maker.op_type, maker.name, maker.output)}" if maker else ""
            what = stored.get(name, _text(value) + ("" if maker else ", an input" * (name in feed)))
            lines.append(f"{name}: {what}{by}")
        return tuple(lines)
    return ()


def blamed_node(proto: ModelProto, message: str) -> NodeProto | None:
    """Return the node of the main graph that an engine says a run ended at; None where it does not.

    Args:
        proto: The model.
        message: What the engine said.
    """
    for pattern in _BLAMED:
        found = pattern.search(message)
        if found is None:
            continue
        name = found.groupdict().get("name")
        nodes = [n for n in proto.graph.node if n.op_type == found["op"]]
        named = [n for n in nodes if name and n.name == name]
        if named or len(nodes) == 1:
            return (named or nodes)[0]
    return None


def _values(
    model: Model, proto: ModelProto, names: Sequence[str], feed: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return what a run gives for tensors before the node; None where it does not get there."""
    if not names:
        return {}
    evaluators = evaluators_for(model, shipped_passes())
    part = with_outputs(proto, names)
    needed, nodes = set(names), [copied(node) for node in proto.graph.node]
    kept = [node for node in reversed(nodes) if _is_needed(node, needed)]
    part.graph.ClearField("node")
    part.graph.node.extend(reversed(kept))
    try:
        with on_disk(part, model.base_dir) as path:
            return run_model(path, [dict(feed)], evaluators=evaluators)[0]
    except GraphfixError:
        return None


def _is_needed(node: NodeProto, needed: set[str]) -> bool:
    """Say whether a node makes something needed; what it reads is needed, too, then."""
    if needed.isdisjoint(node.output):
        return False
    needed.update(names_read(node))
    return True


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        array = cast("Array", value)
        return f"{array.dtype}[{', '.join(map(str, array.shape))}]"
    return type(value).__name__ if value is not None else "nothing"
