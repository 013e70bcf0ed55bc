"""Rules that are rows of an engine's `rules.toml`: one statement about one node, as data.

A row is a table named as the rule is. Its conditions all have to hold. They are made of twelve
words:

- ``operator``: the operators, between blanks;
- ``opset``: as the engine reads it;
- ``attribute.NAME``: its value, or an element of its list; ONNX's default where it is left out,
  unless the row asks for ``absent``;
- ``input.0``, ``input.1-2`` (one of these), ``input.any`` or ``output.0``, with what is asked of
  it: ``given``, ``constant`` (to the engine) and ``read`` are true or false; ``type`` (to the
  engine), ``rank``, ``sizes`` (of some axis) and ``values`` (of some element of a constant).

What ``shared`` says of versions, severity and source holds for the rows that say nothing; its
other texts are put in for ``$name``. ``shows`` and ``says`` are the feature and the sentence of a
yes where they name what was found: ``{rank}``, ``{type}`` and ``{input}`` of the first operand that
was asked for, ``{mode}`` for the attribute of that name.

Where no true or false is asked for, a text says what is looked for: ``cubic, bicubic``, ``5``,
``2..4``, ``..4``, ``<0``, each with ``not`` in front of all of it; of sizes also ``open``. There is
nothing further, on purpose: a rule that needs more is a function.

``possible`` is what no source says of the condition: the engine computes something else of some of
these nodes, and a yes is then that it may. ``computes`` and ``seen`` are of the rows of
``known_wrong.toml``: what comes instead, and the releases in which it was seen here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, cast

import onnx
from msgspec import Struct

from graphfix.authoring.declaring import Unknown
from graphfix.authoring.features import feature as checked_feature
from graphfix.authoring.features import operator_key
from graphfix.engines.profile import Target
from graphfix.engines.row_conditions import (
    OF_VALUES,
    YES_OR_NO,
    Found,
    Held,
    Sought,
    Wanted,
    is_left_out,
    sought,
    takes_attribute,
    takes_operand,
    takes_opset,
)
from graphfix.engines.rule import Answer, Rule, Yes
from graphfix.errors import PassBug, UsageError
from graphfix.ir.storage.toml_files import read_shipped_toml
from graphfix.ir.views import NodeView
from graphfix.operators.table import REDUCTIONS
from graphfix.report import Severity

_Condition = Callable[[NodeView, Target, Found], Held]

SHARED = "shared"
_ANY = "any"
_OPSET = 17  # of a probe that says nothing
_SHOWN = re.compile(r"\{([a-z_]\w*)\}")
_TEXTS = ("versions", "severity", "feature", "shows", "text", "source", "message", "says")
_USUAL = ("versions", "severity", "source")
_PROBES = ("fires", "silent", "unsure")
_WORDS = ("operator", "opset", "attribute", "input", "output")
_UNKNOWN = {"reported": None, "no": False, "yes": True}
_OF_WRONG = ("computes", "seen")
_KEYS = frozenset({*_TEXTS, *_PROBES, *_WORDS, *_OF_WRONG, "unknown", "missing", "possible"})


class Row(Struct, frozen=True):
    """A rule that is a row, and the models that it is tried with.

    Attributes:
        rule: The rule.
        fires: Models, as text of ONNX, of which it says yes at one node.
        silent: Models of which it says nothing.
        unsure: Models of which it says that it cannot know.
        computes: What the engine computes instead; empty where no one says.
        seen: The releases in which that was seen here.
        possible: Whether a yes is no more than a possibility.
    """

    rule: Rule
    fires: tuple[str, ...]
    silent: tuple[str, ...]
    unsure: tuple[str, ...]
    computes: str = ""
    seen: tuple[str, ...] = ()
    possible: bool = False


def parts_of_probe(probe: str) -> tuple[str, int]:
    """Return the graph of a probe and its opset, which is in front where it is not 17.

    Raises:
        PassBug: It is no probe.
    """
    match = re.fullmatch(r"(?:(\d+) )?(\(.*)", probe)
    if match is None:
        raise PassBug(f"{probe!r} is no probe: '(float[2] x) => ...', or '13 (float[2] x) => ...'")
    return match[2], int(match[1] or _OPSET)


def model_of_probe(probe: str) -> onnx.ModelProto:
    """Parse a probe, which may have operators of com.microsoft.

    Raises:
        PassBug: It is no probe.
        onnx.parser.ParseError: It is no graph.
    """
    graph, opset = parts_of_probe(probe)
    imports = f'"" : {opset}' + (', "com.microsoft" : 1' if "com.microsoft." in graph else "")
    return onnx.parser.parse_model(f"<ir_version: 8, opset_import: [{imports}]> g {graph}")


def read_rows(path: Path) -> tuple[Row, ...]:
    """Return the rules of a file.

    Raises:
        PassBug: The file cannot be read, or a row says what rows cannot say.
    """
    try:
        table = read_shipped_toml(path)
    except UsageError as error:
        raise PassBug(str(error)) from None
    return rows_of_table(table, str(path))


def rows_of_table(table: Mapping[str, Any], where: str) -> tuple[Row, ...]:
    """Return the rules of a table.

    Args:
        table: What a file holds.
        where: The file, for complaints.

    Raises:
        PassBug: A row says what rows cannot say.
    """
    shared = {"reductions": " ".join(REDUCTIONS), **cast("dict[str, str]", table.get(SHARED, {}))}
    usual = {key: shared[key] for key in _USUAL if key in shared}
    return tuple(
        _Reader({**usual, **cast("dict[str, Any]", row)}, shared, f"{where}: {name}").row(name)
        for name, row in table.items()
        if name != SHARED
    )


class _Reader(Struct, frozen=True):
    """Turns one table into a rule, naming it in every complaint."""

    table: Mapping[str, Any]
    shared: Mapping[str, str]
    where: str

    def row(self, name: str) -> Row:
        for key in self.table:
            if key not in _KEYS:
                raise self._wrong(f"{key!r} is no word of rules; they are {', '.join(_KEYS)}")
        texts = {key: self._text(key) for key in _TEXTS}
        for key in ("versions", "severity", "feature", "source", "message"):
            if not texts[key]:
                raise self._wrong(f"{key} is missing")
        severity = {str(each): each for each in Severity}.get(texts["severity"])
        if severity is None:
            raise self._wrong(f"{texts['severity']!r} is no severity")
        rule = Rule(
            id=name,
            check=self._check(texts),
            ops=tuple(operator_key(op) for op in self._text("operator").split()),
            feature=checked_feature(texts["feature"]),
            versions=texts["versions"],
            severity=severity,
            text=texts["text"],
            message=texts["message"],
            source=texts["source"],
            whole=False,
        )
        fires, silent, unsure = (self._probes(key) for key in _PROBES)
        possible = bool(self._text("possible"))
        computes, seen = self._text("computes"), self._probes("seen")
        return Row(rule, fires, silent, unsure, computes, seen, possible)

    def _check(self, texts: Mapping[str, str]) -> Callable[[NodeView, Target], Answer]:
        unknown = self._text("unknown") or "reported"
        if unknown not in _UNKNOWN:
            raise self._wrong(f"unknown is {unknown!r}, not one of {', '.join(_UNKNOWN)}")
        if texts["shows"]:
            checked_feature(texts["shows"])
        named = _SHOWN.findall(texts["shows"] + texts["says"])
        typed = "{type}" in texts["text"]
        return _Check(
            conditions=tuple(self._conditions()),
            unknown=_UNKNOWN[unknown],
            missing=self._text("missing"),
            possible=self._text("possible"),
            shows=texts["shows"],
            says=texts["says"],
            text=texts["text"] if typed else "",
            plain=not named and not typed,
        )

    def _conditions(self) -> Iterator[_Condition]:
        """Yield the conditions in the order of the row."""
        for word, asked in self.table.items():
            if word == "opset":
                yield partial(takes_opset, self._sought(asked, word))
            elif word == "attribute":
                for name, value in self._parts(asked, word):
                    yield partial(takes_attribute, name, self._sought(value, f"{word}.{name}"))
            elif word in ("input", "output"):
                for place, words in self._parts(asked, word):
                    yield self._operand(word, place, words)

    def _operand(self, word: str, place: str, asked: object) -> _Condition:
        """Return what is asked of an input or an output."""
        span = re.fullmatch(r"(\d+)(?:-(\d+))?", place)
        if span is None and place != _ANY:
            raise self._wrong(f"{word}.{place} is no place; it is any, or as 0 or 1-2 is")
        places = None if span is None else range(int(span[1]), int(span[2] or span[1]) + 1)
        given, wanted = True, list[Wanted]()
        for name, value in self._parts(asked, f"{word}.{place}"):
            at = f"{word}.{place}.{name}"
            if name in YES_OR_NO:
                if not isinstance(value, bool):
                    raise self._wrong(f"{at} is {value!r}, neither true nor false")
                given = given and (name != "given" or value)
                wanted += [] if name == "given" else [(name, value)]
            elif name in OF_VALUES:
                wanted.append((name, self._sought(value, at)))
            else:
                raise self._wrong(f"{at}: {name!r} is no word of rules")
        if not given:
            if wanted or places is None:
                raise self._wrong(f"{word}.{place}: nothing else holds of what is not given")
            return partial(is_left_out, word == "input", places)
        return partial(takes_operand, word == "input", places, tuple(wanted))

    def _parts(self, asked: object, at: str) -> list[tuple[str, object]]:
        if not isinstance(asked, dict) or not asked:
            raise self._wrong(f"{at} is {asked!r}, not a table")
        return list(cast("dict[str, object]", asked).items())

    def _sought(self, asked: object, at: str) -> Sought:
        found = sought(asked) if isinstance(asked, str) else None
        if found is None:
            raise self._wrong(f"{at} is {asked!r}, not a text such as 'cubic, linear' or '..4'")
        return found

    def _text(self, key: str) -> str:
        """Return a text with what `shared` has for each ``$name``."""
        found = self.table.get(key, "")
        if not isinstance(found, str):
            raise self._wrong(f"{key} is {found!r}, which is no text")
        if "$" not in found:
            return found
        try:
            return re.sub(r"\$(\w+)", lambda match: self.shared[match[1]], found)
        except KeyError as error:
            raise self._wrong(f"{key} has ${error.args[0]}, which `{SHARED}` lacks") from None

    def _probes(self, key: str) -> tuple[str, ...]:
        found: object = self.table.get(key, [])
        items = cast("list[object]", found if isinstance(found, list) else [None])
        if not all(isinstance(item, str) for item in items):
            raise self._wrong(f"{key} has to be a list of texts")
        if key == "fires" and not items:
            raise self._wrong("fires is missing: a model of which the rule says yes")
        return tuple(str(item) for item in items)

    def _wrong(self, message: str) -> PassBug:
        return PassBug(f"{self.where}: {message}")


class _Check(Struct, frozen=True, eq=False):
    """Judges a node by the conditions of a row.

    Attributes:
        conditions: What all has to hold.
        unknown: What counts where one cannot be known; None for the answer that it is not.
        missing: What is said to be missing then; empty for what the condition names.
        possible: What is missing even where all holds; empty where a yes is certain.
        shows: The feature of a yes where it is another one than the rule's.
        says: The sentence of a yes where it is another one.
        text: The engine's text, where it names an element type.
        plain: Whether nothing that was found is named.
    """

    conditions: tuple[_Condition, ...]
    unknown: bool | None
    missing: str
    possible: str
    shows: str
    says: str
    text: str
    plain: bool

    def __call__(self, node: NodeView, target: Target) -> Answer:
        found: Found = {}
        open_one: Unknown | None = None
        for condition in self.conditions:
            held = condition(node, target, found)
            if held is False:
                return None
            if held is not True and open_one is None:
                open_one = held
        if open_one is not None and not self.unknown:
            if self.unknown is False:
                return None
            return Unknown(self.missing) if self.missing else open_one
        if self.possible:
            return Unknown(self.possible)
        if self.plain:
            return Yes(feature=self.shows, message=self.says) if self.shows or self.says else True
        found["target"] = target.title
        return Yes(
            feature=_named(self.shows, found),
            message=_named(self.says, found),
            text=self.text.replace("{type}", found.get("engine's type", "...")),
        )


def _named(text: str, found: Found) -> str:
    """Put in what was found; ``{op}`` is put in where the answer becomes a finding."""
    return _SHOWN.sub(lambda match: found.get(match[1], match[0]), text) if text else ""
