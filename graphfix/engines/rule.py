"""How a rule is declared, which scopes of a graph it is asked of, and what counts where it raises.

A rule or a hook of an engine that raises is a fault of ours. It becomes an answer that nothing is
known, which blocks as the rule's yes would: a file that a rule could not judge is never called
fixed. Whoever wants to see the fault itself, as the tests do, sets the variable `STRICT` in the
environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.features import feature as checked_feature
from graphfix.authoring.features import operator_key
from graphfix.engines.engine import Engine, engine_of
from graphfix.engines.profile import Target
from graphfix.engines.versions import in_range
from graphfix.errors import GraphfixError, PassBug, RuleFault
from graphfix.ir.graph import Graph
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView, Refuse
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
        needs: What a target has to tell, as `Target.tells` has it: where it does not, the rule is
            not asked. Empty for rules that need nothing.
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
    needs: str = ""

    def holds_for(self, target: Target) -> bool:
        """Say whether the rule is to be asked for a target."""
        if self.needs and not target.tells(self.needs):
            return False
        own = engine_of(target.family).own_words.get(self.id)
        return in_range(target, self.versions) and not (own and in_range(target, own))


def rule(
    ops: str | Sequence[str] = (),
    *,
    feature: str,
    versions: str = "*",
    severity: Severity,
    source: str,
    text: str = "",
    needs: str = "",
) -> Callable[[Callable[[NodeView, Target], Answer]], Rule]:
    """Declare a rule about nodes.

    The docstring of the function is the sentence that the user reads. The function answers
    False or None for no, True, a sentence or `Yes` for yes, `Unknown("dtype of x")` where it
    cannot know. A `Refuse` raised by an attribute that the caller of a function gives counts as
    unknown. Where no versions are named it holds for all: those of the family in whose folder
    it is, or of every family.
    """

    def declare(function: Callable[[NodeView, Target], Answer]) -> Rule:
        made = _make(function, ops, feature, versions, severity, source, text, whole=False)
        return replace(made, needs=needs) if needs else made

    return declare


def model_rule(
    *,
    feature: str,
    versions: str = "*",
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


STRICT = "GRAPHFIX_STRICT_RULES"
FAILED = "this rule failed"
_T = TypeVar("_T")
# What the caller can mend, or the machine lacks, is not a fault of a rule.
_NOT_OURS = (GraphfixError, OSError, MemoryError, RuleFault)


@dataclass(frozen=True, slots=True)
class Failed(Unknown):
    """The answer of a rule that raised.

    Attributes:
        fault: What it raised, in one line.
    """

    fault: str


def answer_of(check: Callable[..., Any], rule: str, subject: object, target: object) -> Any:
    """Ask a rule; where it raises, that is the answer.

    Args:
        check: The function of the rule.
        rule: Its id.
        subject: The node or the model.
        target: The target.

    Raises:
        RuleFault: It raised, and `STRICT` is set.
    """
    try:
        return check(subject, target)
    except Exception as error:  # whatever a fault of ours raises
        return answer_instead(rule, error)


def answer_instead(rule: str, error: Exception) -> Unknown:
    """Return what counts as the answer of a rule that raised; asked where that was caught.

    Who asks thousands of rules has the ``try`` of `answer_of` in his own loop, where it is free.

    Raises:
        RuleFault: It is a fault, and `STRICT` is set.
        Exception: What was raised, where it is no fault of a rule.
    """
    return Unknown(error.reason) if isinstance(error, Refuse) else failed(rule, error)


def failed(rule: str, error: Exception) -> Failed:
    """Return the answer of a rule or a hook that raised; asked where that was caught.

    Raises:
        RuleFault: It is a fault, and `STRICT` is set.
        Exception: What was raised, where it is no fault of ours.
    """
    if isinstance(error, _NOT_OURS):
        raise error
    said = " ".join(f"{type(error).__name__}: {error}".split())
    if os.environ.get(STRICT):
        raise RuleFault(f"the rule {rule} failed: {said}") from error
    return Failed(FAILED, said)


def hook_result(
    call: Callable[[], _T], instead: _T, hook: str, faults: list[tuple[str, Failed]]
) -> _T:
    """Call a hook of an engine; where it raises, note that and continue with something else.

    Args:
        call: Calls it.
        instead: What counts where it raises.
        hook: Its name.
        faults: Takes its name, and what it raised.

    Raises:
        RuleFault: It raised, and `STRICT` is set.
    """
    try:
        return call()
    except Exception as error:  # whatever a fault of ours raises
        faults.append((hook, failed(hook, error)))
        return instead


def read_graphs(
    engine: Engine, root: Graph, faults: list[tuple[str, Failed]] | None = None
) -> Iterator[Graph]:
    """Walk the scopes of a graph that an engine looks into.

    Args:
        engine: The engine.
        root: The main graph or a local function.
        faults: Takes what `Engine.reads` raised; the scope is looked into then.
    """
    noted = [] if faults is None else faults

    def reads(graph: Graph) -> bool:
        return hook_result(lambda: engine.reads(graph), True, "reads", noted)

    pending: list[Iterator[Graph]] = [iter((root,))]
    while pending:
        graph = next(pending[-1], None)
        if graph is None:
            pending.pop()
        elif graph.parent is None or reads(graph):
            yield graph
            pending.append(graph.subgraphs())
