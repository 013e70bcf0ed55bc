"""Compare two models that may have other names, down to each tensor; runs in the child process."""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs
from onnx import ModelProto

from graphfix.analysis.shape_inference import REFUSALS, infer_shapes
from graphfix.difference.contents import Contents
from graphfix.difference.engine import pair_graphs
from graphfix.difference.scopes import Scope, inlined
from graphfix.errors import EngineFailed
from graphfix.ir.protos import with_outputs
from graphfix.proving.inputs.weights import without_weights
from graphfix.proving.layers.aligning import align_interface, rename
from graphfix.proving.layers.comparison import Comparison, Layer
from graphfix.proving.verdict.judge import Judge
from graphfix.proving.whole import comparison as whole
from graphfix.proving.whole import preparing
from graphfix.report import NodeRef, Verdict, Verification


def side_by_side(task: preparing.Task, *, layers: bool) -> Comparison:
    """Compare the outputs of two models and, where asked for, the tensors inside.

    Raises:
        UsageError: The models have different inputs, or the user's inputs fit neither.
    """
    ports, notes = align_interface(task.before.proto, task.after.proto)
    if not layers:
        rename(task.before.proto, task.after.proto, ports)
        return Comparison(whole.compare(task), notes=tuple(notes))
    before, after = inlined(task.before.proto), inlined(task.after.proto)
    pairs = _pairs(before, after, (task.before.folder, task.after.folder), ports)
    rename(before, after, {new: old for old, new in pairs.items()} | ports)
    scope = Scope.of_graph(before.graph, "main")
    # What is an input of both says nothing.
    inner = {old: new for old, new in pairs.items() if old in scope.makers}
    made = {name for node in after.graph.node for name in node.output if name}
    counts = (len(scope.makers) - len(inner), len(made) - len(inner))
    verification = whole.compare(_copied(task, before, after))
    result = Comparison(verification, (), "", *counts, notes=tuple(notes))
    if verification.status is Verdict.SKIPPED:
        return structs.replace(result, layers_reason=verification.reason)
    probes = _Probes(task, before, after, scope, inner)
    found = probes.compare()
    if isinstance(found, str):
        return structs.replace(result, layers_reason=found)
    return structs.replace(result, layers=found, layers_samples=probes.samples)


def _copied(task: preparing.Task, before: ModelProto, after: ModelProto) -> preparing.Task:
    return replace(task, before=task.before.of(before), after=task.after.of(after))


def _pairs(
    before: ModelProto, after: ModelProto, folders: tuple[str, str], ports: dict[str, str]
) -> dict[str, str]:
    """Return the tensors that both models have, first name -> second name.

    Inputs and outputs first; then nodes at the same place of the graph; then equal names, as long
    as most tensors that were matched by their place kept theirs: numbers that an exporter gives
    as names mean nothing in another file.
    """
    pairs = {old: new for new, old in ports.items()}
    main = pair_graphs(before, after, Contents(before, after, folders)).pair
    placed = main.tensors()
    used = set(pairs.values())
    for old, new in placed.items():
        if old not in pairs and new not in used:
            pairs[old] = new
            used.add(new)
    kept = sum(old == new for old, new in placed.items())
    if 2 * kept >= len(placed):
        for name in main.before.makers:
            if name in main.after.makers and name not in pairs and name not in used:
                pairs[name] = name
                used.add(name)
    return pairs


class _Probes:
    """Both models with every common tensor as an output.

    Attributes:
        samples: On how many samples they were compared.
    """

    def __init__(
        self,
        task: preparing.Task,
        before: ModelProto,
        after: ModelProto,
        scope: Scope,
        names: dict[str, str],
    ) -> None:
        self._task = task
        self._before = before
        self._after = after
        self._names = names
        self.samples = 0
        self._nodes: dict[str, tuple[int, NodeRef]] = {}
        for depth, index in enumerate(scope.order):
            for name in scope.nodes[index].output:
                if name in names:
                    self._nodes[name] = (depth, scope.ref(index))
        self._types = (_known_types(before), _known_types(after))

    def compare(self) -> tuple[Layer, ...] | str:
        """Return the tensors in topological order, or why they could not be compared."""
        return self._compare(list(self._nodes))

    def _compare(self, names: list[str]) -> tuple[Layer, ...] | str:
        if not names:
            return ()
        try:
            return self._run(names)
        except EngineFailed as error:
            return f"the tensors inside cannot be read: {error.message}"
        except MemoryError:
            if len(names) == 1:
                raise
        # All of them at once do not fit: each half is run for itself.
        half = len(names) // 2
        parts = [self._compare(names[:half]), self._compare(names[half:])]
        layers: list[Layer] = []
        for part in parts:
            if isinstance(part, str):
                return part
            layers += part
        return tuple(layers)

    def _run(self, names: list[str]) -> tuple[Layer, ...] | str:
        task = _copied(
            self._task,
            with_outputs(self._before, names, self._types[0]),
            with_outputs(self._after, names, self._types[1]),
        )
        ready = preparing.prepare(task)
        if isinstance(ready, Verification):
            return f"the tensors inside cannot be read: {ready.reason}"
        judge = Judge(task.before)
        judged = 0
        for number in range(task.options.samples):
            drawn = ready.samples.next(number)
            if drawn is None:
                continue
            feed, expected = drawn
            got = ready.after.run(ready.interface.fed(feed))
            judged += judge.take(feed, expected, ready.interface.read(got))
        if not judged:
            if judge.unstable:
                return f"rounding errors alone change what differs: {judge.unstable_reason}"
            error = ready.samples.last_error
            return f"the model does not run on any input: {error.message if error else 'no sample'}"
        self.samples = max(self.samples, judged)
        return tuple(self._layer(name, judge) for name in names if name in judge.worst)

    def _layer(self, name: str, judge: Judge) -> Layer:
        depth, node = self._nodes[name]
        reason = judge.broken.get(name, "")
        status = Verdict.MISMATCH if reason else Verdict.EQUAL
        return Layer(name, self._names[name], node, depth, status, *judge.worst[name], reason)


def _known_types(model: ModelProto) -> dict[str, int]:
    """Return the element types of tensors, as far as they are known."""
    slim = without_weights(model)
    try:
        slim = infer_shapes(slim)
    except REFUSALS:  # it refuses some valid models; declared types remain
        slim = model
    infos = [*slim.graph.value_info, *slim.graph.output, *model.graph.value_info]
    return {info.name: info.type.tensor_type.elem_type for info in infos}
