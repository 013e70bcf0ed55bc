"""200 patterns on models of 5,000 to 40,000 nodes: what looking for them costs.

    python -m benchmarks.patterns [--patterns 200] [--repeat 3] [-o FILE]

The patterns are all different, of four operators each, a third of them with commuted operands and
alternatives; the models repeat stretches of twelve nodes, in which some patterns are found whole
and most in part. The fusions that are shipped look for theirs as well. CPU seconds of this process
(`time.process_time`), the best of the repeats: loading, inferring and saving the model, and looking
for all patterns with every site applied. Ends with 1 when that takes more than twice as long at
20,000 nodes, or grows faster than the power 1.05 of the nodes between the smallest and the largest
model.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import onnx
from onnx import ModelProto, TensorProto, helper

import graphfix
from benchmarks import RESULTS
from graphfix.authoring import NAMED, Builder, Find, Match, Sought, Value, rewrite
from graphfix.authoring.declaring import Pass
from graphfix.authoring.workspace import Workspace
from graphfix.model import Model
from graphfix.pipeline.journal import Journal
from graphfix.pipeline.model_types import infer_types
from graphfix.pipeline.sweep import sweep_patterns
from graphfix.registry import shipped_passes

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


def measured(nodes: int, passes: Sequence[Pass], repeat: int) -> tuple[float, float, int]:
    """Return the CPU of load, infer and save, that of the patterns, and the number of sites."""
    with tempfile.TemporaryDirectory() as folder:
        path, copy = Path(folder, "model.onnx"), Path(folder, "copy.onnx")
        path.write_bytes(model_of(nodes).SerializeToString())
        plain: list[float] = []
        sought: list[float] = []
        sites = 0
        for _ in range(repeat):
            loaded: list[Model] = []

            def read(loaded: list[Model] = loaded) -> None:
                model = graphfix.load(path)
                infer_types(model, ())
                graphfix.save(model, copy)
                loaded.append(model)

            plain.append(cpu_of(read))
            (model,) = loaded
            journal = Journal()

            def look(model: Model = model, journal: Journal = journal) -> None:
                sweep_patterns(model, Workspace(model), passes, {}, journal)

            sought.append(cpu_of(look))
            sites = len(journal.applied)
    return min(plain), min(sought), sites


def main() -> int:
    """Measure, write the page, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patterns", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("-o", type=Path, default=RESULTS / "patterns.md")
    asked = parser.parse_args()
    fusions = [declared for declared in shipped_passes() if declared.pattern is not None]
    passes = (*many_patterns(asked.patterns), *fusions)
    rows = {nodes: measured(nodes, passes, asked.repeat) for nodes in SIZES}
    first, last = rows[SIZES[0]], rows[SIZES[-1]]
    power = math.log(last[1] / first[1]) / math.log(SIZES[-1] / SIZES[0])
    share = rows[JUDGED][1] / rows[JUDGED][0]
    asked.o.write_text(page(rows, power, share, len(passes)), encoding="utf-8")
    print(asked.o.read_text(encoding="utf-8"))
    return int(share > MOST_SHARE or power > MOST_POWER)


def page(rows: dict[int, tuple[float, float, int]], power: float, share: float, count: int) -> str:
    """Return the page."""
    lines = [
        "# What looking for many patterns costs",
        "",
        f"`python -m benchmarks.patterns`: {count} patterns, of which the last are those of the",
        "fusions that are shipped; CPU seconds, the best of the repeats.",
        "",
        "| nodes | load, infer, save | all patterns, sites applied | share | sites |",
        "|---|---|---|---|---|",
    ]
    for nodes, (plain, sought, sites) in rows.items():
        lines.append(f"| {nodes} | {plain:.2f} | {sought:.2f} | {sought / plain:.2f} | {sites} |")
    return "\n".join(
        (
            *lines,
            "",
            f"At {JUDGED} nodes the patterns cost {share:.2f} times the rest (the limit is "
            f"{MOST_SHARE:g}); the growth exponent is {power:.2f} (the limit is {MOST_POWER:g}).",
            "",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
