"""Draws of the second kind: inside of containers, structure, and two faults at once."""

from __future__ import annotations

import random

from msgspec import Struct
from onnx import ModelProto, TensorProto
from onnx.shape_inference import InferenceError

from benchmarks.mending.breaking import broken, without_kernel
from benchmarks.mending.containers import CONTAINERS, contained, places
from benchmarks.mending.graphs import graphs_of, is_valid, random_graph
from benchmarks.mending.structures import STRUCTURES, with_axes

A_TYPE = "a type"
_TWO = 0.35
_A_TYPE = 0.5


class Drawn(Struct, frozen=True):
    """A broken model, and what it was.

    Attributes:
        whole: The model before.
        bad: The same, broken.
        container: Where its end is.
        ways: How it was broken.
        said: What was done.
        declared: Whether outputs are declared in other types than before.
    """

    whole: ModelProto
    bad: ModelProto
    container: str
    ways: tuple[str, ...]
    said: str
    declared: bool


def whole_of(seed: int) -> tuple[ModelProto, str, str] | None:
    """Return a valid model, the container of its end and where that begins; None for no graph."""
    rng = random.Random(seed)
    flat = random_graph(seed)
    if flat is None or len(flat.graph.node) < 3:
        return None
    if rng.random() < 0.5:
        flat = with_axes(flat, seed)
    container = rng.choice(CONTAINERS)
    place = rng.choice(places(flat))
    return flat, container, place


def valid(seed: int) -> ModelProto | None:
    """Return a valid model; None where none was drawn."""
    drawn = whole_of(seed)
    model = contained(drawn[0], drawn[1], drawn[2], seed) if drawn is not None else None
    return model if model is not None and is_valid(model) else None


def drawn(seed: int) -> Drawn | None:
    """Return a model broken in one or two ways; None where nothing broken came out."""
    begun = whole_of(seed)
    if begun is None:
        return None
    flat, container, place = begun
    rng = random.Random(seed + 1)
    whole = contained(flat, container, place, seed)
    if whole is None or not is_valid(whole):
        return None
    count = 2 if rng.random() < _TWO else 1
    ways = sorted(
        A_TYPE if rng.random() < _A_TYPE else rng.choice(list(STRUCTURES)) for _ in range(count)
    )
    if len(set(ways)) < count and A_TYPE not in ways:
        return None
    said: list[str] = []
    bad = flat
    for number in range(ways.count(A_TYPE)):
        try:
            found = broken(bad, seed + number, across=False)
        except InferenceError:
            return None
        if found is None:
            return None
        said.append(f"{found[0]}: {found[1]}")
        bad = found[2]
        if _is_without_kernel(bad):
            return None
    wrapped = contained(bad, container, place, seed)
    if wrapped is None:
        return None
    for way in ways:
        if way != A_TYPE:
            did = STRUCTURES[way](wrapped, rng)
            if not did:
                return None
            said.append(did)
    if "listed nowhere at IR 3" in ways and container == "function":
        return None  # there are none at that version
    return Drawn(whole, wrapped, container, tuple(ways), "; ".join(said), "declared output" in ways)


def _is_without_kernel(model: ModelProto) -> bool:
    """Say whether a state was made float64, which onnxruntime lacks for some operators."""
    states = [i for g in graphs_of(model) if g.name == "body" for i in g.input]
    double = any(i.type.tensor_type.elem_type == TensorProto.DOUBLE for i in states)
    return double and without_kernel(model)
