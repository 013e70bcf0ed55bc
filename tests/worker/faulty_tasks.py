"""Tasks of children that hold a fault."""

from __future__ import annotations

from pathlib import Path

from graphfix.proving.whole.options import ComparisonRequest
from graphfix.report import Verification
from graphfix.worker.limits import Limits


def compare(_: Path, __: ComparisonRequest, ___: Limits) -> Verification:
    """Raise what no one foresaw."""
    raise ZeroDivisionError("while it compares")
