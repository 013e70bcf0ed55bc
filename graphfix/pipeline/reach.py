"""How low the opset of a model can go, found by going there on a copy in memory."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from graphfix.authoring.registry import shipped_passes
from graphfix.authoring.workspace import Workspace
from graphfix.ir.model import Model
from graphfix.opset.stepping import Blocker, StepBlocked, lower_one
from graphfix.pipeline.model_files import as_model, guarded
from graphfix.pipeline.model_types import infer_types
from graphfix.pipeline.repair_stages import OLDEST_OPSET


class Reach(Struct, frozen=True):
    """How low the opset of a model can go.

    Attributes:
        lowest: The lowest opset of the default domain that `graphfix run --opset` reaches; 0 for
            a model that does not import that domain.
        blockers: What blocks the next lower one; empty at the oldest that graphfix knows.
    """

    lowest: int
    blockers: tuple[Blocker, ...]


@guarded
def reach_of(source: Path | Model) -> Reach:
    """Step the opset of a model down as far as it goes; the file is only read.

    Weights are read where a step needs their values.

    Raises:
        InvalidModel: The file cannot be read or is not a model, or data that is needed is missing.
    """
    model = as_model(source)
    passes = shipped_passes()
    infer_types(model, passes)
    while model.opset > OLDEST_OPSET:
        try:
            lower_one(model, Workspace(model, passes=passes))
        except StepBlocked as blocked:
            return Reach(model.opset, tuple(blocked.blockers))
        infer_types(model, passes)
    return Reach(model.opset, ())
