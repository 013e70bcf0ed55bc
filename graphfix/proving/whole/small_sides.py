"""Two models side by side where free dimensions are 0 and 1, in a child: engines crash on them."""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from onnx import ModelProto

from graphfix.analysis.packed_products import by_formula
from graphfix.analysis.saturation import unsaturated
from graphfix.errors import EngineFailed
from graphfix.proving.values.files import received_values, send_values
from graphfix.worker.limits import Limits
from graphfix.worker.service import ask
from graphfix.worker.sessions import open_session
from graphfix.worker.standing_child import Standing

Feed = dict[str, Any]
_TASK = "graphfix.proving.whole.small_sides:answer"
_SECONDS = 60.0
_BEGUN = "begun"


class SmallSide(Struct, frozen=True):
    """What two models made of the same inputs.

    Attributes:
        what: Which dimensions had which size.
        expected: The outputs of the first model, by name.
        actual: Those of the second; None where it fails.
        error: Why it fails.
    """

    what: str
    expected: Feed
    actual: Feed | None
    error: str = ""


def with_small_sides(model: ModelProto, feed: Mapping[str, Any]) -> Iterator[tuple[str, Feed]]:
    """Yield inputs with each free dimension cut to 0 and to 1, and with all of them, named.

    Dimensions of one symbol are one; one without a symbol is one of its own. What is as small
    already is not cut.
    """
    places: dict[str, list[tuple[str, int]]] = {}
    for info in model.graph.input:
        if info.name in feed and isinstance(feed[info.name], np.ndarray):
            for axis, dim in enumerate(info.type.tensor_type.shape.dim):
                if not dim.HasField("dim_value") and axis < feed[info.name].ndim:
                    symbol = dim.dim_param or f"{info.name}.{axis}"
                    places.setdefault(symbol, []).append((info.name, axis))
    chosen = [[symbol] for symbol in places] + ([list(places)] if len(places) > 1 else [])
    for symbols in chosen:
        for size in (0, 1):
            made = dict(feed)
            for name, axis in (place for symbol in symbols for place in places[symbol]):
                made[name] = made[name].take(range(min(size, made[name].shape[axis])), axis=axis)
            if any(made[name].shape != feed[name].shape for name in made):
                yield f"{', '.join(symbols)} = {size}", made


def at_small_sides(
    before: ModelProto, after: ModelProto, feed: Mapping[str, Any]
) -> list[SmallSide]:
    """Run two models wherever the first runs with a free dimension of size 0 or 1.

    Sizes that do not agree are those at which the first model raises, or crashes onnxruntime.

    Args:
        before: The model that decides what is a possible size.
        after: The other model.
        feed: Inputs that are cut, see `with_small_sides`.
    """
    cases = list(with_small_sides(before, feed))
    found: list[SmallSide] = []
    while cases:
        with tempfile.TemporaryDirectory(prefix="graphfix-") as text:
            folder = Path(text)
            for name, model in (("before", before), ("after", after)):
                (folder / name).write_bytes(by_formula(unsaturated(model)).SerializeToString())
            send_values(folder / "feeds.json", [made for _, made in cases])
            try:
                answer = ask(_TASK, folder, None, Limits(_SECONDS), Ran, child=_child())
            except EngineFailed as error:
                side, number = (folder / _BEGUN).read_text(encoding="utf-8").split()[-2:]
                what, _ = cases.pop(int(number))
                if side == "after":
                    return [*found, SmallSide(what, {}, None, error.message)]
                continue
            pairs = received_values(folder / "outputs.json")
            for (what, _), ran, failure in zip(cases, answer.ran, answer.errors, strict=True):
                if ran:
                    expected = pairs.pop(0)
                    actual = None if failure else pairs.pop(0)
                    found.append(SmallSide(what, expected, actual, failure))
            return found
    return found


@cache
def _child() -> Standing:
    """Return the child of this process that runs one pair of models after another."""
    child = Standing()
    atexit.register(child.end)
    return child


class Ran(Struct, frozen=True):
    """Which inputs the first model ran with, and why one of the two failed; else empty."""

    ran: list[bool]
    errors: list[str]


def answer(folder: Path, _: None, __: Limits) -> Ran:
    """Run both models on all inputs, and note which is begun with which before it is run."""
    feeds = received_values(folder / "feeds.json")
    sessions: dict[str, Any] = {}
    values: list[Feed] = []
    ran: list[bool] = []
    errors: list[str] = []
    with (folder / _BEGUN).open("wb", buffering=0) as begun:
        for number, feed in enumerate(feeds):
            error = ""
            for side in ("before", "after"):
                begun.write(f"{side} {number}\n".encode())
                if side not in sessions:
                    sessions[side] = open_session((folder / side).read_bytes())
                names = [output.name for output in sessions[side].get_outputs()]
                try:
                    outputs = sessions[side].run(None, feed)
                except Exception as raised:  # onnxruntime's exceptions have no common base
                    error = str(raised) or type(raised).__name__
                    break
                values.append(dict(zip(names, outputs, strict=True)))
            ran.append(side == "after")
            errors.append(error)
    send_values(folder / "outputs.json", values)
    return Ran(ran, errors)
