"""What one engine version accepts: its profile, a TOML file in the folder of its engine.

A user may name a profile of their own by its path; ``profile.schema.json`` describes both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar, cast

from graphfix.engines.answers import EngineAnswer
from graphfix.engines.versions import Order, VersionedName, parse_name, sort_key
from graphfix.errors import UsageError
from graphfix.ir.storage.toml_files import read_toml

T = TypeVar("T")
Lacks = Mapping[int, Mapping[str, frozenset[str]]]


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of an operator that a rule can judge; see `graphfix.engines.limit_rules`.

    Attributes:
        kind: ``constant`` (an input), ``rank`` (of an input), ``attribute`` or ``without`` (an
            attribute, an input or an output that must not be there).
        name: What it is about, by its name in ONNX; what a form does not have is not limited.
        values: The ranks or the values of the attribute that are taken.
    """

    kind: str
    name: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return it as profiles spell it."""
        values = f": {', '.join(self.values)}" if self.values else ""
        return f"{self.kind} {self.name}{values}"


@dataclass(frozen=True, slots=True)
class OperatorSupport:
    """What an engine version says of one operator of the default domain.

    Attributes:
        supported: Whether the engine takes the operator at all.
        dtypes: The element types it takes, in ONNX's lower-case names (``float32``); None where
            nothing is stated, which restricts nothing.
        restrictions: What else its table says; for people, rules do not read it.
        since: The first profile of the family that supports it; empty when none does.
        lacks: The form (the opset that it came with) to the element types that it has no kernel
            for, by the type parameter of the schema; the whole form where there is nothing. For
            ``rank`` there are ranks of the first input in the place of types, and for an attribute
            its values.
        wrong: In the same way, what it takes and computes differently from how ONNX says.
        limits: What else its table says that rules can judge.
    """

    supported: bool
    dtypes: frozenset[str] | None
    restrictions: str
    since: str
    lacks: Lacks = field(default_factory=dict[int, "Mapping[str, frozenset[str]]"], hash=False)
    limits: tuple[Limit, ...] = ()
    wrong: Lacks = field(default_factory=dict[int, "Mapping[str, frozenset[str]]"], hash=False)


@dataclass(frozen=True, slots=True)
class Target:
    """One engine version.

    Attributes:
        name: Its one name, such as ``acme8.6``.
        family: The engine, such as ``acme``.
        version: The version, such as ``(8, 6)``.
        variant: What sets it apart from another profile of the same version; mostly empty.
        title: The name for people, ``Acme 8.6``.
        source: Where the operators were read.
        opset_min: The lowest opset of ONNX that the engine is said to take; None when unknown.
        opset_max: The highest one that it is said to take.
        rejects_above: Whether it refuses a higher number; if not, it may misread newer forms.
        ir_max: The highest IR version that it reads; None when it does not look.
        domains: The operator domains that it knows.
        functions: Whether it reads local functions.
        plugins: Operators outside `ops` that the vendor ships as plugins and that a model
            can use by name.
        io_dtypes: Element types of graph inputs and outputs; None when unknown.
        dtype_aliases: Element types that it turns into another one by itself, ``int64 = int32``.
        ops: What is known of each operator of the default domain. One that is missing is not
            supported.
        notes: What a user of this profile should know.
        aliases: Other names of it.
        domain_opsets: The highest version of a domain that it takes.
        contrib: Operators of the vendor's own domain that it has.
        registered: Operators of that domain that it knows and has no kernel for.
        like: The version of another family whose rules hold for it as well; None for most.
        static_shapes: Whether it takes nothing that depends on an open size of an input.
        integers: How it computes in 8 bits what is between QuantizeLinear and DequantizeLinear:
            ``symmetric`` (int8 around 0) or ``any``; empty where that is not known.
        fallback: The profile of the engine that runs in its place what it lacks; empty for none.
        answers: What the engine itself said of nodes when it was asked; not part of a profile.
        steps: Whether results one step of quantization away are consented to; likewise.
    """

    name: str
    family: str
    version: tuple[int, ...]
    variant: str
    title: str
    source: str
    opset_min: int | None
    opset_max: int
    rejects_above: bool
    ir_max: int | None
    domains: frozenset[str]
    functions: bool
    plugins: frozenset[str]
    io_dtypes: frozenset[str] | None
    dtype_aliases: Mapping[str, str] = field(hash=False)
    ops: Mapping[str, OperatorSupport] = field(hash=False)
    notes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    domain_opsets: Mapping[str, int] = field(default_factory=dict[str, int], hash=False)
    contrib: frozenset[str] = frozenset()
    registered: frozenset[str] = frozenset()
    like: VersionedName | None = None
    static_shapes: bool = False
    fallback: str = ""
    integers: str = ""
    answers: tuple[EngineAnswer, ...] = ()
    steps: bool = False

    def tells(self, what: str) -> bool:
        """Say whether it says ``limits``, ``lacks`` or ``wrong`` of an operator, or ``answers``."""
        if what == "answers":
            return bool(self.answers)
        return any(getattr(op, what) for op in self.ops.values())

    @property
    def level(self) -> tuple[int, ...]:
        """The version that rules compare: its own, or that of what it is like."""
        return self.version if self.like is None else self.like.version

    @property
    def order(self) -> Order:
        """The sort key within the family: acme6 < acme6-wide < acme7.0."""
        return sort_key(self.version, self.variant)


def read_profile(path: Path, aliases: tuple[str, ...] = ()) -> Target:
    """Return the target that a file describes.

    Args:
        path: The file.
        aliases: Further names of it, that the file does not say.

    Raises:
        UsageError: The file cannot be read, or is no profile.
    """
    table, _ = read_toml(path, "the profile")
    return target_of(table, str(path), aliases)


def target_of(table: Mapping[str, Any], where: str, aliases: tuple[str, ...] = ()) -> Target:
    """Return the target that a table describes.

    Args:
        table: What a file would hold.
        where: Where the table is from, for complaints.
        aliases: Further names of it, that the table does not say.

    Raises:
        UsageError: The table is no profile.
    """
    return _Reader({"aliases": list(aliases), **table}, where).target()


_KEYS = frozenset(
    {
        "name",
        "family",
        "version",
        "variant",
        "aliases",
        "title",
        "source",
        "notes",
        "opset",
        "ir_max",
        "domains",
        "functions",
        "plugins",
        "plugins_source",
        "io_dtypes",
        "dtype_aliases",
        "domain_opsets",
        "contrib",
        "registered",
        "like",
        "static_shapes",
        "fallback",
        "integers",
        "ops",
    }
)
_OPSET_KEYS = frozenset({"min", "max", "rejects_above"})
_OPERATOR_KEYS = frozenset(
    {"supported", "dtypes", "restrictions", "since", "lacks", "wrong", "limits"}
)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Turns the table of one profile into a `Target`, naming the file in every complaint."""

    table: Mapping[str, Any]
    where: str

    def target(self) -> Target:
        table = self.table
        self._only(table, _KEYS, "the profile")
        opset = self._section(table, "opset")
        self._only(opset, _OPSET_KEYS, "opset")
        version = self._get(table, "version", str)
        if not re.fullmatch(r"\d+(\.\d+)*", version):
            raise self._wrong(f"version is {version!r}, which is no version such as 8.6")
        return Target(
            name=self._get(table, "name", str),
            family=self._get(table, "family", str),
            version=tuple(int(part) for part in version.split(".")),
            variant=self._get(table, "variant", str, ""),
            title=self._get(table, "title", str),
            source=self._get(table, "source", str),
            opset_min=self._maybe(opset, "min", int),
            opset_max=self._get(opset, "max", int),
            rejects_above=self._get(opset, "rejects_above", bool),
            ir_max=self._maybe(table, "ir_max", int),
            domains=frozenset(self._texts(table, "domains")),
            functions=self._get(table, "functions", bool),
            plugins=frozenset(self._texts(table, "plugins", ())),
            io_dtypes=self._dtypes(table, "io_dtypes"),
            dtype_aliases=self._aliases(),
            ops=self._ops(),
            notes=self._texts(table, "notes", ()),
            aliases=self._texts(table, "aliases", ()),
            domain_opsets=self._domains(),
            contrib=frozenset(self._texts(table, "contrib", ())),
            registered=frozenset(self._texts(table, "registered", ())),
            like=self._like(),
            static_shapes=self._get(table, "static_shapes", bool, False),
            fallback=self._get(table, "fallback", str, ""),
            integers=self._get(table, "integers", str, ""),
        )

    def _like(self) -> VersionedName | None:
        name = self._maybe(self.table, "like", str)
        named = None if name is None else parse_name(name)
        if name is not None and named is None:
            raise self._wrong(f"like is {name!r}, which is no version of a family, such as acme8.6")
        return named

    def _domains(self) -> Mapping[str, int]:
        found = self._section(self.table, "domain_opsets", {})
        return {key: self._get(found, key, int) for key in found}

    def _aliases(self) -> Mapping[str, str]:
        found = self._section(self.table, "dtype_aliases", {})
        return {key: self._get(found, key, str) for key in found}

    def _ops(self) -> Mapping[str, OperatorSupport]:
        found = self._section(self.table, "ops")
        return {name: self._operator(name, self._section(found, name)) for name in found}

    def _operator(self, name: str, row: Mapping[str, Any]) -> OperatorSupport:
        self._only(row, _OPERATOR_KEYS, f"ops.{name}")
        return OperatorSupport(
            supported=self._get(row, "supported", bool),
            dtypes=self._dtypes(row, "dtypes"),
            restrictions=self._get(row, "restrictions", str, ""),
            since=self._get(row, "since", str, ""),
            lacks=self._lacks(row, "lacks"),
            wrong=self._lacks(row, "wrong"),
            limits=tuple(self._limit(text) for text in self._texts(row, "limits", ())),
        )

    def _limit(self, text: str) -> Limit:
        """Read ``constant W``, ``without clip``, ``rank X: 3, 4`` and ``attribute mode: DCR``."""
        match = re.fullmatch(r"(constant|without) (\w+)|(rank|attribute) (\w+): (.+)", text)
        if match is None:
            raise self._wrong(f"limits has {text!r}, which is no limit")
        kind, name, valued, of, values = match.groups()
        return Limit(kind, name) if kind else Limit(valued, of, tuple(values.split(", ")))

    def _lacks(self, row: Mapping[str, Any], key: str) -> Lacks:
        """Read ``14`` (the form of opset 14), ``13 T: int8, uint8`` (these types of T in it)."""
        found: dict[int, dict[str, frozenset[str]]] = {}
        for text in self._texts(row, key, ()):
            match = re.fullmatch(r"(\d+)(?: ([\w+]+): (.+))?", text)
            if match is None:
                raise self._wrong(f"{key} has {text!r}, which is no form")
            kinds = found.setdefault(int(match[1]), {})
            if match[2]:
                kinds[match[2]] = frozenset(match[3].split(", "))
        return found

    def _dtypes(self, table: Mapping[str, Any], key: str) -> frozenset[str] | None:
        return frozenset(self._texts(table, key)) if key in table else None

    def _texts(
        self, table: Mapping[str, Any], key: str, default: tuple[str, ...] | None = None
    ) -> tuple[str, ...]:
        found: Any = table.get(key, default)
        if found is None:
            raise self._wrong(f"{key} is missing")
        if not isinstance(found, list | tuple):
            raise self._wrong(f"{key} has to be a list of texts")
        items = cast("list[object] | tuple[object, ...]", found)
        if not all(isinstance(item, str) for item in items):
            raise self._wrong(f"{key} has to be a list of texts")
        return tuple(str(item) for item in items)

    def _section(
        self, table: Mapping[str, Any], key: str, default: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        found: Any = table.get(key, default)
        if found is None:
            raise self._wrong(f"{key} is missing")
        if not isinstance(found, dict):
            raise self._wrong(f"{key} is {found!r}, which is no table")
        return cast("Mapping[str, Any]", found)

    def _maybe(self, table: Mapping[str, Any], key: str, kind: type[T]) -> T | None:
        return self._get(table, key, kind) if key in table else None

    def _get(
        self, table: Mapping[str, Any], key: str, kind: type[T], default: T | None = None
    ) -> T:
        found: Any = table.get(key, default)
        if found is None:
            raise self._wrong(f"{key} is missing")
        if type(found) is not kind:  # a bool is an int for isinstance
            raise self._wrong(f"{key} is {found!r}, which is no {kind.__name__}")
        return found

    def _only(self, table: Mapping[str, Any], known: frozenset[str], what: str) -> None:
        for key in table:
            if key not in known:
                raise self._wrong(f"{what} has {key!r}, which is not known")

    def _wrong(self, message: str) -> UsageError:
        return UsageError(
            message, where=self.where, hint="see graphfix/engines/profile.schema.json"
        )
