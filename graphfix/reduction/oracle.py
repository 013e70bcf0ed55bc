"""Does a candidate still fail? Each different one is asked once, and only valid ones at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct, field
from onnx import ModelProto

from graphfix.errors import InvalidModel, UsageError
from graphfix.ir.model import Model
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import is_external
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.validation import Validity, validity_of
from graphfix.pipeline.verifying import on_disk
from graphfix.reduction.tensor_types import Typist

# Says of the file of a candidate whether it fails in the way of the original.
Fails = Callable[[Path], bool]


class RunsUsedUp(Exception):  # noqa: N818 - the search is over, which is no error
    """The command ran as often as it may."""


class Oracle(Struct):
    """Asks the command, and remembers.

    Attributes:
        fails: Runs the command on a file.
        typist: Knows types, and where the external data lies; candidates that need it are
            written there.
        validity: What the checker says of the original; None where candidates may be invalid.
        max_runs: How many times the command may run.
        hooks: Notified of the stage and of the runs.
        runs: How many times it ran.
        best: The last candidate that failed, which is the smallest so far.
    """

    fails: Fails
    typist: Typist
    validity: Validity | None
    max_runs: int
    hooks: Sequence[Hook]
    best: ModelProto
    runs: int = 0
    _known: dict[bytes, bool] = field(default_factory=dict[bytes, bool])

    @property
    def base_dir(self) -> str:
        """Where the external data lies."""
        return self.typist.base_dir

    def stage(self, name: str) -> None:
        """Tell the hooks what comes now."""
        for hook in self.hooks:
            hook.stage(name)

    def verdict(self, candidate: ModelProto | None) -> bool | None:
        """Say whether a candidate fails; None where it is no valid model and was not asked.

        Raises:
            RunsUsedUp: The command may not run any more.
        """
        if candidate is None:
            return None
        raw = candidate.SerializeToString(deterministic=True)
        key = hashlib.sha256(raw).digest()
        if key not in self._known:
            if not self._is_valid(candidate):
                return None
            self._known[key] = self._ask(candidate)
        if self._known[key]:
            self.best = candidate
        return self._known[key]

    def accepts(self, candidate: ModelProto | None) -> bool:
        """Say whether a candidate is a valid model that fails."""
        return self.verdict(candidate) is True

    def also_fails(self, other: ModelProto) -> bool:
        """Ask about a model that is no candidate."""
        return self._ask(other)

    def _is_valid(self, candidate: ModelProto) -> bool:
        if self.validity is None:
            return True
        try:
            found = validity_of(Model(candidate, base_dir=self.base_dir))
        except InvalidModel:
            return False
        # Of a model with a fault the parts have others: types that follow from no node, for one.
        if found.checker or found.inference:
            return bool(self.validity.checker or (self.validity.inference and not found.checker))
        return True

    def _ask(self, candidate: ModelProto) -> bool:
        if self.runs >= self.max_runs:
            raise RunsUsedUp
        self.runs += 1
        for hook in self.hooks:
            hook.progress(self.runs, self.max_runs)
        with on_disk(candidate, self.base_dir) as path:
            return self.fails(path)


def check_folder(proto: ModelProto, base_dir: str) -> None:
    """Check that candidates can reach the external data of the model.

    Raises:
        UsageError: They cannot be written next to it.
    """
    if any(map(is_external, walk_tensors(proto))) and not os.access(base_dir, os.W_OK):
        raise UsageError(
            "candidates must be next to the external data, and the folder cannot be written",
            where=base_dir,
        )
