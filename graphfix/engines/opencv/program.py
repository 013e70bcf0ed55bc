"""Loads and runs a model in OpenCV DNN; is self-contained, for any Python that has OpenCV.

The names and ranks of a model's inputs and outputs are read out of the file itself: OpenCV 4 has no
tensor of less than two dimensions, and computes all in float32.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

os.environ.setdefault("OPENCV_LOG_LEVEL", "ERROR")

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


cv2: Any = import_module("cv2")


class Declared(NamedTuple):
    """An input or output of the graph: its name, and its rank where it has one."""

    name: str
    rank: int | None


class RefusedError(Exception):
    """OpenCV does not take the model; `stage` says when it said so."""

    def __init__(self, stage: str, said: str) -> None:
        """Remember the stage and OpenCV's words."""
        super().__init__(said)
        self.stage = stage


def version() -> str:
    """Return the version of OpenCV, such as ``4.10.0``."""
    return str(cv2.__version__)


def load(
    path: str, shapes: dict[str, list[int]]
) -> Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]:
    """Return a function that runs a model.

    Args:
        path: The file.
        shapes: The shape of each input; OpenCV asks for none before it runs.

    Raises:
        RefusedError: OpenCV does not read the file.
    """
    with open(path, "rb") as file:
        inputs, outputs = interface(memoryview(file.read()))
    try:
        net = cv2.dnn.readNetFromONNX(path)
    except cv2.error as error:
        raise RefusedError("parse", str(error)) from error
    if net.empty():
        raise RefusedError("parse", "the net is empty")
    names = list(net.getUnconnectedOutLayersNames())
    declared = {output.name: output for output in outputs}

    def run(feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        for value in inputs:
            if value.name in feed:
                net.setInput(_taken(np.asarray(feed[value.name])), value.name)
        given = net.forward(names)
        return {
            name: _declared(array, declared[name])
            for name, array in zip(names, given)  # noqa: B905 - Python 3.8
            if name in declared
        }

    return run


def _taken(array: np.ndarray) -> Any:
    """Return an input as OpenCV is to see it: in float32 before 5.0, and with no channels."""
    if int(cv2.__version__.split(".")[0]) < 5:
        array = array.astype(np.float32).reshape(array.shape or 1)  # a number is a vector of one
    # Without the wrapper a third dimension is taken for the channels of an image.
    return cv2.Mat(np.ascontiguousarray(array), wrap_channels=False) if array.ndim > 2 else array


def _declared(array: np.ndarray | None, value: Declared) -> np.ndarray:
    """Return an output in the rank that the model declares, where OpenCV has no such tensor."""
    if array is None:
        raise RefusedError("run", f"the output {value.name} is empty")
    array = np.asarray(array)
    if value.rank == 0 and array.size == 1:
        return array.reshape(())
    # OpenCV 4 has nothing of less than two dimensions: a vector is a column.
    if value.rank == 1 and array.ndim == 2 and array.shape[1] == 1:
        return array.reshape(-1)
    return array


def interface(model: memoryview) -> tuple[list[Declared], list[Declared]]:
    """Return the inputs that must be fed, and the outputs, of a serialized ModelProto."""
    graph = next((part for number, part in _fields(model) if number == 7), memoryview(b""))
    inputs: list[Declared] = []
    outputs: list[Declared] = []
    known: set[str] = set()
    for number, part in _fields(graph):
        if number == 5:  # GraphProto.initializer; 8 is TensorProto.name
            known.update(bytes(text).decode() for inner, text in _fields(part) if inner == 8)
        elif number in (11, 12):  # GraphProto.input and GraphProto.output
            (inputs if number == 11 else outputs).append(_value(part))
    return [value for value in inputs if value.name not in known], outputs


def _value(info: memoryview) -> Declared:
    """Read a ValueInfoProto: name = 1, type = 2, of which tensor_type = 1, of which shape = 2."""
    name, rank = "", None
    for number, part in _fields(info):
        if number == 1:
            name = bytes(part).decode()
        for kind, tensor in _fields(part) if number == 2 else ():
            for inner, shape in _fields(tensor) if kind == 1 else ():
                if inner == 2:
                    rank = sum(dim == 1 for dim, _ in _fields(shape))
    return Declared(name, rank)


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Walk a message of protobuf: the number of a field, and its integer or its bytes."""
    view, place = memoryview(message), 0
    while place < len(view):
        key, place = _varint(view, place)
        kind = key & 7
        if kind == 0:
            number, place = _varint(view, place)
            yield key >> 3, number
            continue
        size = {1: 8, 5: 4}.get(kind, 0)
        if kind == 2:
            size, place = _varint(view, place)
        yield key >> 3, view[place : place + size]
        place += size


def _varint(view: memoryview, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = view[place]
        place += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, place
