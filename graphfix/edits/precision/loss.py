"""What nodes lose in another float type, one by one, and how far outputs move.

Each node is run on what it is given in the model as it was, once as it is and once with its inputs
and outputs rounded to the type; in between it computes in float32, as onnxruntime's CPU does where
it has no kernel of the type (its graph gets casts around such nodes). All of it is one model, whose
outputs are numbers, so that no tensor leaves the process that runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from graphfix.authoring.registry import shipped_passes
from graphfix.edits.precision.narrow_sums import NarrowSums, adds_up, stepwise
from graphfix.edits.precision.plan import Plan
from graphfix.errors import EngineFailed, GraphfixError, UsageError
from graphfix.ir.model import Model
from graphfix.ir.protos import copied, normal_domain
from graphfix.pipeline.model_types import evaluators_for
from graphfix.pipeline.output_differences import Outputs, output_differences
from graphfix.pipeline.verifying import on_disk
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.inputs.user import read_inputs
from graphfix.proving.models import run_model
from graphfix.report import Verdict, Verification

OLDEST = 11  # from here on Equal compares floats
_SAMPLES = 2
_ATTEMPTS = (0, 3, 9, 16, 22)
_OWN = "graphfix_precision_"

Feeds = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of the nodes of a plan.

    Attributes:
        losses: Place of a node -> how far its outputs move, of the largest number in them.
        largest: Tensor -> the largest finite number in it.
        sums: The same as losses for nodes that add up in the type as well, where that was asked.
    """

    losses: Mapping[int, float]
    largest: Mapping[str, float]
    sums: Mapping[int, float] = field(default_factory=dict[int, float])


def feeds_of(proto: ModelProto, base_dir: str, inputs: Path | None) -> Feeds:
    """Return inputs that a model runs with: those of the user, or made ones.

    Raises:
        UsageError: The user's do not fit, or the model runs with none.
    """
    if inputs is not None:
        return [dict(read_inputs(inputs, proto))]
    maker, said = FeedMaker(proto), ""
    for attempt in _ATTEMPTS:
        try:
            feeds = [dict(maker.draw(sample, attempt)) for sample in range(_SAMPLES)]
            ran(proto, base_dir, feeds)
        except GraphfixError as error:
            said = error.message
            continue
        return feeds
    raise UsageError(f"the model runs with no made input: {said}", hint="give --inputs FILE.npz")


def ran(proto: ModelProto, base_dir: str, feeds: Feeds) -> list[dict[str, Any]]:
    """Run a model.

    Raises:
        EngineFailed: It does not run.
    """
    evaluators = evaluators_for(Model(proto, base_dir=base_dir), shipped_passes())
    with on_disk(proto, base_dir) as path:
        return run_model(path, feeds, evaluators=evaluators)


def measured(
    proto: ModelProto, plan: Plan, base_dir: str, feeds: Feeds, sums: NarrowSums | None
) -> Measured:
    """Measure every node that a plan converts.

    Args:
        proto: The model.
        plan: The nodes.
        base_dir: Where external data lies.
        feeds: What the model is fed with.
        sums: How the engine adds up in the type; None where it does not.

    Raises:
        UsageError: The model with what measures it does not run.
    """
    probe = _Probe(proto, plan.target, sums)
    for place in plan.slots:
        probe.node(place, plan)
    try:
        found = ran(probe.model(), base_dir, feeds)
    except EngineFailed as error:
        raise UsageError(f"the nodes cannot be measured: {error.message}") from error

    def most(name: str) -> float:
        return max(float(sample[name].ravel()[0]) for sample in found)

    largest = {tensor: most(name) for tensor, name in probe.scales.items()}
    losses: dict[int, float] = {}
    added: dict[int, float] = {}
    for into, errors in ((losses, probe.errors), (added, probe.sums)):
        for place, tensor, name in errors:
            moved, scale = most(name), largest[tensor]
            loss = 0.0 if moved == 0 else moved / scale if scale else inf
            into[place] = max(into.get(place, 0.0), loss)
    return Measured(losses, largest, added)


