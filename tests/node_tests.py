"""The node tests that come with onnx, made once for all processes and runs of the same releases.

To make them takes 6.5 CPU s, most of it in three pools over 32 x 32 x 32 numbers in Python.
"""

from __future__ import annotations

import os
import pickle
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

_kept: list[Path] = []


def keep_node_tests_in(folder: Path) -> None:
    """Have them kept there, and taken from there."""
    _kept[:] = [folder / f"onnx{onnx.__version__}-numpy{np.__version__}.pickle"]


@cache
def node_tests() -> list[Any]:
    """Return them as `onnx.backend.test.loader` does; a test that changes one copies it first."""
    loader = import_module("onnx.backend.test.loader")
    for path in _kept:
        if path.is_file():
            found: list[Any] = pickle.loads(path.read_bytes())
            return found
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made: list[Any] = loader.load_model_tests(kind="node")
    for path in _kept:
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(pickle.dumps(made))
        partial.replace(path)
    return made
