"""A model file in an engine that has a process of its own."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from graphfix.engines.hosting.host import Array, Host, Refused
from graphfix.errors import EngineFailed, NoDevice
from graphfix.ir.storage.weights import dtype_of

if TYPE_CHECKING:
    from onnx import ModelProto

    from graphfix.engines.hosting.standing import BorrowedHost

DEVICE = "device"  # the stage at which an engine that took a model has nothing to run it on
_VERSION = re.compile(r"\d+(?:\.\d+)*")


class HostedRunner:
    """One model in the engine, which loads it when it is first run.

    Attributes:
        name: The engine with its version, for people.
        version: As many parts of it as the target has.
    """

    def __init__(
        self, host: Host | BorrowedHost, model: ModelProto, path: Path, *, parts: int, static: bool
    ) -> None:
        """Remember the model.

        Args:
            host: The engine.
            model: The model in the file; its external data is not looked at.
            path: The file.
            parts: How many numbers the version of a target has.
            static: Whether the engine wants the model again for each set of sizes.
        """
        self._host = host
        said = host.version()
        match = _VERSION.search(said)
        numbers = match[0].split(".") if match else []
        self.version = tuple(int(part) for part in numbers[:parts])
        self.name = f"{host.name} {'.'.join(numbers[:3])}".rstrip()
        self._path = path
        self._static = static
        self._loaded: dict[str, list[int]] | None = None
        self._outputs = {
            info.name: dtype_of(info.type.tensor_type.elem_type) for info in model.graph.output
        }

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """Run once.

        Raises:
            NoDevice: The engine has taken the model, and has nothing here to run it on.
            EngineFailed: It does not load or run the model.
        """
        listed = [name for name, value in feed.items() if isinstance(value, list)]
        if listed:
            raise EngineFailed(f"the sequence {listed[0]} cannot be given to it", where=self.name)
        shapes = {name: list(np.shape(value)) for name, value in feed.items()}
        if self._loaded is None or (self._static and shapes != self._loaded):
            self.load(shapes)
        results = self._results(feed)
        if isinstance(results, list):
            if len(results) != len(self._outputs):
                raise EngineFailed(
                    f"{len(results)} outputs came, not {len(self._outputs)}", where=self.name
                )
            results = dict(zip(self._outputs, results, strict=True))
        missing = [name for name in self._outputs if name not in results]
        if missing:
            raise EngineFailed(f"there is no output {missing[0]}", where=self.name)
        return {name: typed(results[name], dtype) for name, dtype in self._outputs.items()}

    def run_again(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """Run after a run on other values, of which an engine may keep something.

        Raises:
            NoDevice: The engine has taken the model, and has nothing here to run it on.
            EngineFailed: It does not load or run the model.
        """
        self.load({name: list(np.shape(value)) for name, value in feed.items()})
        with contextlib.suppress(EngineFailed):
            self._results(turned(feed))
        return self.run(feed)

    def _results(self, feed: Mapping[str, Any]) -> dict[str, Array] | list[Array]:
        try:
            return self._host.run(feed)
        except Refused as refused:
            if refused.stage == DEVICE:
                raise NoDevice(refused.message, where=self.name) from None
            raise

    @property
    def is_first(self) -> bool:
        """Whether no other asker had the process before."""
        return getattr(self._host, "first", True)

    def close(self) -> None:
        """End the process, or let the next asker have it."""
        self._host.close()

    def load(self, shapes: dict[str, list[int]]) -> None:
        """Load the model for inputs of these sizes; raises `EngineFailed` where it is refused."""
        self._loaded = None
        try:
            self._host.load(self._path, shapes)
            self._loaded = shapes
        except Refused as refused:
            if refused.stage:
                raise EngineFailed(f"{refused.stage}: {refused.message}", where=self.name) from None
            raise


def turned(feed: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs with all floats in the opposite order, for one more run of a loaded model."""
    return {name: _turned(value) for name, value in feed.items()}


def _turned(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    array = cast(Array, value)
    turns = array.ndim and array.dtype.kind == "f"
    return np.ascontiguousarray(np.flip(array)) if turns else array


def typed(array: Array, dtype: np.dtype[Any] | None) -> Array:
    """Return an array in the type of the model, where that loses nothing.

    An engine that has one type of numbers gives all outputs in that; a number that the model's
    type does not have stays, and shows.
    """
    if dtype is None or array.dtype == dtype:
        return array
    if array.dtype.kind == "V":  # numpy stores as bytes a type that is not its own
        return array.view(dtype) if array.dtype.itemsize == dtype.itemsize else array
    if dtype.kind in "OUS" or array.dtype.kind in "OUS":
        return array.astype(object)
    with np.errstate(all="ignore"):
        given = array.astype(dtype)
        if dtype.kind in "biu" and not np.array_equal(given.astype(array.dtype), array):
            return array
    return given
