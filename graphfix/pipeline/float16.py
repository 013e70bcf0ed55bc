"""Whether a result is the arithmetic of an engine that holds every float in 16 bits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from msgspec import structs

from graphfix.engines.checking import file_findings
from graphfix.engines.file_rules import BEYOND_FLOAT16
from graphfix.ir.model import Model
from graphfix.ir.views import NodeView
from graphfix.pipeline.blame import Attempt
from graphfix.pipeline.original import Original
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.verifying import comparison_options, on_disk, original_on_disk
from graphfix.proving.models import changed_by_rounding
from graphfix.proving.whole.rounding import LARGEST, Rounding
from graphfix.report import Finding
from graphfix.validity.complaints import Complaint, called

_SECONDS = 120.0


def in_float16(
    before: Original, attempt: Attempt, known: tuple[Finding, ...]
) -> tuple[tuple[Finding, ...], Attempt]:
    """Add where float16 changes what the model and the result compute.

    Args:
        before: The model as it came.
        attempt: The result.
        known: What blocks the model as it came.
    """
    run, settings = attempt.run, attempt.settings
    for hook in run.hooks:
        hook.stage("float16")
    start = perf_counter()
    file = on_disk(run.model.to_proto(), run.model.base_dir, spent=True)
    left = tuple(_findings(before, run.model, file, settings))
    if left:
        known = (*known, *_findings(before, before.again(), original_on_disk(before), settings))
    run.seconds["float16"] = perf_counter() - start
    return known, structs.replace(attempt, file_findings=(*attempt.file_findings, *left))


def _findings(
    before: Original, model: Model, file: AbstractContextManager[Path], settings: Settings
) -> Iterator[Finding]:
    """Yield what float16 changes in a model, at the node whose numbers it does not hold."""
    options = comparison_options(before, settings, lossy=False)
    with file as path:
        found = changed_by_rounding(path, structs.replace(options, timeout=_SECONDS))
    if not found.outputs:
        return
    node = _maker(model, found.tensor)
    complaint = Complaint(BEYOND_FLOAT16.id, _message(found, node), node)
    for finding in file_findings((complaint,), settings.target):
        yield replace(finding, certain=False, missing="the numbers it will be fed with")


def _maker(model: Model, tensor: str) -> NodeView | None:
    """Return the node that makes a tensor of the main graph; None where there is none."""
    if not tensor:
        return None
    nodes = model.graph.nodes
    made = (n for n in nodes if any(output.name == tensor for output in n.outputs))
    found = next(made, None)
    return None if found is None else NodeView(found)


def _message(found: Rounding, node: NodeView | None) -> str:
    outputs = "; ".join(f"output {name}: {reason}" for name, reason in found.outputs.items())
    text = f"the engine computes in float16, where drawn inputs give different values: {outputs}"
    if node is None:
        return text
    return f"{text}; {called(node)} gives {found.largest:.3g}, and {LARGEST:.0f} is the largest"
