"""Rules that many operators share, made from a line each."""

from __future__ import annotations

from collections.abc import Sequence

from graphfix.authoring.views import NodeView
from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, Answer, Rule, Yes, rule
from graphfix.engines.tensorrt.rules.parsed import is_weights, opset_of, refused_type, unknown_rank
from graphfix.report import Severity


def needs_weights(
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
    """Return the rule that an input must be an initializer; its feature is ``const:<Op>.<name>``.

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
        value = node.input(index)
        if value is None or is_weights(value):
            return None
        return not since or opset_of(node) >= since

    check.__name__ = f"{op}_{name}_constant".lower()
    check.__doc__ = f"Input {name} of {op} has to be an initializer."
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
    """
    types = frozenset(refused)

    def check(node: NodeView, target: Target) -> Answer:
        seen = range(len(node.node.inputs)) if indices is None else indices
        return refused_type(node, target, types, seen, text)

    check.__name__ = id.replace("-", "_")
    check.__doc__ = f"{{op}} does not take the element type: {', '.join(refused)} are refused."
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
            return unknown_rank(value)
        if found in allowed:
            return None
        return Yes(feature=f"rank:{op}.{found}", message=f"{op} does not take rank {found}")

    check.__name__ = f"{op.lower()}_rank_of_input_{index}"
    check.__doc__ = f"{op} does not take a tensor of this rank as input {index}."
    return rule(
        op, feature=f"rank:{op}", versions=versions, severity=severity, text=text, source=source
    )(check)
