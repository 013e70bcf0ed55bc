"""How a rule is declared, and how rules are found."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.features import feature as checked_feature
from graphfix.engines.engine import Engine, engine_of, engines
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


def _key(op: str) -> tuple[str, str]:
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
        ops=tuple(_key(op) for op in names),
        feature=checked_feature(feature),
        versions=versions,
        severity=severity,
        text=text,
        message=message,
        source=source,
        whole=whole,
    )


@cache
def all_rules() -> tuple[Rule, ...]:
    """Return the rules for all engines and those of every engine, in order of id.

    Raises:
        PassBug: Two rules of one family have the same id, or one has that of a rule for all.
    """
    found = dict.fromkeys(_common_rules())
    for engine in engines():
        found |= dict.fromkeys(_in_order((*_common_rules(), *_rules_of(engine))))
    return tuple(sorted(found, key=lambda rule: rule.id))


def _in_order(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    found: dict[str, Rule] = {}
    for each in rules:
        if found.setdefault(each.id, each) is not each:
            raise PassBug(f"two rules are called {each.id}")
    return tuple(found[key] for key in sorted(found))


@cache
def _common_rules() -> tuple[Rule, ...]:
    """Return the rules for all engines; the sources of those on files say what each does."""
    found = dict.fromkeys(_declared("graphfix.engines.common_rules"))
    found |= dict.fromkeys(_declared("graphfix.engines.limit_rules"))
    found |= dict.fromkeys(_declared("graphfix.engines.measured_rules"))
    for each in _declared("graphfix.engines.file_rules"):
        reported = [engine.sources[each.id] for engine in engines() if each.id in engine.sources]
        found[replace(each, source="; ".join((each.source, *reported)))] = None
    return tuple(found)


@cache
def family_rules(engine: Engine) -> tuple[Rule, ...]:
    """Return the rules of one family alone, in order of id, those for all engines left out.

    Raises:
        PassBug: Two of them have the same id.
    """
    return _in_order(_rules_of(engine))


def _rules_of(engine: Engine) -> tuple[Rule, ...]:
    """Return the rules of one family: those in its module or package ``rules``."""
    name = f"{engine.package}.rules"
    if not engine.package or importlib.util.find_spec(name) is None:
        return ()
    package = importlib.import_module(name)
    below = pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}.")
    names = (name, *(info.name for info in below))
    found = dict.fromkeys(each for module in names for each in _declared(module))
    # Families that share their rules share the messages, which name the first of them.
    alike = (each.title for each in engines() if each.package == engine.package)
    title = next(alike, engine.title)
    return tuple(_of_engine(each, title) for each in found)


def _of_engine(known: Rule, title: str) -> Rule:
    """Return a rule whose message names its engine instead of ``{engine}``."""
    if "{engine}" not in known.message:
        return known
    return replace(known, message=known.message.replace("{engine}", title))


def _declared(module: str) -> Iterator[Rule]:
    found = vars(importlib.import_module(module)).values()
    return (value for value in found if isinstance(value, Rule))


class RuleSet(Struct, frozen=True):
    """The rules of one target, by operator.

    Attributes:
        everywhere: Rules for every node.
        exact: (domain, operator) -> rules, those for every node first.
        any_domain: Operator -> rules that hold in every domain, those for every node first.
        whole: Rules about the model.
        files: Rules about the file alone.
    """

    everywhere: tuple[Rule, ...]
    exact: dict[tuple[str, str], tuple[Rule, ...]]
    any_domain: dict[str, tuple[Rule, ...]]
    whole: tuple[Rule, ...]
    files: tuple[Rule, ...]

    def of(self, domain: str, op: str) -> tuple[Rule, ...]:
        """Return the rules to ask about a node of this operator."""
        found = self.exact.get((domain, op))
        return self.any_domain.get(op, self.everywhere) if found is None else found


@cache
def rules_for(target: Target) -> RuleSet:
    """Return the rules that hold for `target`."""
    own = _rules_of(engine_of(target.family))
    known = [rule for rule in _in_order((*_common_rules(), *own)) if rule.holds_for(target)]
    everywhere = tuple(rule for rule in known if not rule.ops and not rule.whole)
    by_key: dict[tuple[str, str], list[int]] = {}
    for place, rule in enumerate(known):
        for key in dict.fromkeys(rule.ops):
            by_key.setdefault(key, []).append(place)

    def of(domain: str, op: str) -> tuple[Rule, ...]:
        places = {*by_key.get((domain, op), ()), *by_key.get(("*", op), ())}
        return everywhere + tuple(known[place] for place in sorted(places))

    return RuleSet(
        everywhere,
        {key: of(*key) for key in by_key if key[0] != "*"},
        {op: of("*", op) for domain, op in by_key if domain == "*"},
        tuple(rule for rule in known if rule.whole and not rule.of_file),
        tuple(rule for rule in known if rule.of_file),
    )


@cache
def file_rules() -> dict[str, Rule]:
    """Return the rules about the file alone, by id."""
    return {rule.id: rule for rule in _common_rules() if rule.of_file}
