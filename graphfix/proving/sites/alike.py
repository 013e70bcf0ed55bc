"""Sites that are alike but for the values of their constants: proved on the same inputs at once.

They are side by side in one model for each side: inputs are drawn, and models loaded, once for
all. What is equal on all samples without a look at rounding is proved; any other site is looked at
alone, as is a group of which an engine does not take one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

import onnx
from msgspec import Struct, field

from graphfix.errors import EngineFailed
from graphfix.ir.protos import copied, subgraphs_of
from graphfix.operators.table import COMPARISONS
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.proving.sites.merging import side_by_side
from graphfix.proving.sites.one_site import elements_of
from graphfix.proving.sites.parameters import parameters_of
from graphfix.proving.sites.samples import EXTREME, Style
from graphfix.proving.sites.site_proof import Case, SiteProof
from graphfix.proving.values.kinds import Feed, Value
from graphfix.proving.verdict.numbers import compare
from graphfix.proving.whole.samples import all_finite
from graphfix.report import LOSSY, Certificate, Verdict

# Sites that are proved at once: their number, and the elements of their inputs.
_MOST, _MOST_ELEMENTS = 64, 2**19
# A site that was left out of more samples than others were is looked at alone.
_FEWEST = 6
# Constants of these types are numbers that are computed with; others decide what is done.
_NUMBERS = frozenset(
    {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE}
    | {onnx.TensorProto.INT8, onnx.TensorProto.UINT8, onnx.TensorProto.INT32}
)
# Samples of which results that are not finite say nothing.
_SKIPPED = EXTREME | {Style.SIZES, Style.TELLING, Style.OWN}


def groups_of(cases: Sequence[Case]) -> Iterator[list[int]]:
    """Yield the places of cases that are alike, two of them or more each time."""
    found: dict[bytes, list[int]] = {}
    for place, case in enumerate(cases):
        key = _key(case)
        if key:
            found.setdefault(key, []).append(place)
    for places in found.values():
        elements = max(_elements(cases[place]) for place in places)
        most = max(1, min(_MOST, _MOST_ELEMENTS // max(elements, 1)))
        parts = [places[start : start + most] for start in range(0, len(places), most)]
        yield from (part for part in parts if len(part) > 1)


def _elements(case: Case) -> int:
    return elements_of(case.before) if case.short is None else case.short.elements()


def _sides(case: Case) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    if case.short is not None:
        return case.short.before, case.short.after
    return case.before, case.after


def _key(case: Case) -> bytes:
    """Return what alike sites have in common; empty for one that is looked at alone."""
    sides = _sides(case)
    single = case.accuracy is LOSSY or not case.before.graph.input or parameters_of(case.before)
    if single or any(m.functions or _has_subgraphs(m) for m in sides):
        return b""
    digest = hashlib.sha256(repr((case.accuracy.value, sorted(case.claims))).encode())
    if case.short is not None:
        digest.update(repr(case.short.forms).encode())
    for model in sides:
        digest.update(_without_numbers(model).SerializeToString(deterministic=True))
        digest.update(b"|")
    return digest.digest()


def _has_subgraphs(model: onnx.ModelProto) -> bool:
    return any(True for node in model.graph.node for _ in subgraphs_of(node))


def _without_numbers(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy without the values of constants that are only computed with."""
    compared = {
        name for node in model.graph.node if node.op_type in COMPARISONS for name in node.input
    }
    copy = copied(model)
    for tensor in copy.graph.initializer:
        if tensor.data_type in _NUMBERS and tensor.name not in compared:
            kept = onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
            tensor.CopyFrom(kept)
    return copy


class _Member(Struct):
    """What is known of one of the sites.

    Attributes:
        apart: Whether it has to be looked at alone.
        taken: On how many samples it was equal.
        own: How many of these were the model's own.
        worst: The largest absolute and relative difference.
        said: Its outputs that said something.
    """

    apart: bool = False
    taken: int = 0
    own: int = 0
    worst: tuple[float, float] = (0.0, 0.0)
    said: set[str] = field(default_factory=set[str])


