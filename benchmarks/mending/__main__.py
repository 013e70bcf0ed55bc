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
from onnx import ModelProto, TensorProto, ValueInfoProto, helper

import graphfix
from benchmarks import RESULTS
from benchmarks.mending.breaking import WAYS, broken
from benchmarks.mending.containers import CONTAINERS
from benchmarks.mending.graphs import COLUMNS, ROWS, random_graph
from benchmarks.mending.structures import STRUCTURES, scopes
from benchmarks.mending.wider import A_TYPE, drawn, valid
from graphfix.errors import InvalidModel
from graphfix.report import MENDED, Status

ORT: Any = importlib.import_module("onnxruntime")
Array = np.ndarray[Any, Any]
SAME, OTHER, UNSURE, REFUSED, LEFT, UNREAD = (
    "mended to the same",
    "mended to something else",
    "inconclusive",
    "refused",
    "left broken",
    "not read",
)
TWO = "two at once"
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


def is_same(
    one: ModelProto, other: ModelProto, broken_one: ModelProto, seed: int, *, declared: bool = False
) -> bool:
    """Say whether two graphs give the same, up to the rounding of the narrowest float there.

    Args:
        one: The unbroken graph.
        other: What came of the broken one.
        broken_one: The broken one.
        seed: Says on which inputs.
        declared: Whether outputs may be of another type, in which the broken one declares them.
    """
    half = any(_has_half(model) for model in (one, broken_one))
    wanted = [helper_dtype(info) for info in broken_one.graph.output]
    given = [a.astype(wanted[n % len(wanted)]) for n, a in enumerate(outputs(one, seed))]
    for a, b in zip(given if declared else outputs(one, seed), outputs(other, seed), strict=True):
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


def helper_dtype(info: ValueInfoProto) -> np.dtype[Any]:
    """Return the type in which an output is declared."""
    return helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)


def _has_half(model: ModelProto) -> bool:
    half = TensorProto.FLOAT16
    infos = (*model.graph.input, *model.graph.output)
    casts = [n.attribute[0].i for nodes in scopes(model) for n in nodes if n.op_type == "Cast"]
    stored = [t.data_type for t in model.graph.initializer]
    return half in (*casts, *stored, *(i.type.tensor_type.elem_type for i in infos))


def judged(
    whole: ModelProto, bad: ModelProto, seed: int, *, declared: bool = False
) -> tuple[str, str]:
    """Mend a broken graph, and say what became of it and why."""
    try:
        result = graphfix.run(bad, "ort-1.32", allow_mended=True)
    except InvalidModel as error:
        return UNREAD, str(error)
    refused = [o.reason for o in result.report.outcomes if o.status is Status.REFUSED]
    if any(f.blocks for f in result.report.findings_after):
        why = [f.message for f in result.report.findings_after if f.blocks]
        return (REFUSED, refused[0]) if refused else (LEFT, why[0])
    if result.exit_code and refused:
        return REFUSED, refused[0]
    if result.exit_code:
        reading = result.report.reading
        return UNSURE, reading.reason if reading is not None else "no reading"
    same = is_same(whole, result.model.to_proto(), bad, seed, declared=declared)
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


def wider(first: int, wanted: int, *, show: bool) -> dict[str, dict[str, Counter[str]]]:
    """Return how draws of the second kind ended: by container, and by way."""
    places = {container: Counter[str]() for container in CONTAINERS}
    ways = {way: Counter[str]() for way in (A_TYPE, *STRUCTURES, TWO)}
    seed, count = first, 0
    while count < wanted:
        seed += 1
        each = drawn(seed)
        if each is None or not is_telling(each.whole, seed):
            continue
        count += 1
        ended, why = judged(each.whole, each.bad, seed, declared=each.declared)
        places[each.container][ended] += 1
        ways[each.ways[0] if len(each.ways) == 1 else TWO][ended] += 1
        if show and ended != SAME:
            print(f"{seed} {each.container}, {each.ways}: {each.said}: {ended}: {why}", flush=True)
    return {"by place": places, "by way": ways}


def read_in_another_way(first: int, wanted: int) -> tuple[int, list[str]]:
    """Return how many valid graphs were looked at, and which of them were read in another way."""
    seed, count, found = first, 0, list[str]()
    while count < wanted:
        seed += 1
        model = valid(seed)
        if model is None:
            continue
        count += 1
        result = graphfix.run(model, "ort-1.32", verify="off")
        sites = [s for o in result.report.outcomes for s in o.sites if s.accuracy is MENDED]
        if sites or any(f.feature.startswith("model:") for f in result.report.findings_before):
            found.append(f"{seed}: {[f.message for f in result.report.findings_before]}")
    return count, found


def page(rows: dict[str, dict[str, Counter[str]]], command: str) -> str:
    """Return the table as a page."""
    kinds = (SAME, UNSURE, REFUSED, LEFT, UNREAD, OTHER)
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
    parser.add_argument("--wider", type=int, default=300)
    parser.add_argument("--valid", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("-o", type=Path, default=RESULTS / "mending.md")
    asked = parser.parse_args()
    alike = measured(asked.seed, asked.graphs, across=False, show=asked.show)
    across = measured(asked.seed, asked.across, across=True, show=asked.show)
    second = wider(asked.seed, asked.wider, show=asked.show)
    looked, misread = read_in_another_way(asked.seed, asked.valid)
    rows = {"a type of the same kind": alike, "a float and an integer": across, **second}
    command = f"python -m benchmarks.mending --graphs {asked.graphs} --across {asked.across}"
    command += f" --wider {asked.wider} --valid {asked.valid}"
    text = page(rows, command)
    text += f"\nOf {looked} valid graphs {len(misread)} were read in another way.\n"
    asked.o.write_text(text + "".join(f"- {each}\n" for each in misread), encoding="utf-8")
    lots = [sum(found.values(), Counter[str]()) for found in (alike, second["by way"])]
    every = sum(lots, sum(across.values(), Counter[str]()))
    few = any(lot[SAME] < _WANTED * sum(lot.values()) for lot in lots)
    return int(bool(every[OTHER]) or bool(misread) or few)


if __name__ == "__main__":
    raise SystemExit(main())
