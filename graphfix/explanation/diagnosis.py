"""From a log to answers: the messages that it holds, in the order in which they are to be cured."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from math import log, sqrt

from onnx import defs

from graphfix.engines.engine import engines
from graphfix.engines.targets import resolve_briefly, target_names
from graphfix.engines.versions import in_range
from graphfix.errors import GraphfixError
from graphfix.explanation.knowledge import Message, messages, sources
from graphfix.report import Severity

_MOST, _LINE = 300_000, 2_000  # characters of a log that are read, from its end; and of a line
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{2,}")
_NODE = (
    re.compile(r"While parsing node number \d+ \[(?P<op>\w+)(?: -> \"(?P<out>[^\"]+)\")?\]"),
    re.compile(r"In node \d+ with name: (?P<node>\S+) and operator: (?P<op>\w+)"),
    re.compile(r"\b(?:import|parse)(?P<op>[A-Z]\w*)"),
    re.compile(r"\[(?:name|node)\]? ?[:=]? ?\"?(?P<node>/[^\s\"\]]+)"),
    re.compile(r"name: \"(?P<node>[^\"]+)\"\s+op_type: \"(?P<op>\w+)\""),
    re.compile(r"op_type: \"(?P<op>\w+)\""),
    re.compile(r"\[(?P<op>[A-Z]\w+)(?:@[\w.]+)?\]:\((?:onnx_node!)?(?P<node>[^)]+)\)"),
    re.compile(r"\((?P<op>[A-Z][A-Za-z]+)\)\s*$", re.MULTILINE),
)
_IMPORTER = re.compile(r"\bimport([A-Z]\w*)")
_AROUND = 200  # characters in which a message and the function that says it are
_SILENT = re.compile(
    r"inconsistent|incorrect|wrong result|different result|mismatch|not match|silent|"
    r"differ(?:s|ent)? (?:output|result)",
    re.IGNORECASE,
)
_WARNING = re.compile(
    r"(?:\[[^\]\n]{0,40}\]\s*){0,3}(?:\[[WIV](?::[^\]\n]*)?\]|\[?(?:WARNING|VERBOSE|INFO)\b)|"
    r"\[[^\]\n]{0,40} (?:WARNING|VERBOSE|INFO)\]|\S{10} \S{8,20} \[[WIV]:"
)
_PLACES = 20  # of one message are looked at
_NEAR = 0.15  # how alike a line and a message have to be, of 1, to be near each other
_STEM = 5  # letters of a word that count: reduction is near ReduceMean, scales near scale
_LINES = 400  # of a log without a known message are looked at for near ones, from its end


@dataclass(frozen=True, slots=True)
class Match:
    """A message that a log holds.

    Attributes:
        message: The message.
        line: The line of the log where it begins, from 1.
        said: That line.
        op: The operator that the log names there; empty where it names none.
        node: The node that it names; empty where it names none.
        exact: Whether the log has the text, or only most of its words.
    """

    message: Message
    line: int
    said: str
    op: str = ""
    node: str = ""
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """What a log says.

    Attributes:
        family: The engine that wrote it; empty where nothing tells.
        target: The target that fits it best; empty where no engine is known.
        matches: What is known of it, what is to be cured first at the front.
        nearest: Messages that are near it, where none was found.
        versioned: Whether the log or the user says which version it is of; where neither does,
            the target is the usual one of its family.
        speaker: The target that the log itself names or fits; the same as `target`, unless the
            user gave one of another engine of which the log shows no sign.
    """

    family: str
    target: str
    matches: tuple[Match, ...]
    nearest: tuple[Match, ...]
    versioned: bool = True
    speaker: str = ""


def read_log(text: str, target: str = "") -> Reading:
    """Return what a log says.

    Args:
        text: The log.
        target: The target that it is of, as the user names it; empty where the log is to tell.

    Raises:
        UsageError: There is no such target.
    """
    text = "\n".join(line[:_LINE] for line in text[-_MOST:].splitlines())
    own = _family(text)
    speaker, versioned = _target(own, text) if own else ("", True)
    family, name = own, speaker
    if target:
        resolved, _ = resolve_briefly(target)
        family, name, versioned = resolved.family, resolved.name, True
        if _families(text).get(family, 1):  # of an engine without signs nothing can be said
            speaker = name
    found = _found(text, family, name)
    nearest = () if found else tuple(_nearest(text, family))
    return Reading(family, name, tuple(found), nearest, versioned, speaker or name)


def _families(text: str) -> dict[str, int]:
    """Return how many signs of each family a log has."""
    return {
        source.family: sum(sign.search(text) is not None for sign in source.signs)
        for source in sources()
    }


def _family(text: str) -> str:
    """Return the family with the most signs in a log; the first of those that have as many."""
    counts = _families(text)
    best = max(counts, key=lambda family: counts[family], default="")
    return best if best and counts[best] else ""


def _target(family: str, text: str) -> tuple[str, bool]:
    """Return the target of a family that a log names by its version, and True; or the usual one."""
    pattern = next((s.version for s in sources() if s.family == family), None)
    names = [name for name in target_names() if name.startswith(family)]
    for found in pattern.finditer(text) if pattern is not None else ():
        version = found["version"]
        if version.isdigit() and len(version) >= 4:  # 8601 is 8.6.1, 101300 is 10.13.0
            cut = 2 if len(version) > 4 else 1
            version = f"{version[:cut]}.{int(version[cut : cut + len(version) // 3])}"
        name = family + ("-" if names and "-" in names[0] else "") + version
        try:
            return resolve_briefly(name)[0].name, True
        except GraphfixError:
            continue
    usual = next(e.example for e in engines() if e.family == family)
    return resolve_briefly(usual)[0].name, False


def _found(text: str, family: str, target: str) -> list[Match]:
    """Return the messages that a log holds: each place once, with the rule that fits it best."""
    resolved = resolve_briefly(target)[0] if target else None
    names = operators_in(text)
    there = {"", family, *(name for name, signs in _families(text).items() if signs)}
    at: dict[int, tuple[tuple[float, ...], Match]] = {}
    for place, message in enumerate(messages()):
        if family and message.family not in there:
            continue  # one engine may run another, as an execution provider does
        hit = _hit(message.pattern, text)
        if hit is None:
            continue
        match = _match(message, hit, text)
        fits = resolved is not None and in_range(resolved, message.versions)
        named = match.op or ""
        if message.ops and message.ops.isdisjoint(_importers(hit, text) or message.ops):
            continue  # the function that complains is another operator's
        own = bool(message.ops) and (named in message.ops or bool(message.ops & names.keys()))
        own = own or (message.rank == 2 and bool(hit.groupdict().get("op")))
        foreign = bool(message.ops) and not own
        if foreign and named in _operators():
            continue  # so is the node
        if message.brief and (foreign or message.family != family):
            continue
        rank = (
            float(message.family in ("", family)),
            float(message.rank > 0 and not foreign),
            -float(foreign),
            float(own),
            float(fits),
            float(message.rank),
            float(bool(named)),
            float(len(hit[0].strip())),
            0.0 if named else float(len(message.ops)),  # the widest rule, where nothing is named
            -float(place),
        )
        known = at.get(match.line)
        if known is None or rank > known[0]:
            at[match.line] = (rank, match)
    matches = [match for _, (_, match) in sorted(at.items())]
    if not matches and _SILENT.search(text):
        matches = _silent(names, family, resolved)
    unique = {(m.message.rule, m.message.cause, m.op, m.node): m for m in reversed(matches)}
    return _without_generalities(_reported_once(sorted(unique.values(), key=_urgency)))


def _reported_once(found: list[Match]) -> list[Match]:
    """Leave out a message without a node where another one of its rule names one.

    The first of a rule keeps its place: it is the message that names most.
    """
    named = {m.message.rule: m for m in reversed(found) if m.message.rule and (m.op or m.node)}
    kept = (m if m.op or m.node else named.get(m.message.rule, m) for m in found)
    return list(dict.fromkeys(kept))


def _without_generalities(found: list[Match]) -> list[Match]:
    """Leave out what is general where another message says more, be it in a note on its node."""
    if not found or found[0].message.rank:
        return [match for match in found if match.message.rank]
    refusing = (m for m in found if m.message.severity is not Severity.WRONG)
    more = (m for m in refusing if m.message.rank and not m.message.late)
    about = next((m for m in more if m.op and m.op == found[0].op), None)
    if about is None:
        return found
    return [about, *(m for m in found if m.message.rank and m is not about)]


def _hit(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return where a log has a message: the first place that it does not call a warning."""
    first: re.Match[str] | None = None
    for hit in islice(pattern.finditer(text), _PLACES):
        line = text[text.rfind("\n", 0, hit.start()) + 1 : hit.end()]
        if _WARNING.match(line.lstrip()) is None:
            return hit
        first = first or hit
    return first


