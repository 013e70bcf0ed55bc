"""A command that runs models, as a program for `graphfix.engines.hosting.serve`.

It is copied next to a ``command.json``: ``words``, in which ``{model}``, ``{inputs}`` and
``{outputs}`` stand for paths, and ``version``. The inputs are an npz archive of arrays by name, and
the command writes one of the outputs. An exit code other than 0 is a refusal, in the last words of
stderr. Python 3.8 or newer, the standard library and numpy.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import tempfile
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_LAST = 600


def version() -> str:
    """Return the version that the user gave."""
    return str(_said()["version"])


def load(path: str, shapes: dict[str, list[int]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a function that runs a model: the command loads it each time."""
    words = [str(word) for word in _said()["words"]]

    def run(feed: dict[str, Any]) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            inputs, outputs = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
            _write(inputs, feed)
            paths = {"{model}": path, "{inputs}": inputs, "{outputs}": outputs}
            done = subprocess.run(
                [_filled(word, paths) for word in words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                check=False,
            )
            said = " ".join(done.stderr.decode("utf-8", "replace").split())[-_LAST:]
            if done.returncode < 0:
                raise RuntimeError(f"it ended with signal {-done.returncode}: {said}")
            if done.returncode:
                raise RuntimeError(said or f"exit code {done.returncode}")
            if not os.path.isfile(outputs):
                raise RuntimeError(f"no outputs were written: {said}")
            with np.load(outputs, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}

    return run


def _said() -> dict[str, Any]:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "command.json")
    with open(path, encoding="utf-8") as stream:
        found: dict[str, Any] = json.load(stream)
    return found


def _filled(word: str, paths: dict[str, str]) -> str:
    for name, path in paths.items():
        word = word.replace(name, path)
    return word


def _write(path: str, feed: dict[str, Any]) -> None:
    """Write an archive; `numpy.savez` cannot name an array ``file``."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, value in feed.items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.asarray(value), allow_pickle=False)
            archive.writestr(f"{name}.npy", stream.getvalue())
