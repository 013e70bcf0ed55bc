"""What a run gives back."""

from __future__ import annotations

from dataclasses import dataclass

from onnx import ModelProto

from graphfix.ir.model import Model
from graphfix.pipeline.sweep import Applied
from graphfix.report import Report


@dataclass(frozen=True, slots=True)
class Result:
    """What a run gives back.

    Attributes:
        exit_code: As on the command line.
        report: All that was done and found.
        model: The repaired model.
        original: The model as it came.
        sites: What was changed, with what each proof was made from.
        rolled_back: The same of what was found to compute something else.
    """

    exit_code: int
    report: Report
    model: Model
    original: ModelProto
    sites: tuple[Applied, ...] = ()
    rolled_back: tuple[Applied, ...] = ()