def _urgency(match: Match) -> tuple[bool, bool, bool, int]:
    """Return by what messages are ordered: what is to be cured first is the least.

    What follows from another message comes last, what a log itself calls a warning before that,
    and what is general after what says more.
    """
    warned = _WARNING.match(match.said) is not None
    return match.message.late, warned, not match.message.rank, match.line


def _silent(names: Counter[str], family: str, target: object) -> list[Match]:
    """Return rules on numbers that come out wrong, for the operators that a log speaks of."""
    return [
        Match(message, 1, "", op, exact=False)
        for message in messages()
        if message.severity is Severity.WRONG
        and message.family == (family or message.family)
        and (op := next((name for name in names if name in message.ops), ""))
    ][:3]


def _match(message: Message, hit: re.Match[str], text: str) -> Match:
    line = text.count("\n", 0, hit.start()) + 1
    said = text.splitlines()[line - 1].strip() if text else ""
    groups = hit.groupdict()
    op, node = groups.get("op") or groups.get("other") or "", groups.get("node") or ""
    around = text[max(0, hit.start() - 1500) : hit.end() + 400]
    for pattern in _NODE:
        if op and node:
            break
        for near in pattern.finditer(around):
            parts = near.groupdict()
            node = node or parts.get("node") or parts.get("out") or ""
            if not op and (parts.get("op") or "") in _operators():
                op = parts["op"] or ""
    return Match(message, line, said, op, node)


