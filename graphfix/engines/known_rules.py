"""Which rules there are: those of modules and of rows, for each engine and for each target."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from graphfix.engines.engine import Engine, engine_of, engines
from graphfix.engines.profile import Target
from graphfix.engines.rule import Rule
from graphfix.engines.rule_rows import Row, read_rows
from graphfix.errors import PassBug

ROWS = "rules.toml"
KNOWN_WRONG = "known_wrong.toml"  # rows of what releases are known to compute wrongly


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
    found |= dict.fromkeys(_declared("graphfix.engines.asked_rules"))
    for each in _declared("graphfix.engines.file_rules"):
        sources = [engine.sources[each.id] for engine in engines() if each.id in engine.sources]
        found[replace(each, source="; ".join((each.source, *sources)))] = None
    return tuple(found)


@cache
def family_rules(engine: Engine) -> tuple[Rule, ...]:
    """Return the rules of one family alone, in order of id, those for all engines left out.

    Raises:
        PassBug: Two of them have the same id.
    """
    return _in_order(_rules_of(engine))


def _rules_of(engine: Engine) -> tuple[Rule, ...]:
    """Return the rules of one family: those in its module or package ``rules``, and its rows."""
    found = dict.fromkeys(_in_modules(f"{engine.package}.rules")) if engine.package else {}
    found |= dict.fromkeys(row.rule for row in rows_of(engine))
    # Families that share their rules share the messages, which name the first of them.
    alike = [each for each in engines() if each.package == engine.package] or [engine]
    return tuple(_of_engines(each, alike) for each in found)


def _in_modules(name: str) -> Iterator[Rule]:
    """Yield the rules that a module or package declares; none where there is no such module."""
    if importlib.util.find_spec(name) is None:
        return
    package = importlib.import_module(name)
    below = pkgutil.walk_packages(getattr(package, "__path__", ()), f"{name}.")
    for module in (name, *(info.name for info in below)):
        yield from _declared(module)


def rows_of(engine: Engine) -> tuple[Row, ...]:
    """Return the rules of one family that are rows, with their probes."""
    return () if engine.folder is None else _rows_in(engine.folder)


@cache
def _rows_in(folder: Path) -> tuple[Row, ...]:
    """Return the rows of a folder, which are one and the same for families that share it."""
    files = [folder / name for name in (ROWS, KNOWN_WRONG)]
    return tuple(row for path in files if path.is_file() for row in read_rows(path))


def _of_engines(known: Rule, alike: Sequence[Engine]) -> Rule:
    """Return a rule that names its engine instead of ``{engine}``, and its families, not all."""
    message = known.message.replace("{engine}", alike[0].title)
    own = known.versions == "*" and known.check.__module__.startswith(f"{alike[0].package}.")
    versions = ", ".join(engine.family for engine in alike) if own else known.versions
    if (message, versions) == (known.message, known.versions):
        return known
    return replace(known, message=message, versions=versions)


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
