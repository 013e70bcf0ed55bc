"""The comparison with what a model computes in an engine; runs inside the child process."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from graphfix.engines.engine import Engine
from graphfix.engines.interface import Meant, Runner
from graphfix.errors import EngineFailed
from graphfix.proving.whole.comparison import Comparison
from graphfix.proving.whole.options import InEngine
from graphfix.proving.whole.preparing import Task, prepare
from graphfix.report import Verdict, Verification
from graphfix.worker.service import says_nothing

_SHOWN = (Verdict.EQUAL, Verdict.LOSSY, Verdict.BUILT)


class _Heard:
    """A model in an engine, and whether it ever ran, or failed for what is its own."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self.name, self.version = runner.name, runner.version
        self.ran = self.failed = False

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        try:
            results = self._runner.run(feed)
        except EngineFailed as failure:
            self.failed = self.failed or not says_nothing(failure)
            raise
        finally:
            # Some know their version once they have run.
            self.name, self.version = self._runner.name, self._runner.version
        self.ran = True
        return results


def compare_in_engine(task: Task, path: Path, engine: Engine, meant: Meant) -> InEngine:
    """Compare the outputs of the original with those of the other model in an engine.

    Args:
        task: The two models.
        path: The file of the second one.
        engine: The engine.
        meant: The version of it.
    """
    ready = prepare(task)
    if isinstance(ready, Verification):
        return InEngine(ready)
    if ready.chance is not None:
        drawn = "numbers are drawn at random"
        return InEngine(Verification(Verdict.INCONCLUSIVE, drawn, ready.before.name))
    with ExitStack() as stack:
        try:
            opened = engine.open(task.after.proto, path, meant)
        except EngineFailed as failure:
            if says_nothing(failure):
                raise
            return InEngine(Verification(Verdict.INCONCLUSIVE, failure.message), refused=True)
        stack.callback(getattr(opened, "close", _nothing))
        ready.after = runner = _Heard(opened)
        said = Comparison(task, ready, kernels=engine).verdict()
    if said.status not in _SHOWN and not getattr(opened, "is_first", True):
        # Models that others ran before may have spoilt the memory of the process.
        return compare_in_engine(task, path, engine, structs.replace(meant, standing=""))
    if runner.version in ((), meant.version):
        return InEngine(said, refused=runner.failed and not runner.ran)
    has, wanted = (".".join(map(str, one)) for one in (runner.version, meant.version))
    reason = f"this machine has {engine.title} {has}, not {wanted}; there: {said.status}"
    reason = f"{reason} {said.reason}".rstrip()
    return InEngine(replace(said, status=Verdict.INCONCLUSIVE, reason=reason))


def _nothing() -> None:
    """Close a runner that needs no closing."""
