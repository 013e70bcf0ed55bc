"""A model for real engines: its inputs, its forms, and what an engine makes of one."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from benchmarks.children import call_in_child
from graphfix.engines.targets import load_target
from graphfix.errors import GraphfixError
from graphfix.ir.storage.weights import dtype_of
from graphfix.learning.verdicts import Asker, difference
from graphfix.proving.inputs.maker import FeedMaker
from graphfix.proving.models import run_model
from graphfix.proving.values.kinds import Array
from graphfix.proving.verdict.numbers import magnitude_of

_ATTEMPTS = (0, 3, 9, 16, 22)
SECONDS = 120.0
MEMORY = 4 << 30
_MILLIONTH = 1e-6
_CONSENTS = (["--allow-io-change"], ["--allow-io-change", "--allow-lossy"])


@dataclass
class Tried:
    """A model of the folder, and what all engines get of it.

    Attributes:
        path: The model.
        name: Its path in the folder.
        feed: Inputs that onnxruntime runs it on.
        expected: What it computes.
        folder: Where forms of it are written.
        sizes: graphfix's options that fix the sizes that it leaves open.
        simplified: Form -> what onnxsim writes, or None.
    """

    path: Path
    name: str
    feed: dict[str, Any]
    expected: dict[str, Any]
    folder: Path
    sizes: list[str] = field(default_factory=list[str])
    simplified: dict[Path, Path | None] = field(default_factory=dict[Path, "Path | None"])

    def __post_init__(self) -> None:
        """Write the form whose sizes are fixed."""
        self._sized = self.folder / "sized.onnx"
        self.sizes = _with_sizes(self.path, self.feed, self._sized)

    def as_it_is(self, *, sized: bool) -> Path:
        """Return the model, with its sizes fixed where that is asked for."""
        return self._sized if sized and self.sizes else self.path

    def by_onnxsim(self, path: Path) -> Path | None:
        """Return what onnxsim writes of a form, or None where it fails."""
        if path not in self.simplified:
            out = self.folder / f"sim{len(self.simplified)}.onnx"
            called(lambda: _simplify(path, out), self.folder)
            self.simplified[path] = out if out.is_file() else None
        return self.simplified[path]


def asked_of(file: Path, tried: Tried, asker: Asker, consent: Sequence[str]) -> tuple[str, str]:
    """Return what becomes of a file in an engine, given the inputs in the types it declares."""
    inputs = onnx.ModelProto.FromString(file.read_bytes()).graph.input
    types = {info.name: info.type.tensor_type.elem_type for info in inputs}
    given = {
        name: value.astype(dtype_of(types[name]), copy=False) if consent else value
        for name, value in tried.feed.items()
        if name in types
    }
    return asker.verdict(file, given, tried.expected)


def _with_sizes(path: Path, feed: Mapping[str, Any], out: Path) -> list[str]:
    """Write a model with the sizes of inputs that it leaves open; return graphfix's options.

    Args:
        path: The model.
        feed: Its inputs.
        out: Where to; nothing is written where it leaves none open.
    """
    fixing: Any = import_module("onnxruntime.tools.onnx_model_utils")
    model = onnx.ModelProto.FromString(path.read_bytes())
    options: list[str] = []
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        if info.name not in feed or all(dim.HasField("dim_value") for dim in dims):
            continue
        shape = feed[info.name].shape
        fixing.make_input_shape_fixed(model.graph, info.name, list(shape))
        options += ["--shape", f"{info.name}={'x'.join(map(str, shape))}"]
    if options:
        out.write_bytes(model.SerializeToString())
    return options


def consents(tried: Tried, target: str) -> Sequence[list[str]]:
    """Return the consents that a model is to be tried with whose ends the engine does not bind."""
    bound = load_target(target).io_dtypes
    ends = {value.dtype.name for value in (*tried.feed.values(), *tried.expected.values())}
    return _CONSENTS if bound is not None and ends - bound else ()


def drawn_for(path: Path) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return inputs that onnxruntime runs a model on, and what it computes.

    Where inputs that differ by a millionth give other results than engines may, sums in another
    order would, too: others are drawn, and the first without its zeros where all of them do.
    """
    try:
        maker = FeedMaker(onnx.ModelProto.FromString(path.read_bytes()))
        for feed in _feeds(maker):
            try:
                outputs, shaken = run_model(path, [feed, _shaken(feed)], timeout=SECONDS)
            except GraphfixError:
                continue
            if any(difference(outputs[name], shaken[name]) for name in _arrays(outputs)):
                continue
            if all(isinstance(v, np.ndarray) for v in (*outputs.values(), *feed.values())):
                return feed, outputs
            return None
    except Exception as error:  # damaged files of the corpus
        print(f"{path.name}: {error}", file=sys.stderr)
    return None


def _arrays(values: Mapping[str, Any]) -> list[str]:
    return [name for name, value in values.items() if isinstance(value, np.ndarray)]


def _shaken(feed: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs whose floats are larger or smaller by a millionth, 0 by one of the largest.

    At a 0 that nothing moved, a network that divides by it has an infinity or none by its sign
    alone, and an engine that does not keep infinities inside is no worse for it.
    """
    numbers = np.random.default_rng(0)
    shaken = dict(feed)
    for name in _arrays(feed):
        array = feed[name]
        if array.dtype.kind == "f":
            signs = numbers.choice((-_MILLIONTH, _MILLIONTH), array.shape)
            moved = array + signs * np.where(array == 0, magnitude_of(array), array)
            shaken[name] = moved.astype(array.dtype)
    return shaken


def _feeds(maker: FeedMaker) -> Iterator[dict[str, Any]]:
    """Yield what is drawn, and the first without its zeros."""
    for attempt in _ATTEMPTS:
        yield maker.draw(0, attempt)
    yield _without_zeros(maker.draw(0, _ATTEMPTS[0]))


def _without_zeros(feed: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs whose zeros among floats are other values, each of its own."""
    numbers = np.random.default_rng(0)
    others = dict(feed)
    for name in _arrays(feed):
        array: Array = feed[name]
        if array.dtype.kind == "f":
            drawn = magnitude_of(array) * numbers.uniform(-1, 1, array.shape)
            others[name] = np.where(array == 0, drawn, array).astype(array.dtype)
    return others


def _simplify(path: Path, out: Path) -> int:
    simplified, _ = import_module("onnxsim").simplify(str(path))
    out.write_bytes(simplified.SerializeToString())
    return 0


def called(call: Callable[[], int], folder: Path) -> tuple[int, str]:
    """Return the exit code of a call in a child, -1 where it takes too long, and what it prints."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        ended = call_in_child(call, Path(scratch), timeout=SECONDS * 3, memory_bytes=MEMORY)
    return -1 if ended.timed_out else ended.code, ended.stdout


def by_rules_alone(graphfix: Callable[[Sequence[str]], int], folder: Path) -> Callable[..., int]:
    """Return graphfix as it is on a machine without engines, for a child; a run asks none then.

    Args:
        graphfix: The command.
        folder: Has no engines.
    """

    def alone(words: Sequence[str]) -> int:
        os.environ["GRAPHFIX_ENGINES"] = str(folder)
        return graphfix(words)

    return alone
