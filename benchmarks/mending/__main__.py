"""Break one type of random valid graphs, mend them, and hold the results to the unbroken graphs.

    python -m benchmarks.mending [--graphs 300] [--across 100] [--seed 0] [-o OUT.md] [--show]

The outputs of what was mended are compared with those of the unbroken graph in onnxruntime, on
inputs of its own. In graphs of the second row a float was made an integer or the reverse: those may
be refused, and are here to show that none becomes something else. Ends with 1 where fewer than 95%
of the first row are mended, or where any is mended to something else and said to be proved.
"""

from __future__ import annotations

import argparse
import importlib
import os
from collections import Counter
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from onnx import ModelProto, TensorProto

import graphfix
from benchmarks import RESULTS
from benchmarks.mending.breaking import WAYS, broken
from benchmarks.mending.graphs import COLUMNS, ROWS, graphs_of, random_graph
from graphfix.report import Status

ORT: Any = importlib.import_module("onnxruntime")
Array = np.ndarray[Any, Any]
SAME, OTHER, UNSURE, REFUSED, LEFT = (
    "mended to the same",
    "mended to something else",
    "inconclusive",
    "refused",
    "left broken",
)
_WANTED = 0.95


def outputs(model: ModelProto, seed: int) -> list[Array]:
    """Return what onnxruntime gives for three inputs, without rewriting the graph."""
    options = ORT.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ORT.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ORT.InferenceSession(model.SerializeToString(), options)
    rng = np.random.default_rng(seed)
    found: list[Array] = []
    kinds = {"tensor(float)": "float32", "tensor(double)": "float64", "tensor(float16)": "float16"}
    for _ in range(3):
        x = (rng.integers(-16, 17, (ROWS, COLUMNS)) / 8 + 0.0625).astype(
            kinds[session.get_inputs()[0].type]
        )
        i = rng.integers(0, 5, (ROWS, COLUMNS))
        integer = session.get_inputs()[1].type.removeprefix("tensor(").removesuffix(")")
        found += session.run(None, {"x": x, "i": i.astype(integer)})
    return found


def is_telling(model: ModelProto, seed: int) -> bool:
    """Say whether onnxruntime has kernels for a graph, and every output moves with the inputs."""
    try:
        found = outputs(model, seed)
    except ORT.capi.onnxruntime_pybind11_state.NotImplemented:
        return False
    count = len(model.graph.output)
    samples = [found[first::count] for first in range(count)]
    return all(
        np.isfinite(a.astype(np.float64)).all()
        and len(np.unique(a)) > 1
        and not np.array_equal(a, several[0])
        for several in samples
        for a in several[1:]
    )


def is_same(one: ModelProto, other: ModelProto, broken_one: ModelProto, seed: int) -> bool:
    """Say whether two graphs give the same, up to the rounding of the narrowest float there."""
    half = any(_has_half(model) for model in (one, broken_one))
    for a, b in zip(outputs(one, seed), outputs(other, seed), strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        scale = max(float(np.abs(a.astype(np.float64)).max(initial=0.0)), 1.0)
        apart = np.abs(a.astype(np.float64) - b.astype(np.float64))
        if a.dtype == np.bool_:
            # A rounding moves what is compared past a constant here and there.
            if (a != b).mean() > (0.25 if half else 0.0):
                return False
        elif not (apart <= (0.03 if half else 1e-5) * scale).all():
            return False
    return True


def _has_half(model: ModelProto) -> bool:
    half = TensorProto.FLOAT16
    infos = (*model.graph.input, *model.graph.output)
    casts = [n.attribute[0].i for g in graphs_of(model) for n in g.node if n.op_type == "Cast"]
    stored = [t.data_type for t in model.graph.initializer]
    return half in (*casts, *stored, *(i.type.tensor_type.elem_type for i in infos))


def judged(whole: ModelProto, bad: ModelProto, seed: int) -> tuple[str, str]:
    """Mend a broken graph, and say what became of it and why."""
    result = graphfix.run(bad, "ort-1.32", allow_mended=True)
    refused = [o.reason for o in result.report.outcomes if o.status is Status.REFUSED]
    if any(f.blocks for f in result.report.findings_after):
        why = [f.message for f in result.report.findings_after if f.blocks]
        return (REFUSED, refused[0]) if refused else (LEFT, why[0])
    if result.exit_code and refused:
        return REFUSED, refused[0]
    if result.exit_code:
        reading = result.report.reading
        return UNSURE, reading.reason if reading is not None else "no reading"
    same = is_same(whole, result.model.to_proto(), bad, seed)
    notes = [s.note for o in result.report.outcomes for s in o.sites if s.note]
    return (SAME if same else OTHER), "; ".join(notes)


def measured(first: int, wanted: int, *, across: bool, show: bool) -> dict[str, Counter[str]]:
    """Return how graphs ended, by the way in which they were broken."""
    found = {way: Counter[str]() for way in WAYS}
    seed = first
    while sum(sum(count.values()) for count in found.values()) < wanted:
        seed += 1
        whole = random_graph(seed)
        bad = None if whole is None else broken(whole, seed, across=across)
        if whole is None or bad is None or not is_telling(whole, seed):
            continue
        way, what, model = bad
        ended, why = judged(whole, model, seed)
        found[way][ended] += 1
        if show and ended != SAME:
            print(f"{seed} {way}: {what}: {ended}: {why}")
    return found


def page(rows: dict[str, dict[str, Counter[str]]], command: str) -> str:
    """Return the table as a page."""
    kinds = (SAME, UNSURE, REFUSED, LEFT, OTHER)
    text = (
        "# Random valid graphs with one type broken on purpose\n\n"
        f"`{command}`, onnxruntime {ORT.__version__}. The results are held to what the "
        "unbroken graph gives for other inputs than\nthose of the proof.\n\n"
        f"| broken | how | graphs | {' | '.join(kinds)} |\n|{'---|' * (3 + len(kinds))}\n"
    )
    for title, found in rows.items():
        total = sum(found.values(), Counter[str]())
        for way, count in {**found, "all": total}.items():
            graphs = sum(count.values())
            if graphs:
                cells = " | ".join(str(count[kind]) for kind in kinds)
                text += f"| {title} | {way} | {graphs} | {cells} |\n"
    return text


def main() -> int:
    """Measure, write the page, and say whether it is as it is to be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--across", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("-o", type=Path, default=RESULTS / "mending.md")
    asked = parser.parse_args()
    alike = measured(asked.seed, asked.graphs, across=False, show=asked.show)
    across = measured(asked.seed, asked.across, across=True, show=asked.show)
    rows = {"a type of the same kind": alike, "a float and an integer": across}
    command = f"python -m benchmarks.mending --graphs {asked.graphs} --across {asked.across}"
    asked.o.write_text(page(rows, command), encoding="utf-8")
    total = sum(alike.values(), Counter[str]())
    every = total + sum(across.values(), Counter[str]())
    return int(bool(every[OTHER]) or total[SAME] < _WANTED * sum(total.values()))


if __name__ == "__main__":
    raise SystemExit(main())
