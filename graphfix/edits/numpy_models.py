"""What numpy does in a proof: operators of the domain ``graphfix.edits`` that no engine has."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np

from graphfix.ir.storage.reading import read_model
from graphfix.ir.storage.weights import dtype_of
from graphfix.proving.runners.engine import Engine
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.values.kinds import Feed

Array = np.ndarray[Any, Any]


def given(_: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Give a stored value, as a caller would feed it."""
    return (cast("Array", attributes["value"]),)


def run_file(inputs: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Run the model of a file, as a program that holds it would.

    The attributes are its ``path``, the names of its ``inputs`` in the order given and of its
    ``outputs``, and the ``numpy`` models of its operators, ``DOMAIN|OP|PLACE`` each.
    """
    names = cast("list[str]", attributes.get("inputs", []))
    places = tuple(cast("list[str]", attributes.get("numpy", [])))
    engine = _opened(cast("str", attributes["path"]), places)
    feed = {n: v for n, v in zip(names, inputs, strict=True) if v is not None}
    outputs = engine.run(cast("Feed", feed))
    return tuple(np.asarray(outputs[n]) for n in cast("list[str]", attributes["outputs"]))


@lru_cache(maxsize=4)
def _opened(path: str, places: tuple[str, ...]) -> Engine:
    """Load a model once for all inputs of a proof; the process ends with it."""
    numpy: dict[tuple[str, str], str] = {}
    for place in places:
        domain, op, function = place.split("|")
        numpy[domain, op] = function
    file = Path(path)
    model = RunnableModel(read_model(file).proto, str(file.parent), Evaluators(numpy))
    return model.open()


def cast_to(inputs: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Cast with `numpy.ndarray.astype`."""
    dtype = dtype_of(cast("int", attributes["to"]))
    assert dtype is not None, "the edit has asked for it"
    return (_one(inputs).astype(dtype),)


def transpose(inputs: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Move axes with `numpy.transpose`."""
    return (np.transpose(_one(inputs), cast("list[int]", attributes["perm"])),)


def normalize(inputs: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Compute ``(x - mean) / std``."""
    mean, std = cast("Array", attributes["mean"]), cast("Array", attributes["std"])
    return ((_one(inputs) - mean) / std,)


def reverse(inputs: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Reverse an axis with `numpy.flip`."""
    return (np.flip(_one(inputs), cast("int", attributes["axis"])),)


def _one(inputs: list[Array | None]) -> Array:
    (array,) = inputs
    assert array is not None, "the edit has named it"
    return array


def hand_on(inputs: list[Array | None], _: dict[str, object]) -> tuple[Array, ...]:
    """Give what comes in."""
    return (_one(inputs),)


def items(inputs: list[Array | None], attributes: dict[str, object]) -> tuple[Array, ...]:
    """Run the model of a file once for each ``size`` items, and put the outputs together.

    Next to what `run_file` takes, ``in_axes`` and ``out_axes`` say along which axis the items lie;
    -1 for what is the same for all. Such an output is that of the first run where all are equal.
    """
    size = cast("int", attributes["size"])
    axes = cast("list[int]", attributes["in_axes"])
    count = next(
        value.shape[axis]
        for value, axis in zip(inputs, axes, strict=True)
        if axis >= 0 and value is not None
    )
    runs: list[tuple[Array, ...]] = []
    for start in range(0, count, size):
        taken: list[Array | None] = [
            value
            if value is None or axis < 0
            else np.take(value, range(start, start + size), axis=axis)
            for value, axis in zip(inputs, axes, strict=True)
        ]
        runs.append(run_file(taken, attributes))
    out_axes = cast("list[int]", attributes["out_axes"])
    results: list[Array] = []
    for position, axis in enumerate(out_axes):
        parts = [run[position] for run in runs]
        if axis >= 0:
            results.append(np.concatenate(parts, axis=axis))
        else:  # what differs from item to item is no output of one shape, and shows as such
            same = all(np.array_equal(parts[0], part) for part in parts)
            results.append(parts[0] if same else np.stack(parts))
    return tuple(results)
