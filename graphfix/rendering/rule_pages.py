"""The page on rules in the documentation: what is known of each engine, and where it was read."""

from __future__ import annotations

import re

from graphfix.engines.engine import engines
from graphfix.engines.known_rules import all_rules
from graphfix.engines.rule import Rule


def page() -> str:
    """Return the page that lists every rule, by the feature that it finds."""
    known = all_rules()
    lines = [
        "# Rules",
        "",
        "What `graphfix check` looks for beyond the table of operators of each",
        "[target](targets/index.md). `reject`: the engine refuses the model. `wrong`: it takes the",
        "model and computes something else. `builder`: it refuses later, when the engine is built.",
        "`note`: worth knowing. A rule that lacks what it needs to judge, such as a dtype, says so",
        "and counts as a possible problem.",
        "",
        f"{len(known)} rules.",
        "",
        "| rule | operators | severity | targets | finds | source |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_row(rule) for rule in sorted(known, key=lambda rule: (rule.ops, rule.id))]
    return "\n".join(lines) + "\n"


def _row(rule: Rule) -> str:
    ops = ", ".join(f"{domain}::{op}" if domain else op for domain, op in rule.ops)
    cells = (
        f"`{rule.id}`",
        ops or ("the model" if rule.whole else "every operator"),
        str(rule.severity),
        _targets(rule),
        sentence(rule),
        rule.source,
    )
    return "| " + " | ".join(cell(text) for text in cells) + " |"


def _targets(rule: Rule) -> str:
    """Return for which targets a rule holds."""
    held = "all" if rule.versions == "*" else rule.versions
    words = (engine.own_words[rule.id] for engine in engines() if rule.id in engine.own_words)
    own = list(dict.fromkeys(words))  # families that share rules say the same
    return f"{held} but {', '.join(own)}" if own else held


def sentence(rule: Rule) -> str:
    """Return what the rule says, of its operator where it is for one alone."""
    name = rule.ops[0][1] if len(rule.ops) == 1 else "the operator"
    said = rule.message.replace("{op}", name)
    return said[:1].upper() + said[1:]


def cell(text: str) -> str:
    """Return text that cannot end its cell or be taken for markup."""
    plain = " ".join(text.replace("``", "`").split())
    parts = re.split(r"(`[^`]+`)", plain)
    for place, part in enumerate(parts):
        escaped = part.replace("|", "\\|")
        parts[place] = escaped if place % 2 else re.sub(r"([*<])", r"\\\1", escaped)
    return "".join(parts)