class _Probe:
    """The model as it was, and next to each node the same with rounded numbers."""

    def __init__(self, proto: ModelProto, target: int, how: NarrowSums | None = None) -> None:
        self.proto, self.target, self.how = copied(proto), target, how
        self.nodes: list[NodeProto] = []
        self.scales: dict[str, str] = {}
        self.errors: list[tuple[int, str, str]] = []
        self.sums: list[tuple[int, str, str]] = []
        self._rounded: dict[str, str] = {}
        self._count = 0

    def _fresh(self) -> str:
        self._count += 1
        return f"{_OWN}{self._count}"

    def _add(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = self._fresh()
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def rounded(self, name: str) -> str:
        """Return what a tensor is once it has been in the type."""
        if name not in self._rounded:
            narrow = self._add("Cast", name, to=self.target)
            self._rounded[name] = self._add("Cast", narrow, to=TensorProto.FLOAT)
        return self._rounded[name]

    def node(self, place: int, plan: Plan) -> None:
        """Put a node next to itself, and measure what its outputs differ by."""
        node, slots = self.proto.graph.node[place], plan.slots[place]
        twin = copied(node)
        twin.name = ""
        for i in slots.inputs:
            twin.input[i] = self.rounded(node.input[i])
            self._scale(node.input[i])
        self._count += 1
        made = [f"{_OWN}{self._count}_{i}" if name else "" for i, name in enumerate(node.output)]
        twin.output[:] = made
        self.nodes.append(twin)
        for i in slots.outputs:
            self._scale(node.output[i])
            moved = self._moved(node.output[i], self.rounded(made[i]))
            self.errors.append((place, node.output[i], moved))
        if self.how is not None and adds_up(node):
            how = self.how.of(node, twin)
            found = stepwise(twin, how, opset_of(self.proto), self.target, self._fresh)
            if found is not None:
                self.nodes += found[0]
                moved = self._moved(node.output[0], found[1])
                self.sums.append((place, node.output[0], moved))

    def _moved(self, name: str, narrow: str) -> str:
        """Return how far a tensor is from what became of it."""
        moved = self._add("Abs", self._add("Sub", name, narrow))
        moved = self._add("Where", self._add("IsNaN", moved), f"{_OWN}inf", moved)
        same = self._add("Equal", name, narrow)
        return self._most(self._add("Where", same, f"{_OWN}zero", moved))

    def _scale(self, name: str) -> None:
        if name not in self.scales:
            finite = self._add("Where", self._add("IsInf", name), f"{_OWN}zero", name)
            finite = self._add("Where", self._add("IsNaN", name), f"{_OWN}zero", finite)
            self.scales[name] = self._most(self._add("Abs", finite))

    def _most(self, name: str) -> str:
        """Return the largest number of a tensor, 0 for one without any."""
        flat = self._add("Reshape", name, f"{_OWN}flat")
        return self._add("ReduceMax", self._add("Concat", flat, f"{_OWN}zero", axis=0), keepdims=1)

    def model(self) -> ModelProto:
        """Return the model that measures."""
        graph = self.proto.graph
        graph.node.extend(self.nodes)
        for name, value in (("zero", [0.0]), ("inf", [inf])):
            array = np.array(value, np.float32)
            graph.initializer.append(numpy_helper.from_array(array, _OWN + name))
        graph.initializer.append(numpy_helper.from_array(np.array([-1]), f"{_OWN}flat"))
        graph.ClearField("output")
        read = (*self.errors, *self.sums)
        for name in dict.fromkeys([*self.scales.values(), *(name for *_, name in read)]):
            graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]))
        return self.proto


def opset_of(proto: ModelProto) -> int:
    """Return the opset of the default domain."""
    return next((e.version for e in proto.opset_import if not normal_domain(e.domain)), OLDEST)


def emulated(proto: ModelProto, plan: Plan, sums: NarrowSums | None = None) -> ModelProto:
    """Return a model that rounds where the nodes of a plan would, and computes in float32.

    Args:
        proto: The model.
        plan: The nodes.
        sums: How the engine adds up in the type; None where it does not.
    """
    names = (f"{_OWN}step_{number}" for number in count())
    result = copied(proto)
    nodes: list[NodeProto] = []
    for place, node in enumerate(proto.graph.node):
        slots, new = plan.slots.get(place), copied(node)
        ends: list[tuple[str, str]] = []
        for i in slots.inputs if slots is not None else ():
            new.input[i] = f"{_OWN}{place}_in_{i}"
            nodes += _rounding(node.input[i], new.input[i], plan.target)
        for i in slots.outputs if slots is not None else ():
            new.output[i] = f"{_OWN}{place}_out_{i}"
            ends.append((new.output[i], node.output[i]))
        found = None
        if sums is not None and slots is not None and place not in plan.summed and adds_up(node):
            found = stepwise(
                new, sums.of(node, new), opset_of(proto), plan.target, lambda: next(names)
            )
        if found is None:
            nodes.append(new)
        else:
            nodes += found[0]
            nodes[-1].output[0] = new.output[0]
        for made, name in ends:
            nodes += _rounding(made, name, plan.target)
    result.graph.ClearField("node")
    result.graph.node.extend(nodes)
    return result


def _rounding(source: str, name: str, target: int) -> Sequence[NodeProto]:
    narrow = f"{name}_{_OWN}narrow"
    return (
        helper.make_node("Cast", [source], [narrow], to=target),
        helper.make_node("Cast", [narrow], [name], to=TensorProto.FLOAT),
    )


def difference(before: Outputs, after: Outputs, tolerance: float) -> Verification:
    """Compare what two models gave, each output by the largest number in it."""
    rows = output_differences(before, after, lambda _: tolerance)
    method = f"{len(before)} samples, onnxruntime"
    bad = [row for row in rows if row.status is not Verdict.EQUAL]
    if not bad:
        return Verification(Verdict.EQUAL, "", method, rows)
    worst = max(bad, key=lambda row: row.max_rel if row.max_rel is not None else inf)
    if worst.max_rel is None:
        reason = f"output {worst.name} has other integers, or another shape"
    else:
        reason = f"output {worst.name} moves by {worst.max_rel:.2g} of its largest number"
    return Verification(Verdict.MISMATCH, reason, method, rows)
