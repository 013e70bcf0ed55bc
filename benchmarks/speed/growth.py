"""Measure how the CPU time of `check` and `run` grows with the nodes of a chain; write a table.

    python -m benchmarks.speed.growth [--targets A,B] [--network FILE.onnx] [-o FILE]

`check` is measured with the newest target of every engine family, on chains of 1,000 to 8,000
nodes of `benchmarks/speed/chains.py`, `run` on some that need a repair at every node. Times are
user and system together, each from a heap without garbage. The exponent is the slope of a line
through the logarithms. `--network` adds `check` of a real network, next to that for TensorRT 8.6.

Writes `results/growth.md`, and ends with 1 where an exponent is above 1.1, or a target takes more
than twice the time of TensorRT 8.6 for the network.
"""

from __future__ import annotations

import argparse
import gc
import platform
import resource
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from onnx import ModelProto

import graphfix
from benchmarks import RESULTS
from benchmarks.speed.chains import CHAINS, mods, transposes
from graphfix.engines.engine import engines
from graphfix.ir.storage.reading import read_model

SIZES = (1_000, 8_000)
RUN_SIZES = (250, 2_000)
MOST, SHARE = 1.1, 2.0
ADJACENT = "trt8.6"
# What is run: the chain, the target that wants each of its nodes repaired, and how it is proved.
RUNS: tuple[tuple[str, Callable[[int], ModelProto], str, str], ...] = (
    ("Mod", mods, "trt7.0", "off"),
    ("Mod", mods, "trt7.0", "sites"),
    ("If", CHAINS["If"], "ncnn1.0", "off"),
    ("Transpose", transposes, "tflite1.29", "off"),
)


def targets() -> list[str]:
    """Return the newest target of every family, and the one that others are compared with."""
    return [ADJACENT, *(engine.names()[-1] for engine in engines() if engine.names())]


def grown(works: Sequence[Callable[[], object]], sizes: Sequence[int]) -> list[float]:
    """Return the mean CPU time of each work, children counted.

    As much is done of each size, the smaller ones half before and half after the largest: short
    work alone would now and then meet a quiet moment of the machine, and longer work never.

    Args:
        works: What is measured.
        sizes: How much each does, the largest last.
    """
    found = [0.0] * len(works)
    times = [max(1, sizes[-1] // size // 2) for size in sizes]
    first = list(range(len(works)))
    for at in (*first, *first[-2::-1]):
        for _ in range(times[at]):
            gc.collect()  # what was done before is not looked through in this one
            start = _spent()
            works[at]()
            found[at] += _spent() - start
    done = [2 * count for count in times[:-1]]
    return [total / count for total, count in zip(found, (*done, 1), strict=True)]


def _spent() -> float:
    """Return the CPU seconds so far; `os.times` counts in hundredths, a third of a short time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the slope of the line through the logarithms of sizes and times."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def checks(names: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the rows of the table on `check`, and whether each is as it should be."""
    for name in names:
        cells: list[str] = []
        worst = 0.0
        for make in CHAINS.values():
            graphfix.check(make(250), name)  # what is loaded once
            works = [partial(graphfix.check, make(size), name) for size in SIZES]
            times = grown(works, SIZES)
            slope = exponent(SIZES, times)
            worst = max(worst, slope)
            cells.append(f"{times[0]:.3f} to {times[-1]:.2f} s, {slope:.2f}")
        yield f"| {name} | {' | '.join(cells)} |", worst <= MOST


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(f"{size:,}" for size in sizes)


def runs() -> Iterator[tuple[str, bool]]:
    """Yield the rows of the table on `run`, and whether each is as it should be."""
    for chain, make, target, verify in RUNS:
        graphfix.run(make(30), target, verify=verify)
        works = [partial(graphfix.run, make(size), target, verify=verify) for size in RUN_SIZES]
        times = grown(works, RUN_SIZES)
        slope = exponent(RUN_SIZES, times)
        listed = ", ".join(f"{took:.2f}" for took in times)
        yield f"| {chain} | {target} | {verify} | {listed} | {slope:.2f} |", slope <= MOST


def network(path: Path, names: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the rows of the table on a network, and whether each is as it should be."""
    model = read_model(path).proto
    each = list(dict.fromkeys((ADJACENT, *names)))
    for name in each:
        graphfix.check(model, name)
    times = [grown([partial(graphfix.check, model, name)], [1])[0] for name in each]
    for name, took in zip(each, times, strict=True):
        yield f"| {name} | {took:.2f} | {took / times[0]:.2f} |", took <= SHARE * times[0]


Row = tuple[str, bool]


def table(
    checked: Sequence[Row], ran: Sequence[Row], called: str = "", real: Sequence[Row] = ()
) -> str:
    """Return the page; `called` is the network that `real` is about, empty without one."""
    sizes = f"{SIZES[0]:,} to {SIZES[-1]:,} nodes"
    lines = [
        "# Growth",
        "",
        "`python -m benchmarks.speed.growth"
        + (f" --network {called}" if called else "")
        + f"`, Python {platform.python_version()}: CPU seconds, and"
        f" the exponent of their growth, which is to be at most {MOST:g}.",
        "",
        f"## `check`, chains of {sizes}",
        "",
        f"| target | {' | '.join(CHAINS)} |",
        f"|---|{'---|' * len(CHAINS)}",
        *(row for row, _ in checked),
        "",
        "## `run`, every node repaired where the target wants that",
        "",
        f"| chain | target | `--verify` | seconds for {_listed(RUN_SIZES)} | exponent |",
        "|---|---|---|---|---|",
        *(row for row, _ in ran),
    ]
    if called:
        lines += [
            "",
            f"## `check` of {called}",
            "",
            f"| target | seconds | times those for {ADJACENT}, at most {SHARE:g} |",
            "|---|---|---|",
            *(row for row, _ in real),
        ]
    held = [good for _, good in (*checked, *ran, *real)]
    lines += ["", f"{sum(held)} of {len(held)} rows are as they should be."]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write the table, and say whether all is as it should be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--targets", default="", help="some targets in place of all families")
    parser.add_argument("--network", type=Path, help="a real network to check as well")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "growth.md")
    options = parser.parse_args(arguments)
    names = options.targets.split(",") if options.targets else targets()
    checked = list(checks(names))
    ran = list(runs())
    real: list[Row] = []
    if options.network is not None:
        real = list(network(options.network, names))
    called = "" if options.network is None else options.network.name
    options.output.write_text(table(checked, ran, called, real), encoding="utf-8")
    bad = [row for row, good in (*checked, *ran, *real) if not good]
    for row in bad:
        print(row)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
