"""200 patterns on models of 5,000 to 40,000 nodes: what looking for them costs.

    python -m benchmarks.patterns [--patterns 200] [--repeat 3] [-o FILE]

The patterns are all different, of four operators each, a third of them with commuted operands and
alternatives; the models repeat stretches of twelve nodes, in which some patterns are found whole
and most in part. The fusions that are shipped look for theirs as well. CPU seconds of this process
(`time.process_time`), the best of the repeats: loading, inferring and saving the model, and looking
for all patterns with every site applied. Ends with 1 when that takes more than twice as long at
20,000 nodes, or grows faster than the power 1.05 of the nodes, fitted to all sizes.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper

import graphfix
from benchmarks import RESULTS
from graphfix.authoring import NAMED, Builder, Find, Match, Sought, Value, rewrite
from graphfix.authoring.declaring import Pass
from graphfix.authoring.registry import shipped_passes
from graphfix.authoring.workspace import Workspace
from graphfix.ir.model import Model
from graphfix.pipeline.model_types import infer_types
from graphfix.pipeline.sweep import Journal, sweep_patterns

SIZES = (5_000, 10_000, 20_000, 40_000)
JUDGED = 20_000
MOST_SHARE = 2.0
MOST_POWER = 1.05
UNARY = ("Neg", "Exp", "Abs", "Tanh", "Sigmoid", "Relu")
BINARY = ("Add", "Mul", "Sub", "Div")
STRETCH = (
    *("Neg", "Exp", "Add", "Tanh", "Mul", "Abs"),
    *("Sub", "Sigmoid", "Add", "Relu", "Div", "Neg"),
)


def many_patterns(count: int) -> tuple[Pass, ...]:
    """Return passes with patterns that are all different."""
    passes: list[Pass] = []
    for number in range(count):
        one, two = UNARY[number % 6], UNARY[number // 6 % 6]
        ends = BINARY[number // 36 % 4], BINARY[number // 144 % 4]
        passes.append(_declared(number, one, two, ends))
    return tuple(passes)


def _declared(number: int, one: str, two: str, ends: tuple[str, str]) -> Pass:
    def written(find: Find, x: Sought, z: Sought, t: Sought) -> Sought:
        inner = find.node(ends[0], find.node(one, x), z)
        if number % 3 == 0:
            inner = find.node(ends[0], find.either(find.node(one, x), find.node(two, z)), z)
        return find.node(ends[1], find.node(two, inner), t)

    def make(match: Match, build: Builder) -> Value:
        return build.Sqrt(build.Cosh(match["x"]))

    written.__name__ = f"pattern_{number}"
    make.__name__ = f"replace_{number}"
    declare = rewrite(rewrite.pattern(written), emits="Sqrt Cosh", stage=NAMED)
    return declare(make)


def model_of(nodes: int) -> ModelProto:
    """Return a model of so many nodes in a row; every operator of two operands has its weights."""
    made: list[onnx.NodeProto] = []
    names = ["x"]
    weights: list[TensorProto] = []
    for place in range(nodes):
        op = STRETCH[(place + place // len(STRETCH) * 5) % len(STRETCH)]
        inputs = [names[-1]]
        if op in BINARY:
            inputs.append(f"w{place}")
            weights.append(helper.make_tensor(f"w{place}", TensorProto.FLOAT, [8], [0.5] * 8))
        made.append(helper.make_node(op, inputs, [f"v{place}"], name=f"node_{place}"))
        names.append(f"v{place}")
    first, last = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 8]) for name in names[::nodes]
    )
    graph = helper.make_graph(made, "many", [first], [last], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def cpu_of(what: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    start = time.process_time()
    what()
    return time.process_time() - start


@dataclass
class Row:
    """What was measured of one size: CPU seconds, calls of functions, sites."""

    plain: float = math.inf
    sought: float = math.inf
    calls: int = 0
    sites: int = 0


def measure(nodes: int, passes: Sequence[Pass], row: Row) -> None:
    """Load, infer and save a model, look for the patterns in it, and keep the best of the CPU."""
    with tempfile.TemporaryDirectory() as folder:
        path, copy = Path(folder, "model.onnx"), Path(folder, "copy.onnx")
        path.write_bytes(model_of(nodes).SerializeToString())
        loaded: list[Model] = []

        def read() -> None:
            model = graphfix.load(path)
            infer_types(model, ())
            graphfix.save(model, copy)
            loaded.append(model)

        journal = Journal()
        gc.collect()
        row.plain = min(row.plain, cpu_of(read))
        look = partial(sweep_patterns, loaded[0], Workspace(loaded[0]), passes, {}, journal)
        row.sought = min(row.sought, cpu_of(look))
        row.sites = len(journal.applied)


def calls_of(nodes: int, passes: Sequence[Pass]) -> int:
    """Return how many functions are called to look for the patterns: the same each time."""
    model, count = Model(model_of(nodes)), 0
    infer_types(model, ())

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    workspace, journal = Workspace(model), Journal()
    sys.setprofile(note)
    try:
        sweep_patterns(model, workspace, passes, {}, journal)
    finally:
        sys.setprofile(None)
    return count


def power_of(costs: Sequence[float]) -> float:
    """Return the exponent of the power of the nodes that fits the costs best."""
    logs = np.log(np.array(SIZES)), np.log(np.array(costs))
    return float(np.polyfit(*logs, 1)[0])


def main() -> int:
    """Measure, write the page, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patterns", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("-o", type=Path, default=RESULTS / "patterns.md")
    asked = parser.parse_args()
    fusions = [declared for declared in shipped_passes() if declared.pattern is not None]
    passes = (*many_patterns(asked.patterns), *fusions)
    rows = {nodes: Row() for nodes in SIZES}
    for _ in range(asked.repeat):  # what else the machine does is so spread over all sizes
        for nodes, row in rows.items():
            measure(nodes, passes, row)
    for nodes, row in rows.items():
        row.calls = calls_of(nodes, passes)
    power = power_of([row.sought for row in rows.values()])
    share = rows[JUDGED].sought / rows[JUDGED].plain
    asked.o.write_text(page(rows, power, share, len(passes)), encoding="utf-8")
    print(asked.o.read_text(encoding="utf-8"))
    return int(share > MOST_SHARE or power > MOST_POWER)


def page(rows: dict[int, Row], power: float, share: float, count: int) -> str:
    """Return the page."""
    lines = [
        "# What looking for many patterns costs",
        "",
        f"`python -m benchmarks.patterns`: {count} patterns, of which the last are those of the",
        "fusions that are shipped; CPU seconds, the best of the repeats. The calls of Python",
        "functions are the same in each run, whatever else the machine does.",
        "",
        "| nodes | load, infer, save | all patterns, sites applied | share | calls | sites |",
        "|---|---|---|---|---|---|",
    ]
    for nodes, row in rows.items():
        cpu = f"{row.plain:.2f} | {row.sought:.2f} | {row.sought / row.plain:.2f}"
        lines.append(f"| {nodes} | {cpu} | {row.calls} | {row.sites} |")
    calls = power_of([row.calls for row in rows.values()])
    return "\n".join(
        (
            *lines,
            "",
            f"At {JUDGED} nodes the patterns cost {share:.2f} times the rest (the limit is "
            f"{MOST_SHARE:g}); the growth exponent is {power:.2f} of the CPU and {calls:.2f} of "
            f"the calls (the limit is {MOST_POWER:g}).",
            "",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
