"""What a run gives back."""

from __future__ import annotations

from dataclasses import dataclass

from graphfix.model import Model
from graphfix.report import Report


@dataclass(frozen=True, slots=True)
class Result:
    """What a run gives back.

    Attributes:
        exit_code: As on the command line.
        report: All that was done and found.
        model: The repaired model.
    """

    exit_code: int
    report: Report
    model: Model
