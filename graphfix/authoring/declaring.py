"""How a pass is declared: `@rewrite` for one node or a pattern, `@graph_pass` for a whole graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from graphfix.authoring.features import feature, operator_feature, operator_key
from graphfix.authoring.pass_docs import of_twins, page_of
from graphfix.authoring.patterns.pattern import Pattern, Written
from graphfix.errors import PassBug
from graphfix.ir.views import NodeView
from graphfix.report import EXACT, Accuracy

Stage = str
PREPARE = "prepare"  # mends what the checker complains of, before anything is inferred
CANONICAL = "canonical"  # runs whenever a target is given; lowers a written measure
INTERFACE = "interface"  # changes inputs or outputs; needs consent
TARGETED = "targeted"  # fires only for a finding
# With consent, before others, where the target computes in int8 around 0; patterns for any target.
INTEGERS = "integers"
NAMED = "named"  # runs only when named
LAST = "last"  # runs once whenever a target is given, after all others
CLAIMS = frozenset({"nan", "inf"})

Evaluate = Callable[
    [list["np.ndarray[Any, Any] | None"], dict[str, Any]], tuple["np.ndarray[Any, Any]", ...]
]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A rule's answer where something needed to judge is not known.

    Attributes:
        missing: What is unknown, such as ``dtype of x``.
    """

    missing: str


@dataclass(frozen=True, slots=True)
class InferredType:
    """The type of one output of an operator without schema; shape None while unknown."""

    elem_type: int
    shape: tuple[int | str | None, ...] | None = None


Infer = Callable[["NodeView"], Sequence[InferredType | None] | None]


def like_first(node: NodeView) -> Sequence[InferredType | None]:
    """Return the type and shape of the first input: what elementwise operators give."""
    x = node.input(0)
    return (InferredType(x.elem_type, x.shape) if x is not None and x.elem_type else None,)


@dataclass(frozen=True, slots=True)
class Known:
    """What a pass knows of an operator without schema that it emits.

    Attributes:
        infer: Its output types, as for `rewrite`; it is asked of operators of that name in any
            domain, and refuses the others.
        evaluate: A numpy model of it, as for `rewrite`; None where there is none, because what it
            computes depends on the machine, say.
    """

    infer: Callable[[NodeView], Sequence[InferredType | None]]
    evaluate: Evaluate | None = None


@dataclass(frozen=True, slots=True)
class Option:
    """A typed option of a pass, given with ``--option PASS.KEY=VALUE``.

    Attributes:
        type: int, float, str or bool.
        default: Used when the option is not given.
        help: One sentence.
    """

    type: type
    default: Any
    help: str


