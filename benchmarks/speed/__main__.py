"""Measure graphfix against the limits that it promises, and against polygraphy; write a table.

    python -m benchmarks.speed [-o benchmarks/results/speed.md] [--gib 100]

CPU seconds (user, or with those of the system where it says CPU) and peak resident memory are those
of the command and of all its children. Ends with 1 when a limit is passed. Polygraphy is compared
with where it is installed next to Python.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from benchmarks import RESULTS, ROOT
from benchmarks.references import Array, difference
from benchmarks.speed.commands import SMALL, graphfix
from benchmarks.speed.generate import main as generate

_SIZES = (2_000, 5_000, 20_000)
_TRIES, _FEW, _TURNS = 10, 5, 3
_HELP, _SMALL = 1.2, 2.5  # times the imports without which nothing can be done
_SHARE, _GROWTH, _MEGABYTES = 0.25, 1.05, 150  # of polygraphy's CPU; of 20,000 nodes


@dataclass(frozen=True)
class Cost:
    """What one command took: CPU and wall seconds, peak MB, its exit code, its last words."""

    user: float
    cpu: float
    wall: float
    megabytes: float
    code: int
    said: str


@dataclass(frozen=True)
class Line:
    """One line of the table: what was run, what it gave, the limit, and whether it holds."""

    what: str
    result: str
    limit: str = ""
    holds: bool = True


def measure(command: Sequence[str], folder: Path) -> Cost:
    """Run a command in a folder and return its cost."""
    said = folder / "said.txt"
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        try:
            output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.chdir(folder)
            os.execvp(command[0], list(command))
        finally:
            os._exit(127)
    _, status, used = os.wait4(child, 0)
    wall = time.monotonic() - start
    code = os.waitstatus_to_exitcode(status)
    lines = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    cpu = used.ru_utime + used.ru_stime
    return Cost(used.ru_utime, cpu, wall, used.ru_maxrss / 1024, code, lines[-1] if lines else "")


def many_nodes(folder: Path) -> list[Line]:
    """Compare with polygraphy on 20,000 nodes; measure smaller ones for the growth."""
    lines: list[Line] = []
    costs: dict[int, Cost] = {}
    for size in _SIZES:
        source, out = folder / f"n{size}.onnx", folder / f"n{size}.out.onnx"
        generate(["nodes", str(size), str(source)])
        words = ("run", source.name, "--target", "trt8", "--verify", "off", "-o", out.name)
        costs[size] = measure(graphfix(*words), folder)
        lines.append(_cost_line(f"graphfix {shlex.join(words)}", costs[size], out))
    growth = np.log(costs[_SIZES[-1]].user / costs[_SIZES[1]].user)
    growth /= np.log(_SIZES[-1] / _SIZES[1])
    what = "growth exponent of user CPU, 5,000 to 20,000 nodes"
    lines.append(Line(what, f"{growth:.2f}", f"at most {_GROWTH:g}", bool(growth <= _GROWTH)))
    peak = costs[_SIZES[-1]].megabytes
    what = "memory for 20,000 nodes"
    lines.append(Line(what, f"{peak:.0f} MB", f"at most {_MEGABYTES} MB", peak <= _MEGABYTES))
    source, ours = folder / f"n{_SIZES[-1]}.onnx", folder / f"n{_SIZES[-1]}.out.onnx"
    lines.append(_equal_outputs("graphfix", source, ours))
    tool = Path(sys.executable).with_name("polygraphy")
    if not tool.exists():
        return [*lines, Line("polygraphy", "not installed: not compared")]
    theirs = folder / "polygraphy.onnx"
    sanitize = ("surgeon", "sanitize", source.name, "--fold-constants", "-o", theirs.name)
    again = ("run", source.name, "--target", "trt8", "--verify", "off", "-o", ours.name, "--force")
    own, foreign = _in_turns(graphfix(*again), [str(tool), *sanitize], folder, _TURNS)
    mine, other = (min(costs, key=lambda cost: cost.user) for costs in (own, foreign))
    lines.append(_cost_line(f"polygraphy {shlex.join(sanitize)}", other, theirs))
    lines.append(_equal_outputs("polygraphy", source, theirs))
    quicker = Line(
        f"graphfix / polygraphy, user CPU, least of {_TURNS} each in turns",
        f"{mine.user / other.user:.2f} ({mine.user:.2f} s / {other.user:.2f} s)",
        f"at most {_SHARE:g}",
        mine.user <= _SHARE * other.user,
    )
    if not ours.exists() or not theirs.exists():
        return [*lines, quicker]
    left = len(onnx.load(ours).graph.node), len(onnx.load(theirs).graph.node)  # pyright: ignore[reportUnknownMemberType]
    fewer = Line("nodes left, graphfix / polygraphy", f"{left[0]} / {left[1]}", "at most as many")
    return [*lines, quicker, Line(fewer.what, fewer.result, fewer.limit, left[0] <= left[1])]


def _cost_line(what: str, cost: Cost, out: Path) -> Line:
    nodes = f", {len(onnx.load(out).graph.node)} nodes left" if out.exists() else ""  # pyright: ignore[reportUnknownMemberType]
    result = f"{cost.user:.2f} s user, {cost.megabytes:.0f} MB{nodes}"
    if cost.code in (0, 1) and out.exists():
        return Line(what, result, "writes a file")
    return Line(what, f"exit code {cost.code}: {cost.said}", "writes a file", False)


def _equal_outputs(tool: str, source: Path, out: Path) -> Line:
    """Compare the outputs of two files on inputs for which the output differs.

    In ONNX's own evaluator: onnxruntime without optimisations takes minutes to load 20,000 nodes.
    """
    what = f"outputs of the 20,000 nodes after {tool}"
    if not out.exists():
        return Line(what, "no file", "equal", False)
    before, after = ReferenceEvaluator(str(source)), ReferenceEvaluator(str(out))
    random = np.random.default_rng(20)
    seen: list[Array] = []
    for _ in range(3):
        feeds = {"x": random.normal(size=(4, 16)).astype(np.float32)}
        expected, result = (np.asarray(next(iter(e.run(None, feeds)))) for e in (before, after))  # pyright: ignore[reportUnknownMemberType]
        wrong = difference(result, expected)
        if wrong:
            return Line(what, wrong, "equal", False)
        seen.append(expected)
    if np.array_equal(seen[0], seen[1]):
        return Line(what, "the output does not depend on the input", "equal", False)
    return Line(what, "equal on 3 inputs", "equal")


def help_text(folder: Path) -> list[Line]:
    """Compare the start of the program with the import of click."""
    plain = [sys.executable, "-c", "import click"]
    ours, theirs = _in_turns(graphfix("--help"), plain, folder, _TRIES)
    return [
        Line("graphfix --help, best of 10", _milliseconds(ours)),
        Line('python -c "import click", best of 10', _milliseconds(theirs)),
        _ratio("ratio of the two, CPU", _cpu(ours) / _cpu(theirs), _HELP, ours),
        _ratio("ratio of the two, wall", _wall(ours) / _wall(theirs), _HELP, ours),
    ]


def small_model(folder: Path) -> list[Line]:
    """Repair and verify a model of less than 1 KB; compare with the imports that it takes."""
    out = folder / "small.onnx"
    words = graphfix("run", str(SMALL), "--target", "trt8", "-o", str(out))
    plain = [sys.executable, "-c", "import numpy, onnx, onnxruntime"]
    ours, theirs = _in_turns(words, plain, folder, _FEW)
    what = f"graphfix run {SMALL.relative_to(ROOT)} --target trt8 ({SMALL.stat().st_size} B)"
    wall, codes = _wall(ours), {cost.code for cost in ours}
    holds = wall < 3 and codes == {0} and out.exists()
    result = f"{_milliseconds(ours)}, exit code {', '.join(map(str, sorted(codes)))}"
    return [
        Line(what, result, "below 3 s, exit code 0", holds),
        Line('python -c "import numpy, onnx, onnxruntime", best of 5', _milliseconds(theirs)),
        _ratio("ratio of the two, CPU", _cpu(ours) / _cpu(theirs), _SMALL, ours),
    ]


def _in_turns(
    ours: Sequence[str], theirs: Sequence[str], folder: Path, tries: int
) -> tuple[list[Cost], list[Cost]]:
    """Measure two commands in turns, so that a busy moment hits both."""
    pairs = [(measure(ours, folder), measure(theirs, folder)) for _ in range(tries)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _cpu(costs: Sequence[Cost]) -> float:
    return min(cost.cpu for cost in costs)


def _wall(costs: Sequence[Cost]) -> float:
    return min(cost.wall for cost in costs)


def _milliseconds(costs: Sequence[Cost]) -> str:
    return f"{1000 * _cpu(costs):.0f} ms CPU, {1000 * _wall(costs):.0f} ms wall"


def _ratio(what: str, ratio: float, limit: float, ours: Sequence[Cost]) -> Line:
    holds = ratio <= limit and all(cost.code == 0 for cost in ours)
    return Line(what, f"{ratio:.2f}", f"at most {limit:g}", holds)


def sparse_weights(folder: Path, gib: int) -> list[Line]:
    """Repair a model whose weights are far larger than the memory."""
    generate(["sparse", str(folder / "sparse.onnx"), "--gib", str(gib)])
    words = ("run", "sparse.onnx", "--target", "trt8.2", "--verify", "off", "-o", "sparse.out.onnx")
    cost = measure(graphfix(*words), folder)
    out = folder / "sparse.out.onnx"
    gone = out.exists() and not any(
        node.op_type == "Mod"
        for node in onnx.load(out, load_external_data=False).graph.node  # pyright: ignore[reportUnknownMemberType]
    )
    result = f"{cost.megabytes:.0f} MB, {cost.wall:.2f} s wall, exit code {cost.code}"
    result += "" if gone else f", not repaired: {cost.said}"
    what = f"graphfix {shlex.join(words)} ({gib} GiB of sparse external data)"
    return [Line(what, result, "below 300 MB, repaired", gone and cost.megabytes < 300)]


def render(lines: Sequence[Line]) -> str:
    """Return the table as Markdown."""
    text = [
        "# Speed and memory",
        "",
        f"`python -m benchmarks.speed`, Python {platform.python_version()}, {os.cpu_count()} CPUs.",
        "The models come from `benchmarks.speed.generate`; commands run in the folder they lie in.",
        "Polygraphy needs sympy for its symbolic inference; without, it runs a pass for each node.",
        "",
        "| what | measured | limit | holds |",
        "|---|---|---|---|",
    ]
    for line in lines:
        verdict = ("yes" if line.holds else "**no**") if line.limit else ""
        result = line.result.replace("|", "\\|")
        text.append(f"| `{line.what}` | {result} | {line.limit} | {verdict} |")
    return "\n".join([*text, ""])


def main(words: Sequence[str]) -> int:
    """Measure and write; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "speed.md")
    parser.add_argument("--gib", type=int, default=100)
    given = parser.parse_args(words)
    # For `python -m graphfix` from a checkout that is not installed.
    os.environ["PYTHONPATH"] = str(ROOT)
    with tempfile.TemporaryDirectory(prefix="speed-") as scratch:
        folder = Path(scratch)
        lines = [*help_text(folder), *small_model(folder), *many_nodes(folder)]
        lines += sparse_weights(folder, given.gib)
    text = render(lines)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(text, encoding="utf-8")
    print(text)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
