"""Compares a file as it was read with what its operators give, one by one, as it came.

Both are run node by node. onnxruntime leaves out roundings to float16 between nodes for which it
has no kernel of that type, so that a whole model and its nodes differ there by more than an error.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from msgspec import structs
from onnx import ModelProto

from graphfix.analysis.shape_inference import infer_shapes
from graphfix.errors import EngineFailed
from graphfix.ir.protos import copied
from graphfix.proving.readings.evaluator import ReadingEngine
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.whole.comparison import compare_as_run
from graphfix.proving.whole.loading import read_model
from graphfix.proving.whole.options import RESULT_FAILS
from graphfix.proving.whole.preparing import Task
from graphfix.report import Verdict, Verification


class _NodeByNode(RunnableModel, frozen=True):
    """A file as it was read, or as it came; `proto` is what it is fed by.

    Attributes:
        run_as: What is run; None for `proto` itself.
    """

    run_as: ModelProto | None = None

    def of(self, proto: ModelProto) -> RunnableModel:
        """Return another model, which is run itself: a changed one, to see that it is noticed."""
        return structs.replace(self, proto=proto, run_as=None)

    def open(self) -> Engine:
        """Return what runs it node by node."""
        ran = self.proto if self.run_as is None else self.run_as
        return ReadingEngine(ran, self.folder, self.evaluators, self.proto)


def _compared(task: Task, read: ModelProto, came: ModelProto, original: Path) -> Verification:
    known = task.before
    folder = str(original.parent)
    return compare_as_run(
        Task(
            _NodeByNode(read, known.folder, known.evaluators),
            _NodeByNode(read, folder, known.evaluators, run_as=came),
            task.options,
            task.scratch,
            task.memory,
        )
    )


def _at_places(task: Task, came: ModelProto, original: Path, said: Verification) -> Verification:
    """Compare what the nodes give that are not the same in both, where outputs say too little.

    What follows on them is the same in both, node by node.
    """
    places = _differing(task.before.proto, came)
    inferred = infer_shapes(task.before.proto).graph
    infos = {info.name: info for info in (*inferred.value_info, *inferred.output)}
    wanted = [infos[name] for name in places if name in infos]
    if not wanted or len(wanted) < len(places):
        return said
    inner = copied(task.before.proto)
    del inner.graph.output[:]
    inner.graph.output.extend(wanted)
    found = _compared(task, inner, came, original)
    if found.status is not Verdict.EQUAL:
        return said
    reason = f"{said.reason}; what the nodes give that were read in another way is equal"
    return replace(found, reason=reason)


def _differing(read: ModelProto, came: ModelProto) -> list[str]:
    """Return the tensors of the main graph whose nodes are not the same in both files."""
    nodes = {name: node for node in read.graph.node for name in node.output if name}
    return [
        name for node in came.graph.node for name in node.output if name and nodes.get(name) != node
    ]


def compare_reading(task: Task, original: Path) -> Verification:
    """Compare a file as it was read with the file as it came.

    Args:
        task: The file as it was read, twice.
        original: As it came.
    """
    came = read_model(original)
    try:
        found = _compared(task, task.before.proto, came, original)
        if found.status is Verdict.INCONCLUSIVE and not found.reason.startswith(RESULT_FAILS):
            found = _at_places(task, came, original, found)
    except (EngineFailed, OSError, ValueError, TypeError) as error:
        return Verification(Verdict.INCONCLUSIVE, f"it cannot be run node by node: {error}")
    said = found.reason
    if said.startswith(RESULT_FAILS):
        said = f"the file as it came cannot be run node by node{said.removeprefix(RESULT_FAILS)}"
        return replace(found, status=Verdict.INCONCLUSIVE, reason=said)
    said = said.replace("of the result", "of the file as it came")
    return replace(found, reason=said)
