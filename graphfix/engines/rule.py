"""How a rule is declared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.features import feature as checked_feature
from graphfix.engines.engine import engine_of
from graphfix.engines.profile import Target
from graphfix.engines.versions import in_range
from graphfix.errors import PassBug
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.report import Severity

REJECT = Severity.REJECT
WRONG = Severity.WRONG
BUILDER = Severity.BUILDER
FALLBACK = Severity.FALLBACK
NOTE = Severity.NOTE


class Yes(Struct, frozen=True):
    """A rule's yes that says more than the declaration does; empty fields keep what it says.

    Attributes:
        feature: The feature, where it depends on the node.
        message: The sentence for the user.
        text: The engine's own error text.
        severity: The severity, where it depends on the node.
        node: The node meant, for rules about the model.
    """

    feature: str = ""
    message: str = ""
    text: str = ""
    severity: Severity | None = None
    node: NodeView | None = None


Answer = bool | str | Yes | Unknown | None


class Rule(Struct, frozen=True):
    """Says of a node, for a range of targets: yes, no or unknown.

    Attributes:
        id: The function's name with dashes.
        check: ``(node, target) -> Answer``; for model rules ``(model, target) -> answers``.
        ops: (domain, operator) pairs; empty for every node; domain ``*`` for any domain.
        feature: The feature that a yes shows.
        versions: The range of targets, as `graphfix.engines.versions.in_range` reads it.
        severity: What the engine does.
        text: The engine's own error text; empty where it says nothing.
        message: The sentence for the user: the docstring of the function.
        source: File and line, or thread, where the fact was read.
        whole: Whether it is a rule about the model rather than a node.
        of_file: Whether it is about the file alone, whichever engine reads it: such rules are
            asked once of the model as it came and once of the result.
    """

    id: str
    check: Callable[..., Any]
    ops: tuple[tuple[str, str], ...]
    feature: str
    versions: str
    severity: Severity
    text: str
    message: str
    source: str
    whole: bool
    of_file: bool = False

    def holds_for(self, target: Target) -> bool:
        """Say whether the rule is to be asked for a target."""
        own = engine_of(target.family).own_words.get(self.id)
        return in_range(target, self.versions) and not (own and in_range(target, own))


def operator_key(op: str) -> tuple[str, str]:
    """Return (domain, operator) of ``Conv`` or ``com.microsoft::FusedConv``."""
    domain, _, name = op.rpartition("::")
    return (domain, name)


def rule(
    ops: str | Sequence[str] = (),
    *,
    feature: str,
    versions: str,
    severity: Severity,
    source: str,
    text: str = "",
) -> Callable[[Callable[[NodeView, Target], Answer]], Rule]:
    """Declare a rule about nodes.

    The docstring of the function is the sentence that the user reads. The function answers
    False or None for no, True, a sentence or `Yes` for yes, `Unknown("dtype of x")` where it
    cannot know. A `Refuse` raised by an attribute that the caller of a function gives counts as
    unknown.
    """

    def declare(function: Callable[[NodeView, Target], Answer]) -> Rule:
        return _make(function, ops, feature, versions, severity, source, text, whole=False)

    return declare


def model_rule(
    *,
    feature: str,
    versions: str,
    severity: Severity,
    source: str,
    text: str = "",
) -> Callable[[Callable[[Model, Target], Sequence[Answer] | Answer]], Rule]:
    """Declare a rule about the model; the function may answer several times."""

    def declare(function: Callable[[Model, Target], Sequence[Answer] | Answer]) -> Rule:
        return _make(function, (), feature, versions, severity, source, text, whole=True)

    return declare


def _make(
    function: Callable[..., object],
    ops: str | Sequence[str],
    feature: str,
    versions: str,
    severity: Severity,
    source: str,
    text: str,
    *,
    whole: bool,
) -> Rule:
    message = " ".join((function.__doc__ or "").split())
    if not message:
        raise PassBug(f"rule {function.__name__} has no docstring")
    names = (ops,) if isinstance(ops, str) else tuple(ops)
    return Rule(
        id=function.__name__.replace("_", "-"),
        check=function,
        ops=tuple(operator_key(op) for op in names),
        feature=checked_feature(feature),
        versions=versions,
        severity=severity,
        text=text,
        message=message,
        source=source,
        whole=whole,
    )
