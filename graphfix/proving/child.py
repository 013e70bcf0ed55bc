"""What children do for comparisons: run a model, or compare two of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from graphfix.engines.engine import Meant, engine_of
from graphfix.errors import EngineFailed
from graphfix.proving.layers.comparison import Comparison
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.values.files import read_values, write_values
from graphfix.proving.whole import comparing as whole
from graphfix.proving.whole import fitting
from graphfix.report import Verdict, Verification


def evaluators_of(request: dict[str, Any]) -> Evaluators:
    """Return the numpy models that a request names."""
    return Evaluators({(domain, op): place for domain, op, place in request["evaluators"]})


def answer(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Do what a request of `graphfix.proving.models` says."""
    limit: int | None = request["memory_limit"]
    paths = [Path(text) for text in request["models"]]
    at_once = request["do"] == "engine"
    loaded = fitting.load(paths, evaluators_of(request), limit, folder, at_once=at_once)
    if isinstance(loaded, str):
        return _refused(request, loaded)
    # Engines print numpy warnings about NaN and overflow that random inputs are meant to cause.
    with np.errstate(all="ignore"):
        if request["do"] == "run":
            engine = loaded[0].open()
            feeds = read_values(folder / "feeds.json")
            write_values(folder / "outputs.json", [engine.run(feed) for feed in feeds])
            return {"engine": engine.name}
        task = whole.Task(
            loaded[0],
            loaded[1],
            inputs=Path(request["inputs"]) if request["inputs"] else None,
            patience=request["timeout"] / 2,
            seed=request["seed"],
            samples=request["samples"],
            lossy=request["lossy"],
            bindings={name: tuple(dims) for name, dims in request["bindings"].items()},
            edges=tuple(request["edges"]),
            scratch=folder,
        )
        if request["do"] == "side_by_side":
            # Most children compare outputs alone, and live for less time than imports take.
            from graphfix.proving.layers.side_by_side import side_by_side

            return {"comparison": dataclasses.asdict(side_by_side(task, layers=request["layers"]))}
        if request["do"] == "engine":
            asked = request["meant"]
            meant = Meant(tuple(asked["version"]), asked["dtype_aliases"])
            found = whole.compare_in_engine(task, paths[1], engine_of(asked["family"]), meant)
            return {"verification": dataclasses.asdict(found)}
        return {"verification": dataclasses.asdict(whole.compare(task))}


def _refused(request: dict[str, Any], reason: str) -> dict[str, Any]:
    if request["do"] == "run":
        raise EngineFailed(reason)
    skipped = Verification(Verdict.SKIPPED, reason)
    if request["do"] == "side_by_side":
        return {"comparison": dataclasses.asdict(Comparison(skipped))}
    return {"verification": dataclasses.asdict(skipped)}