@dataclass(frozen=True, slots=True, eq=False)  # two declarations are never the same pass
class Pass:
    """One kind of repair.

    Attributes:
        id: The function's name with dashes; the file's name too, unless twins share one.
        function: `(node, build) -> values` for a rewrite, with the match for a node where it has
            a pattern; `(editor) -> None` for a graph pass.
        kind: ``rewrite`` or ``graph``.
        matches: (domain, operator) pairs; ``*`` stands for any.
        removes: Features that are gone after it; a trailing ``*`` stands for any ending.
        emits: Operators it may emit.
        accuracy: The label of its sites unless one says otherwise.
        stage: When it runs.
        since: Oldest opset that it matches; 0 for any.
        until: Newest opset that it matches; 0 for any.
        options: Its options by name.
        infer: Types of an operator without schema, where they do not follow from what it writes.
        evaluate: The name of the numpy model of that operator in its file; empty without one.
        claims: The special numbers that go through it as they did: ``nan``, ``inf``.
        changes_io: Whether it changes inputs or outputs, which needs consent.
        knows: Operators without schema that it emits, as ``domain::Op``; files may have them in
            any domain.
        last_resort: Whether it is asked only about nodes with which no other pass can do anything.
        as_written: Whether it is of use only where the engine takes what it writes as it is.
        looks_at: What a model has to hold for a graph pass to be asked; empty for any model.
        pattern: What it replaces, where that is several nodes; its function takes the match then.
        family: The folder it lies in; empty for passes of a user.
        doc: The docstring of its file, which twins share; their own goes before it.
        source: The file.
    """

    id: str
    function: Callable[..., Any]
    kind: str
    matches: tuple[tuple[str, str], ...]
    removes: tuple[str, ...]
    emits: tuple[str, ...]
    accuracy: Accuracy
    stage: Stage
    since: int = 0
    until: int = 0
    options: Mapping[str, Option] = field(default_factory=dict[str, Option])
    infer: Infer | None = None
    evaluate: Evaluate | None = None
    claims: frozenset[str] = frozenset()
    changes_io: bool = False
    knows: Mapping[str, Known] = field(default_factory=dict[str, Known])
    last_resort: bool = False
    as_written: bool = False
    looks_at: tuple[str, ...] = ()
    pattern: Pattern | None = None
    family: str = ""
    doc: str = ""
    source: str = ""

    @property
    def summary(self) -> str:
        """The first line of the documentation, which the file may refer to its own head."""
        line = self.doc.strip().partition("\n")[0]
        shown = line.removesuffix(", see the module.")
        return line if shown == line else f"{shown}."

    @property
    def page(self) -> str:
        """The documentation, with each heading on a line of its own."""
        return page_of(self.doc)

    @property
    def derives_types(self) -> bool:
        """Whether the types of what it matches follow from what it writes for a node."""
        return self.kind == "rewrite" and self.pattern is None

    def removes_feature(self, wanted: str) -> bool:
        """Say whether the pass declares that it removes the feature.

        What removes ``op:com.microsoft::Gelu`` also removes ``domain:com.microsoft::Gelu``, which
        is what an engine shows that takes the node for the ONNX operator of that name. Of what
        an engine says no to when it is asked, the reason is not known: each rewrite of the
        operator may remove that.
        """
        kind, _, name = wanted.partition(":")
        if kind == "asked":
            rewrites = self.kind == "rewrite" and self.stage == TARGETED
            return rewrites and any(op in ("*", name) for _, op in self.matches)
        shown = (wanted, f"op:{name}") if kind == "domain" and "::" in name else (wanted,)
        return any(
            one == known or (known.endswith("*") and one.startswith(known[:-1]))
            for known in self.removes
            for one in shown
        )

    def matches_node(self, node: NodeView, *, any_opset: bool = False) -> bool:
        """Say whether operator, domain and opset of the node fit; `any_opset` looks at no opset.

        One operator, ATen, stands for many: its ``operator`` attribute has to be one whose
        feature the pass removes. A pass that removes no ATen operator sees all of them. Where
        the default domain is not imported, its opset does not matter: no node is of it.
        """
        if not any(
            op in ("*", node.op) and domain in ("*", node.domain) for domain, op in self.matches
        ):
            return False
        if node.op == "ATen" and any(known.startswith("op:aten::") for known in self.removes):
            named = node.node.attrs.get("operator")
            called = operator_feature(node.op, node.domain, named if isinstance(named, str) else "")
            if not self.removes_feature(called):
                return False
        opset = node.graph.opsets.get("")
        if opset is None or any_opset:  # what the pass emits brings the import along
            return True
        return self.is_for(opset)

    def is_for(self, opset: int) -> bool:
        """Say whether it is for an opset of the default domain."""
        return self.since <= opset and (not self.until or opset <= self.until)

    def default_options(self) -> dict[str, Any]:
        """Return the options as they are when nothing is given."""
        return {name: option.default for name, option in self.options.items()}


def _names(value: str | Sequence[str]) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    return tuple(dict.fromkeys(name for text in texts for name in text.split()))


