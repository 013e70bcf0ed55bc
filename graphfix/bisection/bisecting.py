"""Which site of a run breaks the outputs: the run is stopped half way, again and again.

Whole outputs decide, never the certificates of sites, so that a fault is found that they miss.
The original is right and the result is wrong, so between two neighbouring places where the run
may be stopped the outputs turn from right to wrong, even where they do so more than once.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onnx import ModelProto

from graphfix.authoring.workspace import Budget, SiteKey, site_key
from graphfix.difference.scopes import Scope
from graphfix.engines.profile import Target
from graphfix.ir.model import Model
from graphfix.pipeline.attempts import first_attempt
from graphfix.pipeline.finishing import prove
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.model_files import as_model, guarded
from graphfix.pipeline.op_types import OpTypes
from graphfix.pipeline.original import Original
from graphfix.pipeline.run import Run
from graphfix.pipeline.running import execute
from graphfix.pipeline.settings import PassLike, RunOptions, Settings, inputs_file
from graphfix.pipeline.sweep import Applied
from graphfix.pipeline.verifying import on_disk, verify
from graphfix.proving.models import compare_files
from graphfix.proving.sites.prover import Prover
from graphfix.proving.whole.options import ComparisonOptions
from graphfix.report import APPROXIMATE, Certificate, Site, Verdict, Verification


@dataclass(frozen=True, slots=True)
class Blamed:
    """A site that breaks the outputs.

    Attributes:
        passes: The passes that made it; several where one needed what another gives.
        site: The site, with its certificate where it can have one.
    """

    passes: tuple[str, ...]
    site: Site


@dataclass(frozen=True, slots=True)
class RunBisection:
    """A run, and where it breaks the outputs.

    Attributes:
        target: The target; empty without one.
        verification: The whole result against the original.
        sites: How many sites the run makes, those of opset steps that it tries included.
        first: The first site that breaks the outputs; None where the result is not wrong.
        together: Other sites that cannot be distinguished by stopping the run: those of one step
            of the opset, or of one graph pass.
        place: How many sites had been made once the outputs were wrong; 0 where none was found.
        right: The comparison with all sites before it.
        wrong: The comparison with it.
        comparisons: How many times whole outputs were compared.
    """

    target: str
    verification: Verification
    sites: int
    first: Blamed | None = None
    together: tuple[Blamed, ...] = ()
    place: int = 0
    right: Verification | None = None
    wrong: Verification | None = None
    comparisons: int = 0

    @property
    def status(self) -> Verdict:
        """Equal, mismatch, inconclusive or skipped, of the whole result."""
        return self.verification.status

    @property
    def exit_code(self) -> int:
        """0 the outputs are equal; 1 they differ, or equality could not be shown."""
        return 0 if self.status is Verdict.EQUAL else 1


@guarded
def bisect_run(
    model: Model | str | Path | ModelProto,
    target: str | Target | None = None,
    *,
    opset: int | None = None,
    passes: Sequence[PassLike] | None = None,
    skip: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    assume_ops: Sequence[str] = (),
    op_types: OpTypes = None,
    op_types_file: Path | None = None,
    allow_lossy: bool = False,
    allow_mended: bool = False,
    allow_io_change: bool = False,
    partial: bool = False,
    inputs: str | Path | Mapping[str, Any] | None = None,
    shapes: Mapping[str, Sequence[int]] | None = None,
    seed: int = 0,
    pass_files: Sequence[str | Path] = (),
    hooks: Sequence[Hook] = (),
) -> RunBisection:
    """Find the first pass and site of a run that break the outputs.

    The run is that of `graphfix.run` with the same arguments, but nothing is rolled back. A lossy
    site that was consented to breaks the outputs too, and is named with its label.

    Raises:
        InvalidModel: The model cannot be read.
        UsageError: A name or an argument is wrong.
        PassBug: A pass broke its declaration in a way that cannot be undone.
    """
    fresh = as_model(model)
    asked = RunOptions(
        target=target,
        opset=opset,
        passes=passes,
        skip=skip,
        options=options or {},
        assume_ops=assume_ops,
        op_types=op_types,
        op_types_file=op_types_file,
        allow_lossy=allow_lossy,
        allow_mended=allow_mended,
        allow_io_change=allow_io_change,
        partial=partial,
        verify="full",
        inputs=inputs,
        shapes=shapes or {},
        seed=seed,
        pass_files=pass_files,
    )
    with inputs_file(inputs) as file:
        settings = asked.settings(file)
        before = Original.of(fresh, settings.knowing, settings.op_types)
        attempt = first_attempt(before, fresh, settings, hooks)
        return _Search(before, attempt.settings, hooks).result(attempt.run)


class _Search:
    """Runs the pipeline with fewer and fewer sites."""

    def __init__(self, before: Original, settings: Settings, hooks: Sequence[Hook]) -> None:
        self._before = before
        self._settings = settings
        self._hooks = hooks
        self._comparisons = 0

    def result(self, run: Run) -> RunBisection:
        """Search the sites of a whole run."""
        settings, sites = self._settings, run.budget.made
        target = settings.target.name if settings.target is not None else ""
        if not sites:
            nothing = Verification(Verdict.EQUAL, "nothing was changed")
            return RunBisection(target, nothing, 0)
        whole = self._compare(run)
        found = RunBisection(target, whole, sites)
        if whole.status is not Verdict.MISMATCH:
            return replace(found, comparisons=self._comparisons)
        low, high = 0, sites
        right, wrong = self._compare(self._run(0)), whole
        if right.status is Verdict.MISMATCH:
            # Reading, binding sizes or writing is at fault, and no pass.
            return replace(found, right=right, wrong=right, comparisons=self._comparisons)
        while high - low > 1:
            self._tell(sites, high - low)
            middle = (low + high) // 2
            verification = self._compare(self._run(middle))
            if verification.status is Verdict.MISMATCH:
                high, wrong = middle, verification
            else:
                low, right = middle, verification
        first, *together = self._blame(self._run(low), self._run(high, proving=True))
        return replace(
            found,
            first=first,
            together=tuple(together),
            place=high,
            right=right,
            wrong=wrong,
            comparisons=self._comparisons,
        )

    def _run(self, sites: int, *, proving: bool = False) -> Run:
        settings = replace(self._settings, verify="auto") if proving else self._settings
        run = Run(self._before.again(), settings, (), Budget(sites))
        execute(run)
        return run

    def _tell(self, sites: int, left: int) -> None:
        done, total = (sites - left).bit_length(), sites.bit_length()
        for hook in self._hooks:
            hook.stage("bisect")
            hook.progress(done, total)

    def _compare(self, run: Run) -> Verification:
        self._comparisons += 1
        return verify(
            self._before,
            run.model,
            self._settings,
            lossy=False,
            approximate=run.journal.labelled(APPROXIMATE),
            prepared=run.prepared,
        )

    def _blame(self, right: Run, wrong: Run) -> list[Blamed]:
        """Return what was made between two runs, the likeliest first."""
        had = Counter(key for each in right.journal.applied for key in _keys(each))
        makers: list[tuple[str, ...]] = []
        suspects: list[Applied] = []
        for each in wrong.journal.applied:
            keys = dict(zip(each.passes, _keys(each), strict=True))
            fresh = tuple(name for name, key in keys.items() if not had[key])
            had.subtract(key for name, key in keys.items() if name not in fresh)
            if fresh:
                makers.append(fresh)
                suspects.append(each)
        proved = prove(wrong, replace(self._settings, verify="auto"), self._prover(), suspects)
        found = [Blamed(passes, each.proved) for passes, each in zip(makers, proved, strict=True)]
        if len(found) > 1:
            names = self._differing(right, wrong, [name for b in found for name in _makes(b)])
            found.sort(key=lambda blamed: _rank(blamed, names))
        return found

    def _prover(self) -> Prover:
        return Prover(self._before.evaluators)

    def _differing(self, right: Run, wrong: Run, names: Sequence[str]) -> list[str]:
        """Return which of these tensors differ between two runs, in topological order."""
        one, two = right.model.to_proto(), wrong.model.to_proto()
        made = {name for node in two.graph.node for name in node.output}
        scope = Scope.of_graph(one.graph, "main")
        order = [name for i in scope.order for name in scope.nodes[i].output if name in made]
        wanted = [name for name in order if name in set(names)]
        for proto in (one, two):
            had = {info.name for info in proto.graph.output}
            for name in wanted:
                if name not in had:
                    proto.graph.output.add(name=name)
        options = ComparisonOptions(
            inputs=self._settings.inputs,
            seed=self._settings.seed,
            evaluators=self._before.evaluators,
            bindings=self._settings.shapes,
        )
        with contextlib.ExitStack() as stack:
            models = ((one, right.model), (two, wrong.model))
            paths = [stack.enter_context(on_disk(p, model.base_dir)) for p, model in models]
            outputs = compare_files(paths[0], paths[1], options).outputs
        differ = {output.name for output in outputs if output.status is Verdict.MISMATCH}
        return [name for name in wanted if name in differ]


def _keys(applied: Applied) -> list[SiteKey]:
    return [site_key(name, applied.site.node) for name in applied.passes]


def _makes(blamed: Blamed) -> list[str]:
    """Return the names of what a site of the main graph makes."""
    node = blamed.site.node
    return [name for name in node.outputs if name] if node.scope == "main" else []


def _rank(blamed: Blamed, names: Sequence[str]) -> tuple[int, bool]:
    """Sort by the first tensor that differs, then what a certificate refutes first."""
    places = [names.index(name) for name in _makes(blamed) if name in names]
    proof: Certificate | None = blamed.site.certificate
    refuted = proof is not None and proof.status is Verdict.MISMATCH
    return (min(places, default=len(names)), not refuted)
