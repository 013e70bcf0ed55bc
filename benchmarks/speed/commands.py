"""The commands that are measured."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks import ROOT

SMALL = ROOT / "fixtures" / "pool_aten17.onnx"


def graphfix(*words: str) -> list[str]:
    """Return a command line of graphfix, by the script that pip installs where it is there."""
    script = Path(sys.executable).with_name("graphfix")
    return [str(script), *words] if script.exists() else [sys.executable, "-m", "graphfix", *words]
