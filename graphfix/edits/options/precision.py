"""The edit that lets a model compute in another float type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Unpack

from onnx import ModelProto, NodeProto, TensorProto

from graphfix.edits.addressing import find_nodes, places
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.precision.loss import (
    OLDEST,
    Feeds,
    Measured,
    difference,
    emulated,
    feeds_of,
    measured,
    ran,
)
from graphfix.edits.precision.mixed import converted
from graphfix.edits.precision.narrow_sums import NarrowSums
from graphfix.edits.precision.plan import FLOATS, RANGES, Plan, element_types, plan_of
from graphfix.edits.precision.target import (
    Arithmetic,
    arithmetic_of,
    around,
    keep_sums,
    refused,
    sums_of,
)
from graphfix.edits.step import Claim, Shown, Step, Subject
from graphfix.errors import EngineFailed, UsageError
from graphfix.ir.inlining import inline
from graphfix.ir.protos import called, called_functions, copied, functions_of, normal_domain
from graphfix.pipeline.output_differences import Outputs
from graphfix.report import Verdict, Verification

# How far outputs, and those of a node, may move, of the largest number in them.
TOLERANCES = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-2}
_ROUNDS = 4
_REFUSALS = 8  # how often the engine's rules are asked, each time with more nodes kept
KEEP = " keep "  # between the type of --to and what --keep names
FOR = " for "  # between the type and the target
_KEPT = "graphfix.kept"  # marks nodes while functions are taken apart
_STRICTER, _STRICTEST = 8.0, 1e-6  # by so much each round asks more of a node, and how far


@dataclass(frozen=True, slots=True)
class To:
    """Let a model compute in another float type; inputs and outputs keep theirs.

    These stay as they are: tensors whose values leave the type on the samples, nodes that lose
    more than the tolerance, nodes that compute sizes, operators that do not support the type.

    Attributes:
        type: ``float16`` or ``bfloat16`` for what is float32; ``float32`` for what is of 16 bits.
        keep: Nodes that stay as they are: names, patterns, operators (``Softmax``, ``op:Softmax``).
        target: The engine that it is for, which may add up in the type and refuse nodes in it.
    """

    type: str
    keep: tuple[str, ...] = ()
    target: str = ""
    option: str = field(default="--to", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Convert a copy of the model; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.type}"
        given, (subject, inlined) = subject.proto, self._without_functions(subject)
        plan = self._plan(subject, where)
        how = arithmetic_of(self.target, plan.target, where)
        keep_sums(subject.proto, plan, how.wide)
        sums = sums_of(how, subject.proto, subject.inferred)
        if not plan.slots:
            raise UsageError("no node can be converted", where=where, hint=_first(subject, plan))
        narrow = self.type != "float32"
        feeds: Feeds | None = None
        seen = Measured({}, {})
        if narrow or subject.proves:
            feeds = feeds_of(subject.proto, subject.base_dir, subject.inputs)
        if narrow and feeds is not None:
            seen = measured(subject.proto, plan, subject.base_dir, feeds, sums)
            self._keep_wide(subject.proto, plan, seen)
            self._keep_lossy(plan, seen, TOLERANCES[self.type])
        result = self._taken(subject, plan, how)
        claims: tuple[Claim, ...] = ()
        if feeds is not None and subject.proves:
            before = ran(given, subject.base_dir, feeds)
            found, result = self._proved(subject, plan, seen, (feeds, before), result, how)
            text = f"no output moves by more than {TOLERANCES[self.type]:g} of its largest number"
            claims = (Shown(text, found),)
        if not plan.slots:
            raise UsageError("no node can be converted", where=where, hint=_first(subject, plan))
        return Step(result, (*inlined, *self._said(subject.proto, plan)), claims)

    def _marked(self, proto: ModelProto) -> ModelProto:
        """Return a copy of the model whose nodes that are to be kept have a mark.

        Raises:
            UsageError: None is named so.
        """
        copy = copied(proto)
        nodes = chain(copy.graph.node, *(function.node for function in copy.functions))
        known = {node.op_type for node in nodes}
        for address in self.keep:
            named = f"op:{address}" if address in known else address
            for place in find_nodes(copy, named, f"--keep {address}"):
                place.node.metadata_props.add(key=_KEPT)
        return copy

    def _without_functions(self, subject: Subject) -> tuple[Subject, tuple[str, ...]]:
        """Return the model with the nodes of functions where these are called, and what was done.

        Calls that are to be kept stay.
        """
        marked = self._marked(subject.proto)
        called_here = called_functions(marked.graph.node, functions_of(marked))
        calls = {(function.domain, function.name) for function in called_here}
        kept = {(p.node.domain, p.node.op_type) for p in places(marked) if _is_marked(p.node)}
        if not calls - kept:
            return Subject(marked, subject.base_dir, subject.proves, subject.inputs), ()
        names = ", ".join("::".join(name) for name in sorted(calls - kept))
        said = f"the nodes of {names} are where these are called"
        made = inline(marked, calls & kept)
        return Subject(made, subject.base_dir, subject.proves, subject.inputs), (said,)

    def _plan(self, subject: Subject, where: str) -> Plan:
        if self.type not in FLOATS:
            raise UsageError(f"{self.type!r} is none of {', '.join(FLOATS)}", where=where)
        proto = subject.proto
        versions = {normal_domain(entry.domain): entry.version for entry in proto.opset_import}
        if versions.get("", OLDEST) < OLDEST:
            raise UsageError(
                f"the model is of opset {versions['']}, {OLDEST} is needed",
                where=where,
                hint=f"graphfix run MODEL --opset {OLDEST}",
            )
        target = FLOATS[self.type]
        source = {TensorProto.FLOAT} if self.type != "float32" else set(FLOATS.values()) - {target}
        plan = plan_of(proto, subject.inferred, frozenset(source), target, subject.base_dir)
        if not plan.slots and not plan.kept:
            raise UsageError("nothing computes in another float type", where=where)
        for place, node in enumerate(proto.graph.node):
            if _is_marked(node):
                plan.keep(place, "as asked for")
        for each in places(proto):
            _unmark(each.node)
        return plan

    def _keep_wide(self, proto: ModelProto, plan: Plan, seen: Measured) -> None:
        limit, _ = RANGES[plan.target]
        wide = {name: most for name, most in seen.largest.items() if most > limit}
        for place in list(plan.slots):
            node = proto.graph.node[place]
            name = next((n for n in (*node.input, *node.output) if n in wide), None)
            if name is not None:
                plan.keep(place, f"{name} reaches {wide[name]:.3g}")

    def _keep_lossy(self, plan: Plan, seen: Measured, tolerance: float) -> bool:
        """Keep the nodes that lose more; say whether there are any."""
        lossy = [p for p, loss in seen.losses.items() if loss > tolerance and p in plan.slots]
        for place in lossy:
            plan.keep(place, f"it loses {seen.losses[place]:.2g}")
        summed = {p for p, loss in seen.sums.items() if loss > tolerance and p in plan.slots}
        more = summed - plan.summed
        plan.summed |= more
        return bool(lossy or more)

    def _taken(self, subject: Subject, plan: Plan, how: Arithmetic) -> ModelProto:
        """Return the model in the type, with the nodes that the engine refuses in it kept."""
        elements = element_types(subject.proto.graph, subject.inferred)
        for _ in range(_REFUSALS):
            result = converted(subject.proto, plan, elements, subject.base_dir)
            if how.target is None or not plan.slots:
                return result
            given = (how.target, subject.proto, result, subject.base_dir, f"_{self.type}")
            found = dict(refused(*given))
            more = {p: why for p, why in found.items() if p in plan.slots}
            more = more or around(subject.proto, plan, found)
            for place, why in more.items():
                plan.keep(place, why)
            if not more:
                return result
        return converted(subject.proto, plan, elements, subject.base_dir)

    def _proved(
        self,
        subject: Subject,
        plan: Plan,
        seen: Measured,
        given: tuple[Feeds, Outputs],
        result: ModelProto,
        how: Arithmetic,
    ) -> tuple[Verification, ModelProto]:
        """Compare the outputs; keep more nodes while they move too far."""
        sums = sums_of(how, subject.proto, subject.inferred)
        tolerance = TOLERANCES[self.type]
        found = Verification(Verdict.INCONCLUSIVE)
        for _ in range(_ROUNDS):
            kept = False
            try:
                found = self._moved(subject, plan, given, sums, result)
            except EngineFailed as error:  # what was rounded is an index, or divides
                found = Verification(Verdict.INCONCLUSIVE, error.message)
                kept = self._keep_integers(subject.proto, plan, "Cast")
            if found.status is Verdict.EQUAL:
                break
            others = any(row.max_rel is None for row in found.outputs)
            more = others and self._keep_integers(subject.proto, plan)
            while not more and tolerance > _STRICTEST:
                tolerance /= _STRICTER
                more = self._keep_lossy(plan, seen, tolerance)
            kept = kept or more
            if not kept or not plan.slots:
                break
            result = self._taken(subject, plan, how)
        return found, result

    def _keep_integers(self, proto: ModelProto, plan: Plan, op: str = "") -> bool:
        """Keep what turns numbers into integers, of one operator alone; say whether there is any.

        Where an operator is named, the result stops with what its nodes give.
        """
        nodes, end = proto.graph.node, ", with which it stops" if op else ""
        found = [p for p, slots in plan.slots.items() if slots.inputs and not slots.outputs]
        found = [place for place in found if op in ("", nodes[place].op_type)]
        for place in found:
            plan.keep(place, f"rounded before, its integers would be others{end}")
        return bool(found)

    def _moved(
        self,
        subject: Subject,
        plan: Plan,
        given: tuple[Feeds, Outputs],
        sums: NarrowSums | None,
        result: ModelProto,
    ) -> Verification:
        """Compare what the result gives, and what it gives where each node rounds.

        onnxruntime's CPU leaves out roundings between nodes that it has no float16 kernels of, and
        has no kernels of bfloat16 to speak of (measured with 1.32).
        """
        tolerance, found = TOLERANCES[self.type], None
        feeds, before = given
        if self.type != "float32":
            rounded = ran(emulated(subject.proto, plan, sums), subject.base_dir, feeds)
            found = difference(before, rounded, tolerance)
        if found is None or (found.status is Verdict.EQUAL and self.type != "bfloat16"):
            real = difference(before, ran(result, subject.base_dir, feeds), tolerance)
            found = real if found is None or real.status is not Verdict.EQUAL else found
        return found

    def _said(self, proto: ModelProto, plan: Plan) -> Iterator[str]:
        nodes = proto.graph.node
        count = len(plan.slots) + len(plan.kept)
        yield f"{len(plan.slots)} of {count} nodes with floats compute in {self.type}"
        if plan.summed:
            summed = [nodes[place] for place in sorted(plan.summed)]
            names = ", ".join(called(node.op_type, node.name, node.output) for node in summed)
            yield f"added up in float32, between casts: {names}"
        reasons: dict[str, list[str]] = {}
        for place, reason in sorted(plan.kept.items()):
            node = nodes[place]
            reasons.setdefault(reason, []).append(called(node.op_type, node.name, node.output))
        for reason, kept in reasons.items():
            yield f"kept, {reason}: {', '.join(kept)}"


@option(
    "to",
    "float16|bfloat16|float32",
    "Compute in another float type, where nodes allow it.",
    Group.SHAPES,
    long_form=f"float16, float16{FOR}TARGET or float16{FOR}TARGET{KEEP}NODE,OP",
)
def read_to(given: Given) -> To:
    """Return the edit that a text asks for."""
    first, kept, names = given.text.partition(KEEP)
    kind, _, target = first.partition(FOR)
    return To(kind, given.listed(names) if kept else (), target)


def to(
    model: ModelLike, type: str, keep: Sequence[str] = (), target: str = "", **how: Unpack[How]
) -> Edited:
    """Compute in ``float16``, ``bfloat16`` or ``float32`` where nodes are it."""
    return edit(model, [To(type, tuple(keep), target)], **how)


def _is_marked(node: NodeProto) -> bool:
    return any(entry.key == _KEPT for entry in node.metadata_props)


def _unmark(node: NodeProto) -> None:
    kept = [copied(entry) for entry in node.metadata_props if entry.key != _KEPT]
    node.ClearField("metadata_props")
    node.metadata_props.extend(kept)


def _first(subject: Subject, plan: Plan) -> str:
    place, reason = next(iter(plan.kept.items()))
    node = subject.proto.graph.node[place]
    return f"{called(node.op_type, node.name, node.output)}: {reason}"
