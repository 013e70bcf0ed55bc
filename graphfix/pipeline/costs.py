"""What a model costs before and after a run: counted from shapes, and timed in onnxruntime."""

from __future__ import annotations

import tempfile
from math import prod
from pathlib import Path

from graphfix.analysis.inference import infer_model
from graphfix.errors import EngineFailed
from graphfix.ir.graph import Tensor
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import numpy_dtype
from graphfix.pipeline.settings import Settings
from graphfix.pipeline.verifying import on_disk
from graphfix.pipeline.work import macs_of
from graphfix.proving.whole.timing import TASK, Times, TimingRequest
from graphfix.report.costs import Cost, Costs
from graphfix.worker.limits import Limits
from graphfix.worker.service import ask

_SECONDS = 120.0


def costs_of(before: Model, after: Model, settings: Settings) -> Costs:
    """Return what both models cost; without times, and with the reason, where one does not run.

    Args:
        before: The model as it came.
        after: The result.
        settings: Sizes and seed of the run.
    """
    shapes = {name: tuple(sizes) for name, sizes in settings.shapes.items()}
    try:
        times = _timed(before, after, settings.seed, shapes)
    except EngineFailed as failed:
        return Costs(_counted(before), _counted(after), untimed=str(failed))
    return Costs(_counted(before), _counted(after), times.before, times.after)


def _timed(before: Model, after: Model, seed: int, shapes: dict[str, tuple[int, ...]]) -> Times:
    with (
        on_disk(before.to_proto(), before.base_dir) as old,
        on_disk(after.to_proto(), after.base_dir) as new,
        tempfile.TemporaryDirectory(prefix="graphfix-") as folder,
    ):
        request = TimingRequest((old, new), seed, shapes)
        return ask(TASK, Path(folder), request, Limits(_SECONDS), Times)


def _counted(model: Model) -> Cost:
    typed = model.copy()
    infer_model(typed)
    work = [macs_of(node) for node in typed.nodes()]
    computed = (tensor for node in typed.nodes() for tensor in node.outputs)
    return Cost(
        typed.node_count(),
        sum(each.weights.nbytes for graph in typed.graphs() for each in graph.initializers),
        max(map(_bytes, computed), default=0),
        sum(macs for macs in work if macs is not None),
        work.count(None),
    )


def _bytes(tensor: Tensor) -> int:
    """Return how large a tensor is; 0 where its type or a size is not known."""
    sizes = [size for size in tensor.shape or () if isinstance(size, int)]
    if tensor.shape is None or len(sizes) < len(tensor.shape) or not tensor.elem_type:
        return 0
    return prod(sizes) * numpy_dtype(tensor.elem_type).itemsize
