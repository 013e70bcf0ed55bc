"""What releases of engines are known to compute wrongly, with the sources and what was seen here.

The rows of a family's ``known_wrong.toml`` come from public threads and release notes; other rules
of severity ``wrong`` were read in sources or measured, which their own source says.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from graphfix.engines.engine import engine_of
from graphfix.engines.known_rules import rows_of, rules_for
from graphfix.engines.profile import Target
from graphfix.engines.rule import Rule
from graphfix.report import Severity

_RUN = re.compile(r"\b(measured|asked of|asked\.json|seen here)\b")


class KnownWrong(Struct, frozen=True):
    """One form that a release takes and computes differently from what ONNX says.

    Attributes:
        rule: The rule that finds it.
        operators: The operators, those of ONNX without a domain; empty for any.
        computes: What comes instead.
        seen: The releases in which it was seen here; empty where the source says so.
        run: Whether it was seen here, in whichever release.
        possible: Whether only some of what the rule finds is wrong, and no source says which.
    """

    rule: Rule
    operators: tuple[str, ...]
    computes: str
    seen: tuple[str, ...]
    run: bool
    possible: bool


@cache
def known_wrong(target: Target) -> tuple[KnownWrong, ...]:
    """Return what a target is known to compute wrongly, in order of the rules."""
    found = rules_for(target)
    groups = (found.everywhere, found.whole, *found.exact.values(), *found.any_domain.values())
    rules = {rule.id: rule for group in groups for rule in group}
    rows = {row.rule.id: row for row in rows_of(engine_of(target.family))}
    known: list[KnownWrong] = []
    for name, rule in sorted(rules.items()):
        if rule.severity is not Severity.WRONG or rule.versions == "*":
            continue
        row = rows.get(name)
        seen = row.seen if row else ()
        known.append(
            KnownWrong(
                rule,
                tuple(op if domain in ("", "*") else f"{domain}::{op}" for domain, op in rule.ops),
                row.computes if row and row.computes else rule.message,
                seen,
                bool(seen or _RUN.search(rule.source)),
                bool(row and row.possible),
            )
        )
    return tuple(known)