def _foreign(matches: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the features of operators, all of them named and of other domains than ONNX's."""
    if any(domain in ("", "*") or op == "*" for domain, op in matches):
        return ()
    return tuple(f"op:{domain}::{op}" for domain, op in matches)


def _claims(value: str | Sequence[str]) -> frozenset[str]:
    claims = frozenset(_names(value))
    if not claims <= CLAIMS:
        raise PassBug(f"a pass claims one of {', '.join(sorted(CLAIMS))}, not {sorted(claims)}")
    return claims


def _make(function: Callable[..., Any], kind: str, **fields: Any) -> Pass:
    removes = tuple(feature(f) for f in fields.pop("removes"))
    module = sys.modules.get(function.__module__)
    names = function.__module__.split(".")
    inside = names[:2] == ["graphfix", "passes"] and len(names) > 3
    return Pass(
        id=function.__name__.replace("_", "-"),
        function=function,
        kind=kind,
        removes=removes,
        family=names[2] if inside else "",
        doc=_doc(function, module if inside else None),
        source=getattr(module, "__file__", None) or function.__code__.co_filename,
        **fields,
    )


def _doc(function: Callable[..., Any], module: ModuleType | None) -> str:
    """Return the documentation: that of the file, after that of the pass itself for twins."""
    own = function.__doc__ or ""
    if module is None:
        return own
    shared = module.__doc__ or ""
    if module.__name__.rpartition(".")[2] == function.__name__:
        return shared
    return of_twins(own, shared)


class Rewriting:
    """What is after `rewrite`: see its call, and `pattern`."""

    def __call__(
        self,
        ops: str | Sequence[str] | Pattern,
        *,
        removes: str | Sequence[str] | None = None,
        emits: str | Sequence[str] = (),
        accuracy: Accuracy = EXACT,
        stage: Stage = TARGETED,
        since: int = 0,
        until: int = 0,
        options: Mapping[str, Option] | None = None,
        infer: Infer | None = None,
        evaluate: Evaluate | None = None,
        claims: str | Sequence[str] = (),
        knows: Mapping[str, Known] | None = None,
        last_resort: bool = False,
        as_written: bool = False,
    ) -> Callable[[Callable[..., Any]], Pass]:
        """Declare a pass that replaces one node, or what a pattern finds, by an expression.

        The function takes the node, or with a pattern the `Match`, and the builder.

        Args:
            ops: ``Op`` or ``domain::Op``, one or several; ``*`` stands for any of either; or
                what `rewrite.pattern` gave. Here and below several are in one string with spaces
                between them, or in several such strings.
            removes: Features that the node shows no longer; None for the operators themselves where
                all are of other domains than ONNX's, and for nothing elsewhere.
            emits: Operators that the pass may emit, written like `ops`; `PassBug` where it emits
                another.
            accuracy: The label of its sites; `build.declare` labels one site.
            stage: `TARGETED` (for findings), `PREPARE`, `CANONICAL`, `INTERFACE`, `INTEGERS`,
                `LAST` or `NAMED`.
            since: Oldest opset of the default domain that it matches.
            until: Newest opset of the default domain that it matches.
            options: Options by name.
            infer: Output types of an operator without schema, one entry per output. Without it
                they follow from what the pass writes, and for a node of which it returns None; it
                is for what reads weights, writes loops, which have no shapes, or knows more than
                ONNX infers.
            evaluate: A numpy model of that operator: `(inputs, attributes) -> outputs`.
            claims: ``nan``, ``inf`` or both, where the result for them is what it was; certificates
                hold the pass to it. Without a claim these values are not looked at.
            knows: Types and numpy models of operators without schema that it emits.
            last_resort: Ask it only about nodes with which no other pass can do anything.
            as_written: Take it only where the engine takes what it writes: nothing of that is
                rewritten in its turn.
        """

        def declare(function: Callable[..., Any]) -> Pass:
            pattern = ops if isinstance(ops, Pattern) else None
            roots = ops.roots if isinstance(ops, Pattern) else tuple(map(operator_key, _names(ops)))
            return _make(
                function,
                "rewrite",
                matches=roots,
                pattern=pattern,
                removes=_foreign(roots) if removes is None else _names(removes),
                emits=_names(emits),
                accuracy=accuracy,
                stage=stage,
                since=since,
                until=until,
                options=dict(options or {}),
                infer=infer,
                evaluate=evaluate,
                claims=_claims(claims),
                knows=dict(knows or {}),
                last_resort=last_resort,
                as_written=as_written,
            )

        return declare

    @staticmethod
    def pattern(written: Written) -> Pattern:
        """Declare what several nodes look like, for `rewrite` to replace.

        The function takes `find` (see `Find`) and a name for each value, and returns what is looked
        for, or several outputs. The pass made from it is asked at the node of the first output.
        """
        return Pattern(written)


rewrite = Rewriting()


def graph_pass(
    *,
    removes: str | Sequence[str] = (),
    emits: str | Sequence[str] = (),
    accuracy: Accuracy = EXACT,
    stage: Stage = TARGETED,
    options: Mapping[str, Option] | None = None,
    claims: str | Sequence[str] = (),
    changes_io: bool = False,
    knows: Mapping[str, Known] | None = None,
    last_resort: bool = False,
    looks_at: Sequence[str] = (),
) -> Callable[[Callable[..., Any]], Pass]:
    """Declare a pass that sees whole graphs through an `Editor`; arguments as for `rewrite`.

    `changes_io` says that it changes inputs or outputs, as those of the stage `INTERFACE` all do.
    `knows` gives types and numpy models of operators without schema that it emits. `last_resort`
    lets it wait until the rewrites have done what they can for single nodes.

    `looks_at` says without what in a model it has nothing to look at, so that it is not asked: each
    text has to be met, by one of its words. A word is an operator, of any domain, or ``type:uint8``
    for what a node gives, ``attribute:NAME`` (``*`` at its end stands for any ending),
    ``input:unset`` for a node whose last input is an empty name, ``ir:3`` for an IR version up to
    that one, ``weights:alike`` for two initializers of 64 bytes and more of one type and shape, or
    ``file:text``.
    """

    def declare(function: Callable[..., Any]) -> Pass:
        return _make(
            function,
            "graph",
            matches=(),
            removes=_names(removes),
            emits=_names(emits),
            accuracy=accuracy,
            stage=stage,
            options=dict(options or {}),
            claims=_claims(claims),
            changes_io=changes_io or stage == INTERFACE,
            knows=dict(knows or {}),
            last_resort=last_resort,
            looks_at=tuple(looks_at),
        )

    return declare


def check_emitted(declared: Pass, ops: Sequence[tuple[str, str]]) -> None:
    """Check that a pass emitted only what it declares.

    Raises:
        PassBug: It emitted another operator.
    """
    allowed = {operator_key(op) for op in declared.emits} | {("", "Constant"), ("", "Identity")}
    for domain, op in ops:
        if (domain, op) not in allowed and ("*", "*") not in allowed:
            name = f"{domain}::{op}" if domain else op
            raise PassBug(
                f"pass {declared.id} emitted {name}, which it does not declare", pass_id=declared.id
            )
