"""The pipeline in tests of the command line: keeps the request, gives back what the test wants."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

from graphfix.pipeline.files import CheckRequest, RunRequest
from graphfix.pipeline.hooks import Hook
from graphfix.pipeline.model_files import load
from graphfix.report import Finding, NodeRef, Report, Severity
from graphfix.report.explanations import Explanation

FINDING = Finding(
    "trt/op-support", "op:Mod", Severity.REJECT, NodeRef("m", 0, "Mod", "", ("y",)), "no Mod here"
)


class Pipeline:
    """A stub of the pipeline: keeps the request, gives back what the test wants."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.exit_code = 0
        self.findings: tuple[Finding, ...] = ()
        self.explanations: tuple[Explanation, ...] = ()
        self.runs: list[RunRequest] = []
        self.checks: list[CheckRequest] = []
        self.hooks: Sequence[Hook] = ()

    def run_file(self, request: RunRequest, hooks: Sequence[Hook] = ()) -> SimpleNamespace:
        self.runs.append(request)
        self.hooks = hooks
        model = load(self.report.output.path) if self.report.output is not None else None
        return SimpleNamespace(exit_code=self.exit_code, report=self.report, model=model)

    def check_file(self, request: CheckRequest) -> SimpleNamespace:
        self.checks.append(request)
        return SimpleNamespace(
            target=SimpleNamespace(name="trt8.6"),
            placed=None,
            reproducers=(),
            engine=None,
            findings=self.findings,
            notes=("trt8 is 8.6",),
            explanations=self.explanations,
            named=(),
        )