def _importers(hit: re.Match[str], text: str) -> set[str]:
    """Return the operators whose importers a log names on the lines around a message."""
    around = text[max(0, hit.start() - _AROUND) : hit.end() + _AROUND]
    return {found[1] for found in _IMPORTER.finditer(around) if found[1] in _operators()}


def _nearest(text: str, family: str) -> list[Match]:
    """Return the messages that some line of a log shares most words with, at most three."""
    lines = list(enumerate(text.splitlines(), 1))[-_LINES:]
    weights = _weights()
    said = [(number, line, _words(line) & weights.keys()) for number, line in lines]
    found: list[tuple[float, Match]] = []
    for message, own in _vocabulary():
        if message.family not in ("", family or message.family):
            continue
        if message.severity is Severity.WRONG:
            continue  # an engine that computes something else says nothing
        near, number, line = max(
            ((_alike(words, own), number, line) for number, line, words in said),
            default=(0.0, 0, ""),
        )
        if near >= _NEAR:
            found.append((near, Match(message, number, line.strip(), exact=False)))
    found.sort(key=lambda pair: -pair[0])
    unique = {match.message.rule: match for _, match in reversed(found)}
    return [match for _, match in found if unique[match.message.rule] is match][:3]


def _alike(words: frozenset[str] | set[str], own: frozenset[str]) -> float:
    """Return the cosine of two sets of words, of which rare ones weigh more; 0 for one word."""
    shared = words & own
    if len(shared) < 2:
        return 0.0
    weights = _weights()
    weight, one, other = (sum(weights[w] for w in part) for part in (shared, words, own))
    return weight / sqrt(one * other)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower()[:_STEM] for word in _WORD.findall(text))


def operators_in(text: str) -> Counter[str]:
    """Return the ONNX operators that a log names, and how often."""
    known = _operators()
    return Counter(word for word in re.findall(r"[A-Za-z][A-Za-z0-9]+", text) if word in known)


@cache
def _operators() -> frozenset[str]:
    return frozenset(schema.name for schema in defs.get_all_schemas())


@cache
def _vocabulary() -> tuple[tuple[Message, frozenset[str]], ...]:
    """Return each message with the words of its text and of its cause."""
    return tuple((m, _words(f"{m.text} {m.cause}")) for m in messages())


@cache
def _weights() -> dict[str, float]:
    """Return how much each word of a message tells: what few messages have tells most."""
    counts = Counter(word for _, own in _vocabulary() for word in own)
    size = len(_vocabulary()) + 1
    return {word: log(size / many) for word, many in counts.items()}


def in_order(matches: Sequence[Match]) -> tuple[str, ...]:
    """Return the rules of some matches, each once."""
    return tuple(dict.fromkeys(match.message.rule for match in matches))
