"""Do the random operators of two models draw from the same distributions? Runs in the child.

For each random node of the original, the node on its own and what computes its outputs in the
other model are run many times on the inputs that the node had;
`graphfix.proving.verdict.chance` judges.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from msgspec import Struct, field

from graphfix.errors import EngineFailed
from graphfix.ir.protos import add_outputs, copied, subgraphs_of, with_graph
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.runners.pieces import type_of_value
from graphfix.proving.values.kinds import Array, Feed, Value
from graphfix.proving.verdict import chance
from graphfix.report import Verdict, Verification

_MOST_SAMPLES = 2


class Draws(Struct, frozen=True):
    """What the tests came to.

    Attributes:
        different: Which tensor is drawn differently and how; empty if none is.
        untold: Why a tensor could not be tested; empty if all were.
        numbers: The fewest numbers that a tensor was tested with.
    """

    different: str = ""
    untold: str = ""
    numbers: int = 0


def compare_draws(
    before: RunnableModel,
    after: RunnableModel,
    nodes: Sequence[onnx.NodeProto],
    observed: Sequence[Feed],
) -> Draws:
    """Compare what random nodes draw.

    Args:
        before: The original.
        after: The other model.
        nodes: The random nodes of the original's main graph; their outputs have the same names in
            the other model.
        observed: For some input sets, the inputs of these nodes by name.
    """
    fewest = 0
    for node in nodes:
        for inputs in observed[:_MOST_SAMPLES]:
            try:
                drawn = _compare((before, after), node, inputs)
            except EngineFailed as error:
                return Draws(untold=f"what {node.op_type} draws cannot be tested: {error.message}")
            if isinstance(drawn, str):
                return Draws(different=drawn)
            fewest = min(fewest or drawn, drawn)
    return Draws(numbers=fewest)


def _compare(
    models: tuple[RunnableModel, RunnableModel], node: onnx.NodeProto, inputs: Feed
) -> int | str:
    constants = {tensor.name for tensor in models[0].proto.graph.initializer}
    names = [name for name in node.output if name]
    given = {name: inputs[name] for name in node.input if name and name not in constants}
    sides = [
        _drawn(model.of(_alone(model.proto, names, given)).open(), given, names) for model in models
    ]
    fewest = 0
    for name in names:
        one, two = sides[0][name], sides[1][name]
        if one.dtype != two.dtype or one.shape[1:] != two.shape[1:]:
            return f"{name}: {_kind(one)} becomes {_kind(two)}"
        flat = [np.asarray(part, np.float64).reshape(len(part), -1) for part in (one, two)]
        reason = chance.differing(*[part[:, : chance.MOST_ELEMENTS] for part in flat])
        if reason:
            return f"{name}: {reason}"
        fewest = min(fewest or flat[0].size, flat[0].size)
    return fewest


def _drawn(engine: Engine, given: Feed, names: list[str]) -> dict[str, Array]:
    first = engine.run(given)
    count = chance.repetitions(max(np.asarray(first[name]).size for name in names))
    runs = [first, *(engine.run(given) for _ in range(count - 1))]
    return {name: np.stack([np.asarray(run[name]) for run in runs]) for name in names}


def _kind(array: Array) -> str:
    return f"{array.dtype.name}{list(array.shape[1:])}"


def _alone(model: onnx.ModelProto, names: Sequence[str], given: Feed) -> onnx.ModelProto:
    """Return the part of a model that draws tensors, without seeds, from given inputs.

    Raises:
        EngineFailed: It needs more than that.
    """
    makers = {name: node for node in model.graph.node for name in node.output if name}
    initializers = {tensor.name: tensor for tensor in model.graph.initializer}
    chosen: set[int] = set()
    constants: dict[str, onnx.TensorProto] = {}
    pending, seen = list(names), set[str]()
    while pending:
        name = pending.pop()
        if name in seen or (name in given and name not in names):
            continue
        seen.add(name)
        if name in initializers:
            constants[name] = initializers[name]
        elif name not in makers:
            raise EngineFailed(f"it depends on {name} too")
        elif id(makers[name]) not in chosen:
            chosen.add(id(makers[name]))
            pending += [read for read in makers[name].input if read]
    graph = onnx.GraphProto(
        name="drawing",
        node=[_seedless(node) for node in model.graph.node if id(node) in chosen],
        initializer=constants.values(),
        input=[
            onnx.ValueInfoProto(name=name, type=type_of_value(value))
            for name, value in given.items()
        ],
    )
    add_outputs(graph, names)
    return with_graph(model, graph)


def _seedless(node: onnx.NodeProto) -> onnx.NodeProto:
    """Return a node without its seed: one that is set again for each run gives one number only."""
    if any(subgraphs_of(node)):
        raise EngineFailed(f"a body of {node.op_type} may draw as well")
    copy = copied(node)
    kept = [a for a in node.attribute if a.name != "seed"]
    del copy.attribute[:]
    copy.attribute.extend(kept)
    return copy


class Chance(Struct):
    """What is needed to compare the random operators of the models as they were.

    Attributes:
        before: The original as it was.
        after: The other model as it was.
        nodes: The random nodes of the original.
        observed: Their inputs, for each input set that the original ran with.
    """

    before: RunnableModel
    after: RunnableModel
    nodes: tuple[onnx.NodeProto, ...]
    observed: list[Feed] = field(default_factory=list[Feed])

    def compare(self) -> Draws:
        """Draw again and again in both models."""
        return compare_draws(self.before, self.after, self.nodes, self.observed)


class Drawing:
    """The original with its random operators: draws once, then runs on what was drawn."""

    def __init__(self, source: Engine, cut: Engine, names: tuple[str, ...], chance: Chance) -> None:
        """Take both forms of the original, loaded."""
        self.name = cut.name
        self._source = source
        self._cut = cut
        self._names = names
        self._chance = chance
        self._read = {name for node in chance.nodes for name in node.input if name}

    def run(self, feed: Feed) -> dict[str, Value]:
        """Run once, and keep what the random nodes read and drew."""
        drawn = self._source.run({n: v for n, v in feed.items() if n not in self._names})
        seen = {name: v for name, v in {**feed, **drawn}.items() if name in self._read}
        self._chance.observed.append(seen)
        if not self._names:
            return drawn
        feed.update({name: drawn[name] for name in self._names})
        return self._cut.run(feed)


def judged_draws(chance: Chance, method: str, instead: str) -> Verification:
    """Return the verdict on what is drawn at random; `instead` says why, if there is none."""
    draws = chance.compare()
    if draws.different:
        return Verification(Verdict.MISMATCH, f"drawn otherwise: {draws.different}", method)
    if draws.untold:
        return Verification(Verdict.INCONCLUSIVE, f"{instead}; {draws.untold}", method)
    names = [name for node in chance.nodes for name in node.output if name]
    shown = f"{', '.join(names[:3])}{' and more' if len(names) > 3 else ''}"
    text = (
        f"{shown}: drawn at random, compared by distribution, not by value ({draws.numbers} "
        "numbers or more of each model: support, moments and the Kolmogorov-Smirnov test)"
    )
    return Verification(Verdict.EQUAL, text, method)
