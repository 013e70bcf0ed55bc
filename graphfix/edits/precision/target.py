"""How an engine computes a model in a 16-bit type: how it adds up, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from onnx import ModelProto, TensorProto, TypeProto

from graphfix.edits.precision.narrow_sums import NarrowSums
from graphfix.edits.precision.plan import Plan
from graphfix.engines.half import half_of
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, normal_domain
from graphfix.pipeline.findings import findings_of
from graphfix.pipeline.settings import RunOptions
from graphfix.report import Severity

# Nodes that compute what a sum reads, and go with it: a square needs the range of the sum.
_SUMMED = {"Pow", "Mul", "Abs", "Exp"}


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How an engine computes in a 16-bit type.

    Attributes:
        target: The engine; None where none was named.
        at_once: Where it may add up in the type, after how many terms it rounds; 0 where not.
        wide: Operators that are best left in float32, and why.
    """

    target: Target | None = None
    at_once: int = 0
    wide: Mapping[str, str] = field(default_factory=dict[str, str])


def arithmetic_of(name: str, element: int, where: str) -> Arithmetic:
    """Return how the engine of a name computes in a type; an empty name is none.

    Raises:
        UsageError: There is no such target, or no source says how it computes.
    """
    if not name:
        return Arithmetic()
    target = load_target(name)
    known = half_of(target.family)
    if known is None:
        raise UsageError(
            f"how {target.title} adds up numbers of 16 bits is not known",
            where=where,
            hint="leave the target out: each node then rounds what it takes and gives",
        )
    if element != TensorProto.FLOAT16:  # tensor cores add bfloat16 up in float32
        return Arithmetic(target)
    return Arithmetic(target, known.at_once if known.sums == "float16" else 0, known.wide)


def keep_sums(proto: ModelProto, plan: Plan, wide: Mapping[str, str]) -> None:
    """Leave the operators of an engine's guide in float32, and what computes for them alone."""
    readers: dict[str, set[int]] = {info.name: {-1} for info in proto.graph.output}
    for place, node in enumerate(proto.graph.node):
        for name in node.input:
            readers.setdefault(name, set()).add(place)
    kept: set[int] = set()
    for place, node in enumerate(proto.graph.node):
        if node.op_type in wide and not normal_domain(node.domain) and place in plan.slots:
            plan.keep(place, wide[node.op_type])
            kept.add(place)
    for place, node in enumerate(proto.graph.node):
        read = readers.get(node.output[0], set()) if node.output else set[int]()
        if place in plan.slots and node.op_type in _SUMMED and read and read <= kept:
            plan.keep(place, "what it computes is only added up")


def sums_of(
    how: Arithmetic, proto: ModelProto, types: Mapping[str, TypeProto]
) -> NarrowSums | None:
    """Return what is needed to add up as an engine does; None where it adds up in float32."""
    if not how.at_once:
        return None
    found = {
        name: len(kind.tensor_type.shape.dim)
        for name, kind in types.items()
        if kind.HasField("tensor_type") and kind.tensor_type.HasField("shape")
    }
    found |= {tensor.name: len(tensor.dims) for tensor in proto.graph.initializer}
    return NarrowSums(found, how.at_once)


def refused(
    target: Target, proto: ModelProto, result: ModelProto, base_dir: str, suffix: str
) -> Iterator[tuple[int, str]]:
    """Yield the nodes of a model that an engine refuses only as they are in a result, and why.

    Args:
        target: The engine.
        proto: The model as it was.
        result: The model with nodes in another type.
        base_dir: Where their external data lies.
        suffix: What is after the names of tensors that the result has in two types.
    """
    places = {n: i for i, node in enumerate(proto.graph.node) for n in node.output if n}
    before = {(rule, place) for rule, place, _ in _found(target, proto, base_dir, places, suffix)}
    for rule, place, message in _found(target, result, base_dir, places, suffix):
        if (rule, place) not in before:
            yield place, f"{target.title} refuses it: {message}"


def around(proto: ModelProto, plan: Plan, found: Mapping[int, str]) -> dict[int, str]:
    """Return the nearest nodes in the type to each that is refused though it is not in the type.

    Casts are between them then, in the middle of what the engine would compute as one.
    """
    nodes = proto.graph.node
    makers = {n: place for place, node in enumerate(nodes) for n in node.output if n}
    adjacent: dict[int, set[int]] = {place: set() for place in range(len(nodes))}
    for place, node in enumerate(nodes):
        for made in {makers[name] for name in node.input if name in makers}:
            adjacent[place].add(made)
            adjacent[made].add(place)
    kept: dict[int, str] = {}
    for place, why in found.items():
        seen, ring = {place}, {place}
        while ring and not ring & plan.slots.keys():
            ring = set[int]().union(*(adjacent[each] for each in ring)) - seen
            seen |= ring
        kept |= dict.fromkeys(ring & plan.slots.keys(), why)
    return kept


def _found(
    target: Target, proto: ModelProto, base_dir: str, places: Mapping[str, int], suffix: str
) -> Iterator[tuple[str, int, str]]:
    settings = RunOptions(target=target.name, verify="off").settings()
    readers: dict[str, list[str]] = {}
    for node in proto.graph.node:
        for name in node.input:
            readers.setdefault(name, []).extend(node.output)
    for finding in findings_of(Model(copied(proto), base_dir=base_dir), settings):
        against = finding.blocks or finding.severity is Severity.FALLBACK
        if not against or not finding.certain:
            continue
        for name in finding.node.outputs:
            added = finding.node.op == "Cast" and name not in places
            for each in [name, *(readers.get(name, ()) if added else ())]:
                place = places.get(each, places.get(each.rstrip("_").removesuffix(suffix)))
                if place is not None:
                    yield finding.rule, place, finding.message
