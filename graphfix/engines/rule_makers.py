"""Factories of rules that many operators and engines share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onnx import SparseTensorProto

from graphfix.authoring.declaring import Unknown
from graphfix.engines.common_rules import empty_outputs
from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Rule, Yes, model_rule, rule
from graphfix.ir.model import Model
from graphfix.ir.sorting import first_misplaced
from graphfix.ir.views import NodeView
from graphfix.report import Severity


def refused_type(
    node: NodeView,
    target: Target,
    refused: frozenset[str],
    indices: Iterable[int] = (0,),
    text: str = "",
    *,
    unknown: bool = True,
) -> Answer:
    """Answer yes when an input has one of the `refused` element types to the engine.

    The feature is ``dtype:<Op>.<type>`` with the type that ONNX gives the tensor. ``{type}`` in
    `text` becomes the engine's own name of the type.

    Args:
        node: The node.
        target: The target.
        refused: Element types as the engine sees them, in ONNX's names.
        indices: The inputs that are looked at.
        text: The engine's own error text.
        unknown: Whether an unknown type is reported.
    """
    engine, open_one = engine_of(target.family), None
    for index in indices:
        value = node.input(index)
        if value is None:
            continue
        found = engine.element_type(value, target)
        if found in refused:
            return Yes(
                feature=f"dtype:{node.op}.{value.type_name}",
                text=text.replace("{type}", engine.type_text(found)),
            )
        if not found and unknown:
            open_one = Unknown(f"dtype of {value.name}")
    return open_one


def needs_constant(
    op: str,
    index: int,
    name: str,
    *,
    versions: str,
    text: str,
    source: str,
    since: int = 0,
    severity: Severity = REJECT,
) -> Rule:
    """Return the rule that an input must be constant; its feature is ``const:<Op>.<name>``.

    Args:
        op: The operator.
        index: The position of the input.
        name: The input's name in ONNX.
        versions: The range of targets.
        text: The engine's own error text.
        source: File and line.
        since: The opset from which on it is an input.
        severity: What the engine does.
    """

    def check(node: NodeView, target: Target) -> Answer:
        value, engine = node.input(index), engine_of(target.family)
        if value is None or engine.is_constant(value):
            return None
        return not since or engine.opset_of(node) >= since

    check.__name__ = f"{op}_{name}_constant".lower()
    check.__doc__ = f"{{engine}} requires input {name} of {op} to be constant."
    return rule(
        op,
        feature=f"const:{op}.{name}",
        versions=versions,
        severity=severity,
        text=text,
        source=source,
    )(check)


def refuses_types(
    id: str,
    ops: str | Sequence[str],
    refused: Sequence[str],
    *,
    versions: str,
    text: str,
    source: str,
    indices: tuple[int, ...] | None = (0,),
    severity: Severity = REJECT,
    unknown: bool = True,
) -> Rule:
    """Return the rule that inputs must not have some element types; feature ``dtype:<Op>.<type>``.

    Args:
        id: The rule's id.
        ops: The operators.
        refused: Element types as the engine sees them, in ONNX's names.
        versions: The range of targets.
        text: The engine's own error text; ``{type}`` stands for its name of the type.
        source: File and line.
        indices: The inputs that are looked at; None for all.
        severity: What the engine does.
        unknown: Whether an unknown type is reported.
    """
    types = frozenset(refused)

    def check(node: NodeView, target: Target) -> Answer:
        seen = range(len(node.node.inputs)) if indices is None else indices
        return refused_type(node, target, types, seen, text, unknown=unknown)

    check.__name__ = id.replace("-", "_")
    check.__doc__ = f"{{engine}} does not support {{op}} of {' or '.join(refused)}."
    return rule(
        ops, feature="dtype:{op}", versions=versions, severity=severity, text=text, source=source
    )(check)


def refuses_rank(
    op: str,
    index: int,
    allowed: range,
    *,
    versions: str,
    text: str,
    source: str,
    severity: Severity = REJECT,
) -> Rule:
    """Return the rule on the rank of an input; its feature is ``rank:<Op>.<rank>``."""

    def check(node: NodeView, target: Target) -> Answer:
        value = node.input(index)
        if value is None:
            return None
        found = value.rank
        if found is None:
            return Unknown(f"rank of {value.name}")
        if found in allowed:
            return None
        return Yes(
            feature=f"rank:{op}.{found}",
            message=f"{target.title} does not support rank {found} of {op}",
        )

    check.__name__ = f"{op.lower()}_rank_of_input_{index}"
    check.__doc__ = f"{{engine}} does not support the rank of input {index} of {op}."
    return rule(
        op, feature=f"rank:{op}", versions=versions, severity=severity, text=text, source=source
    )(check)


def ignores_sparse_initializers(*, versions: str, source: str, text: str = "") -> Rule:
    """Return the rule that sparse initializers are not read; feature ``io:sparse-initializer``.

    Args:
        versions: The range of targets.
        source: Where it was measured or read.
        text: The engine's own error text; empty where it says nothing.
    """

    def sparse_initializer(model: Model, target: Target) -> list[Answer]:
        """{engine} does not support sparse initializers."""
        return [
            Yes(message=f"{target.title} does not support the sparse initializer {stored.name}")
            for stored in model.graph.initializers
            if isinstance(stored.weights.proto, SparseTensorProto)
        ]

    return model_rule(
        feature="io:sparse-initializer",
        versions=versions,
        severity=REJECT,
        text=text,
        source=source,
    )(sparse_initializer)


def wants_nodes_in_order(*, versions: str, text: str, source: str) -> Rule:
    """Return the rule that nodes must be in topological order; feature ``model:unsorted``.

    Args:
        versions: The range of targets.
        text: The engine's own error text.
        source: Where it was measured or read.
    """

    def unsorted_nodes(model: Model, target: Target) -> Answer:
        """{engine} requires nodes in topological order."""
        return first_misplaced(model.graph) is not None

    return model_rule(
        feature="model:unsorted", versions=versions, severity=REJECT, text=text, source=source
    )(unsorted_nodes)


def refuses_empty_outputs(*, versions: str, text: str, source: str) -> Rule:
    """Return the rule that no output of the graph may be empty; feature ``io:empty-output``.

    Args:
        versions: The range of targets.
        text: The engine's own error text.
        source: Where it was measured or read.
    """

    def empty_output(model: Model, target: Target) -> list[Answer]:
        """{engine} does not support a graph output without elements."""
        return empty_outputs(model)

    return model_rule(
        feature="io:empty-output", versions=versions, severity=REJECT, text=text, source=source
    )(empty_output)
