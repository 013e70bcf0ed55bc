"""A run that asks the engine or does not, as users start it: in an interpreter of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from benchmarks import ROOT


class Ran(NamedTuple):
    """What a run took.

    Attributes:
        seconds: By the clock.
        code: What it ended with.
        questions: How often it gave the engine a model, apart from comparing.
    """

    seconds: float
    code: int
    questions: int


def repaired(
    path: Path,
    target: str,
    out: Path,
    words: Sequence[str],
    variables: Mapping[str, str],
    longest: float | None = None,
) -> Ran:
    """Repair a network.

    Args:
        path: The network.
        target: The target.
        out: Where to.
        words: Further options.
        variables: Further variables of the environment.
        longest: The seconds that it may take.

    Raises:
        subprocess.TimeoutExpired: It took longer.
    """
    began = time.monotonic()
    done = subprocess.run(
        [
            *(sys.executable, "-m", "graphfix", "run", str(path.absolute()), "--target", target),
            *("--force", "--json", *words, "-o", str(out)),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=longest,
        check=False,
    )
    seconds = round(time.monotonic() - began, 2)
    said = cast("dict[str, Any]", json.loads(done.stdout).get("engine") or {})
    return Ran(seconds, done.returncode, int(said.get("questions", 0)))
