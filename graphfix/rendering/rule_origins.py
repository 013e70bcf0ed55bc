"""How many rules of a target were read in the engine's source, were asked of it, or went."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from graphfix.engines.engine import Engine, engine_of
from graphfix.engines.known_rules import family_rules
from graphfix.engines.profile import Target
from graphfix.engines.rule import Rule

PROBED = "probed.json"  # next to the family: target -> rule -> [probes asked, of these agreeing]
GONE = "gone"  # in it: rule -> why it was taken out
_ASKED = re.compile(r"\b(?:measured|asked|seen|refusals?|wheels?)\b|^[a-z-]+ \d+(?:\.\d+)+", re.M)
_READ = re.compile(
    r"\.(?:cc?|cpp|cuh?|hp?p?|inl|md|py|rs|rst)\b|\b(?:issues?|pull|notes|sources?)\b|\w/\w"
)


def origins(target: Target) -> str:
    """Return the line of a target; empty where its family has no rules of its own."""
    engine = engine_of(target.family)
    rules = [each for each in family_rules(engine) if each.holds_for(target)]
    if not rules:
        return ""
    probed = _probed(engine)
    asked = probed.get(target.name, {})
    put = [each for each in rules if each.id in asked or _ASKED.search(each.source)]
    rest = [each for each in rules if each not in put]
    read = [each for each in rest if _READ.search(each.source)]
    neither = [each for each in rest if each not in read]
    probes, agreeing = (sum(counts[place] for counts in asked.values()) for place in (0, 1))
    line = (
        f"{len(rules)} of its own: {len(put)} asked of the engine, {len(read)} read in its source"
    )
    line += f", {len(neither)} neither{_names(neither)}; {len(probed.get(GONE, {}))} gone"
    if probes:
        line += f". Their examples were put to it again: {agreeing} of {probes} agree"
    return line


def _names(rules: Iterable[Rule]) -> str:
    names = ", ".join(each.id for each in rules)
    return f" ({names})" if names else ""


def _probed(engine: Engine) -> dict[str, dict[str, Any]]:
    path = None if engine.folder is None else engine.folder / PROBED
    if path is None or not path.is_file():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found
