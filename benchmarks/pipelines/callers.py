"""A script in the environment of its own, called many times; see `forked`."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from benchmarks.pipelines.catalogue import HERE

# One thread each, no hub, and no messages that are not about failures.
_ALONE = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
    "YOLO_OFFLINE": "true",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
}
_OF_OTHERS = ("PYTHONPATH", "PYTHONHOME")


class Caller:
    """The process that calls; it starts at the first call, and again where it ended."""

    def __init__(self, python: Path, script: Path, seconds: float, gib: float) -> None:
        """Take down what to start; `seconds` and `gib` are the limits of each call."""
        self._words = [str(python), str(HERE / "forked.py"), str(script), str(seconds), str(gib)]
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()  # its input ends, and so does it

    def call(self, words: Sequence[str]) -> str:
        """Call the script; return why it failed, in a line, or nothing."""
        if self._process is None or self._process.poll() is not None:
            kept = {name: text for name, text in os.environ.items() if name not in _OF_OTHERS}
            self._process = subprocess.Popen(
                self._words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**kept, **_ALONE},
            )
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise ValueError("both are pipes")
        try:
            stdin.write(json.dumps(list(words)) + "\n")
            stdin.flush()
        except BrokenPipeError:
            return "the environment cannot call it"
        answer = stdout.readline()
        return str(json.loads(answer)) if answer else "the environment cannot call it"
