"""Tessera itself: the reference evaluator of ONNX."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onnx.reference import ReferenceEvaluator


class TesseraRunner:
    """One model in Tessera 2.0, which every machine has."""

    name = "Tessera 2.0"
    version: tuple[int, ...] = (2, 0)

    def __init__(self, path: Path) -> None:
        """Load a model."""
        self._evaluator: Any = ReferenceEvaluator(str(path))

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """Run once."""
        names: list[str] = list(self._evaluator.output_names)
        return dict(zip(names, self._evaluator.run(None, dict(feed)), strict=True))
