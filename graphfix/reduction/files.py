"""Reductions of files: where the result goes, and that nothing is written before it is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from graphfix.pipeline.files import check_writable
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.model_files import load, save
from graphfix.reduction.engine import reduce
from graphfix.reduction.reduction import Reduction


class ReduceRequest(Struct, frozen=True):
    """Everything that `graphfix reduce` can be asked."""

    model: Path
    fails: str
    output: Path | None
    match: str
    timeout: float
    max_runs: int
    allow_invalid: bool
    force: bool

    @property
    def path(self) -> Path:
        """Where the result goes: next to the model as ``<stem>.reduced.onnx``, or as asked."""
        if self.output is not None:
            return self.output
        return self.model.with_name(f"{self.model.name.removesuffix('.onnx')}.reduced.onnx")


def reduce_file(request: ReduceRequest, hooks: Sequence[Hook] = ()) -> Reduction:
    """Shrink a file and write the result atomically, once it is as small as it gets.

    Raises:
        InvalidModel: The file is not a model, or the command does not fail on it.
        UsageError: The command is wrong, or the result may not be written.
    """
    load(request.model)  # what is no model is refused before where the result may not go
    check_writable(request.path, request.model, force=request.force)
    found = reduce(
        request.model,
        request.fails,
        match=request.match,
        timeout=request.timeout,
        max_runs=request.max_runs,
        allow_invalid=request.allow_invalid,
        hooks=hooks,
    )
    save(found.model, request.path)
    return found
