"""The messages that are known: the texts of all rules, and those in `messages.toml` of a family.

A file `messages.toml` next to an engine holds what its logs say and no rule does: the beginnings by
which its logs are known, and messages with the rule that they are of, a cause and advice. The one
of this folder is of converters and exporters, whichever engine is meant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graphfix.engines.engine import Engine, engines
from graphfix.engines.known_rules import family_rules
from graphfix.engines.rule import Rule
from graphfix.ir.storage.toml_files import read_toml
from graphfix.report import Severity

_FILE = "messages.toml"
_HOLE = re.compile(r"\{(\w+)\}|\.\.\.|(?<=[=(\[ ])-?\d+(?:\.\d+)*(?=[\])}, ]|$)")
_ENOUGH = 30  # a part of so many letters is enough by itself
_SHORTEST = 12  # a literal text of fewer letters says nothing alone
_BRIEF = 24  # nor does one of fewer than these in a log of no one knows what


@dataclass(frozen=True, slots=True)
class Message:
    """One message that is known.

    Attributes:
        family: The family whose log has it; empty for what converters say.
        rule: The id of the rule that it is of; empty for none.
        text: The message as the engine writes it, or as it is looked for.
        pattern: What finds it in a log.
        cause: What it means, in one sentence.
        advice: What to do where no pass cures it; empty where a run does.
        ops: The operators that the rule is for; empty for any.
        feature: What the rule finds, which passes remove.
        versions: The range of targets for which the rule holds.
        severity: What the engine does.
        late: Whether it only follows from another message before it.
        rank: Which of several on one line counts: 2 of a family's file, 1 of a rule, 0 for what
            such a file calls general.
        brief: Whether the text is so short that logs of anything may have it.
    """

    family: str
    rule: str
    text: str
    pattern: re.Pattern[str]
    cause: str
    advice: str
    ops: frozenset[str]
    feature: str
    versions: str
    severity: Severity
    late: bool = False
    rank: int = 1
    brief: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """What logs of a family are known by.

    Attributes:
        family: The family.
        signs: What finds that a log is of it.
        version: What finds its version in a log, as the group of that name; None where nothing.
    """

    family: str
    signs: tuple[re.Pattern[str], ...]
    version: re.Pattern[str] | None


@cache
def messages() -> tuple[Message, ...]:
    """Return every message that is known, those with a pattern of their own first."""
    known: list[Message] = []
    for engine in engines():
        known += _written(engine.family, _table(_path(engine)), family_rules(engine))
    known += _written("", _table(Path(__file__).with_name(_FILE)), ())
    for engine in engines():
        known += [m for rule in family_rules(engine) for m in _of_rule(engine.family, rule)]
    return tuple(known)


@cache
def sources() -> tuple[Source, ...]:
    """Return what logs of each family are known by."""
    found: list[Source] = []
    for engine in engines():
        table = _table(_path(engine))
        signs = tuple(re.compile(text, re.IGNORECASE) for text in table.get("signs", ()))
        version = table.get("version")
        if signs:
            found.append(
                Source(
                    engine.family, signs, re.compile(version, re.IGNORECASE) if version else None
                )
            )
    return tuple(found)


def _path(engine: Engine) -> Path | None:
    return None if engine.folder is None else engine.folder / _FILE


def _table(path: Path | None) -> dict[str, Any]:
    return read_toml(path, "the messages")[0] if path is not None and path.is_file() else {}


def _written(family: str, table: dict[str, Any], rules: tuple[Rule, ...]) -> list[Message]:
    """Return the messages of a file, with what is known of their rules."""
    known = {rule.id: rule for rule in rules}
    found: list[Message] = []
    for entry in table.get("message", ()):
        rule = known.get(entry.get("rule", ""))
        found.append(
            Message(
                family,
                entry.get("rule", ""),
                entry.get("text", entry["pattern"]),
                re.compile(entry["pattern"], re.IGNORECASE),
                entry.get("cause") or (rule.message if rule is not None else ""),
                entry.get("advice", ""),
                frozenset(entry.get("ops", ())),
                entry.get("feature") or (rule.feature if rule is not None else ""),
                rule.versions if rule is not None else "*",
                rule.severity if rule is not None else Severity.REJECT,
                bool(entry.get("late", False)),
                0 if entry.get("general", False) else 2,
            )
        )
    return found


def _of_rule(family: str, rule: Rule) -> list[Message]:
    """Return what stands for a rule: each line of its text that says enough."""
    ops = frozenset(op for _, op in rule.ops)
    facts = (rule.message, "", ops, rule.feature, rule.versions, rule.severity)
    texts = [part.strip() for line in rule.text.splitlines() for part in line.split("; ")]
    found = [
        Message(family, rule.id, text, pattern, *facts, brief=_letters(text) < _BRIEF)
        for text in texts
        if (pattern := _pattern(text)) is not None
    ]
    if not found and rule.severity is Severity.WRONG:  # silent: known by what it is about
        found.append(Message(family, rule.id, "", re.compile(r"(?!)"), *facts))
    return found


def _pattern(text: str) -> re.Pattern[str] | None:
    """Return what finds a text in a log; None where it is too short to say anything.

    What an engine fills in (operators, types, sizes) stands for anything. Of an assertion the
    quoted sentence is enough, of a numbered error what is in its brackets: conditions and
    files are worded otherwise from release to release. So is a long part between two holes.
    """
    quoted = re.findall(r'"([^"]{20,})"', text)
    wanted = quoted[0] if quoted else re.sub(r"^Assertion failed: ", "", text)
    wanted = re.sub(r":? https?://\S.*$", "", wanted)
    inner = re.search(r"Error Code \d+: [\w ]+ \((.*?)\)?$", wanted)
    wanted = inner[1] if inner is not None else wanted
    literals = _HOLE.sub("\0", wanted).split("\0")
    if _letters(wanted) < _SHORTEST:
        return None
    whole = _filled(wanted)
    longest = re.sub(r"^_\w+: ", "", max(literals, key=len).strip())  # the end of a layer's name
    if len(literals) > 1 and len(longest) >= _ENOUGH:
        whole = f"{whole}|{_literal(longest)}"
    return re.compile(whole, re.IGNORECASE)


def _letters(text: str) -> int:
    """Return how many letters a text has next to what an engine fills in."""
    return sum(len(part.strip()) for part in _HOLE.sub("\0", text).split("\0"))


def _filled(wanted: str) -> str:
    """Return a text as a pattern: the first operator and name are groups, other holes anything."""
    parts: list[str] = []
    groups = {"op": r"(?P<op>[\w.:/-]{1,80}?)", "name": r"(?P<node>[^\"'\n]{1,200}?)"}
    at = 0
    for hole in _HOLE.finditer(wanted):
        parts.append(_literal(wanted[at : hole.start()]))
        if any(parts):  # what begins with a hole is looked for after it: quick on any line
            parts.append(groups.pop(hole[1] or "", r".{1,120}?"))
        at = hole.end()
    return "".join([*parts, _literal(wanted[at:])])


def _literal(text: str) -> str:
    return r"\s+".join(map(re.escape, re.split(r"\s+", text)))
