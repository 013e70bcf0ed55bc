"""The whole reduction: nodes, then sizes, then weights, as long as the command still fails."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from onnx import ModelProto

from graphfix.errors import InvalidModel, UsageError
from graphfix.ir.model import Model
from graphfix.ir.storage.reading import walk_nodes
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.model_files import as_model, guarded
from graphfix.pipeline.validation import validity_of
from graphfix.pipeline.verifying import on_disk
from graphfix.reduction.command import OPTION, Command, End
from graphfix.reduction.inner import thinner_subgraphs
from graphfix.reduction.leftovers import stamped, tidied, trivial
from graphfix.reduction.nodes import fewer_nodes
from graphfix.reduction.oracle import Oracle, RunsUsedUp, check_folder
from graphfix.reduction.reduction import Extent, Reduction
from graphfix.reduction.sizes import smaller_sizes
from graphfix.reduction.subgraphs import simpler, without_a_body
from graphfix.reduction.tensor_types import Typist
from graphfix.reduction.weights import plainer_weights, stored_size

TIMEOUT = 300.0
MAX_RUNS = 500
_ANY = (
    "a model that only copies its input fails in the same way: it may be the opset, the IR "
    "version, or the command itself"
)


@guarded
def reduce(
    model: Model | str | Path | ModelProto,
    fails: str | Callable[[Path], bool],
    *,
    match: str = "",
    timeout: float = TIMEOUT,
    max_runs: int = MAX_RUNS,
    allow_invalid: bool = False,
    hooks: Sequence[Hook] = (),
) -> Reduction:
    """Shrink a model while a command still fails on it; the model given is not changed.

    A failure is any exit code but 0, a signal, or taking too long; on a smaller model the command
    must end in the same way. It runs in the folder of the caller.

    Args:
        model: A loaded model, a path, or a proto.
        fails: A command line with ``{}`` where the path of a model goes, split into words and run
            without a shell; or a function that says of a path whether the model fails.
        match: Text that the output of the command must hold, too.
        timeout: Seconds for one run.
        max_runs: How many runs there may be; the smallest model so far is given back then.
        allow_invalid: Try models that the ONNX checker complains of, too. Where it complains of
            the model given they are tried anyway.
        hooks: Notified of stages and runs.

    Raises:
        InvalidModel: The model cannot be read, or the command does not fail on it.
        UsageError: The command has no ``{}`` or is not there, or `max_runs` or `timeout` is wrong.
    """
    for value, where in ((timeout, "--timeout"), (max_runs, "--max-runs")):
        if not value > 0:
            raise UsageError(f"{value} is not more than zero", where=where)
    question = _Question(fails, match, timeout)
    whole = as_model(model)
    check_folder(whole.proto, whole.base_dir)
    for hook in hooks:
        hook.stage("first run")
    question.settle(model, whole)
    start = stamped(whole.to_proto())
    validity = None if allow_invalid else validity_of(whole)
    oracle = Oracle(
        question.fails, Typist(whole.base_dir), validity, max(0, max_runs - 1), hooks, best=start
    )
    complete, notes = _search(start, oracle)
    if validity is not None and validity.checker:
        notes.append(f"the ONNX checker complains of the model itself: {validity.checker}")
    return Reduction(
        Model(oracle.best, base_dir=whole.base_dir),
        extent(whole.proto),
        extent(oracle.best),
        question.failure,
        question.tail,
        oracle.runs + 1,
        complete,
        tuple(notes),
    )


def _search(start: ModelProto, oracle: Oracle) -> tuple[bool, list[str]]:
    """Let the oracle find the smallest model; say whether the search came to its end."""
    notes: list[str] = []
    try:
        oracle.stage("first run")
        if not oracle.accepts(start):
            raise InvalidModel(
                "the command fails on the file, but not on the same model written again",
                where=OPTION,
                hint="it fails at random, or looks at more than the model",
            )
        if oracle.also_fails(trivial(start)):
            notes.append(_ANY)
        oracle.stage("nodes")
        smallest = fewer_nodes(simpler(start, oracle), oracle)
        while (hoisted := without_a_body(smallest, oracle)) is not None:
            smallest = fewer_nodes(hoisted, oracle)
        thinner = thinner_subgraphs(smallest, oracle)
        if thinner is not smallest:  # what the subgraphs read no more can go, too
            smallest = fewer_nodes(thinner, oracle)
        oracle.stage("sizes")
        smallest = smaller_sizes(smallest, oracle)
        oracle.stage("weights")
        smallest = plainer_weights(smallest, oracle)
        tidied(smallest, oracle)
    except RunsUsedUp:
        notes.append(f"stopped after {oracle.runs + 1} runs: there may be more to take away")
        return False, notes
    return True, notes


class _Question:
    """What is asked of each candidate: does the command end as it did on the model given?"""

    def __init__(self, fails: str | Callable[[Path], bool], match: str, timeout: float) -> None:
        self._match = match
        self._function: Callable[[Path], bool] | None = None
        self._command: Command | None = None
        if isinstance(fails, str):
            self._command = Command(fails, timeout)
        else:
            self._function = fails
        self._end = End(0, "")

    @property
    def failure(self) -> str:
        """How the command ends, in words."""
        return self._end.kind if self._command is not None else "the function says so"

    @property
    def tail(self) -> str:
        """The end of what it wrote on the smallest model."""
        return self._end.tail

    def settle(self, given: object, model: Model) -> None:
        """Run on the model as it came, and remember how it fails.

        Raises:
            InvalidModel: It does not fail.
        """
        with contextlib.ExitStack() as stack:
            path = Path(given) if isinstance(given, str | Path) else None
            if path is None:
                path = stack.enter_context(on_disk(model.to_proto(), model.base_dir))
            where = str(given) if isinstance(given, str | Path) else ""
            if self._command is None:
                if not self.fails(path):
                    raise InvalidModel("the function does not fail on the model", where=where)
                return
            self._end = self._command.run(path)
        if not self._end.failed:
            raise InvalidModel(
                "the command does not fail on the model: it ends with exit code 0",
                where=where,
                hint="there is nothing to reduce",
            )
        if self._match not in self._end.output:
            raise InvalidModel(
                f"the command fails on the model, but does not say {self._match!r}",
                where=where,
                hint="see --match",
            )

    def fails(self, path: Path) -> bool:
        """Say whether a candidate fails in the same way."""
        if self._command is None:
            assert self._function is not None
            return bool(self._function(path))
        end = self._command.run(path)
        same = end.code == self._end.code and self._match in end.output
        if same:
            self._end = end
        return same


def extent(proto: ModelProto) -> Extent:
    """Return how big a model is."""
    return Extent(sum(1 for _ in walk_nodes(proto)), stored_size(proto), proto.ByteSize())