class _SideBySide:
    """One side of all sites: runs them all, and gives what the first one computes."""

    def __init__(self, engine: Engine, outputs: Sequence[str], count: int) -> None:
        self.name = engine.name
        self.found: list[dict[str, Value]] = []
        self._engine = engine
        self._outputs = outputs
        self._count = count

    def run(self, feed: Feed) -> dict[str, Value]:
        return self.run_each([feed] * self._count)[0]

    def run_each(self, feeds: Sequence[Feed]) -> list[dict[str, Value]]:
        """Run each site on inputs of its own."""
        given = {f"s{n}{name}": v for n, feed in enumerate(feeds) for name, v in feed.items()}
        made = self._engine.run(given)
        self.found = [
            {name: made[f"s{number}{name}"] for name in self._outputs}
            for number in range(self._count)
        ]
        return self.found


class _Together(SiteProof):
    """Compares alike sites on the samples of the first one."""

    def __init__(
        self,
        cases: Sequence[Case],
        original: RunnableModel,
        engines: tuple[_SideBySide, _SideBySide],
    ) -> None:
        first = cases[0]
        before, after = _sides(first)
        case = replace(first, before=before, after=after, own=None)
        super().__init__(case, original, engines, gentle=False, elements=_elements(first))
        self._alike = len(cases)
        self._cases = cases
        self._both = engines
        self._members = [_Member() for _ in cases]
        self._looked = 0

    def certificates(self) -> list[Certificate | None]:
        """Return the certificate of each site; None for one that has to be looked at alone."""
        try:
            self.run()
            self._look_at_owns()
        except EngineFailed:
            return [None] * len(self._members)
        return [self._certificate(member) for member in self._members]

    def _certificate(self, member: _Member) -> Certificate | None:
        outputs = {info.name for info in self._case.before.graph.output}
        few = member.taken < min(_FEWEST, self._looked)
        if member.apart or not member.taken or few or member.said != outputs:
            return None
        return Certificate(
            Verdict.EQUAL,
            *member.worst,
            samples=member.taken + member.own,
            own=member.own,
            sizes=self._tried.sizes(),
            shorter=self._case.short is not None,
        )

    def _look_at_owns(self) -> None:
        """Compare each site on the values that the model itself has there."""
        owns = [case.own for case in self._cases]
        if self._first is None or all(own is None for own in owns):
            return
        feeds = [own if own is not None else self._first for own in owns]
        for side in self._both:
            side.run_each(feeds)
        for own, member in zip(owns, self._judged(Style.OWN), strict=True):
            if own is not None and member is not None:
                member.own += 1

    def _look(self, feed: Feed, expected: dict[str, Value], style: Style) -> Certificate | None:
        self._after.run(feed)
        equal = [member for member in self._judged(style) if member is not None]
        for member in equal:
            member.taken += 1
        if equal:
            self._tried.take(feed)
            self._first = self._first or feed
        if style not in _SKIPPED:
            self._looked += 1
        self._taken += bool(equal)
        return None

    def _judged(self, style: Style) -> list[_Member | None]:
        """Compare what was run last; return the sites that it says of that they are equal."""
        found: list[_Member | None] = []
        outputs = len(self._case.before.graph.output)
        results = (side.found for side in self._both)
        for member, before, after in zip(self._members, *results, strict=True):
            found.append(None)
            if member.apart or (style in _SKIPPED and not all_finite(before)):
                continue
            for name, value in before.items():
                difference = compare(value, after.get(name))
                if not difference.equal:
                    member.apart = True
                    break
                worst = (difference.max_abs or 0.0, difference.max_rel or 0.0)
                member.worst = (max(member.worst[0], worst[0]), max(member.worst[1], worst[1]))
            if not member.apart:
                found[-1] = member
                if style not in (Style.SIZES, Style.TELLING) and len(member.said) < outputs:
                    member.said |= self._saying(before, style)
        return found


def certify_alike(cases: Sequence[Case], evaluators: Evaluators) -> list[Certificate | None]:
    """Prove alike sites on the same inputs; None for each that has to be looked at alone.

    Args:
        cases: Sites of one group, see `groups_of`.
        evaluators: Numpy models of operators that no engine has.
    """
    original = RunnableModel(_sides(cases[0])[0], evaluators=evaluators)
    outputs = [info.name for info in cases[0].before.graph.output]
    sides: list[_SideBySide] = []
    for which in (0, 1):
        merged = side_by_side([_sides(case)[which] for case in cases])
        try:
            engine = original.of(merged).open()
        except EngineFailed:
            return [None] * len(cases)
        if not isinstance(engine, OrtEngine):
            return [None] * len(cases)
        sides.append(_SideBySide(engine, outputs, len(cases)))
    return _Together(cases, original, (sides[0], sides[1])).certificates()
