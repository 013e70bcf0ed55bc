"""Measure what a proof costs on top of a repair, in CPU of whole processes; write a table.

    python -m benchmarks.speed.proof_cost FOLDER [-o benchmarks/results/proof-cost.md]

FOLDER is the open corpus; quantized networks are generated (`benchmarks.speed.quantized`). CPU is
user and system time of a command and of all its children (`resource.getrusage`). Ends with 1 when a
limit is passed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from benchmarks import RESULTS, ROOT
from benchmarks.speed import quantized as generated
from benchmarks.speed.commands import SMALL, graphfix

TARGET = "trt8"
_NETWORKS = 5
# A site removes or adds nodes, so those with most sites are among those with most nodes.
_CANDIDATES = 16
_TRIES = 1
_SMALL_TRIES = 10
_FACTOR, _SECONDS = 2.0, 1.0
_SMALL_FACTOR = 2.5


@dataclass(frozen=True)
class Ran:
    """One command: CPU seconds, exit code, and what it printed."""

    cpu: float
    code: int
    printed: str


@dataclass(frozen=True)
class Proof:
    """A network with its costs: CPU seconds without and with proof, and what the proof said."""

    file: str
    sites: int
    plain: float
    proved: float
    code: int
    said: str

    @property
    def limit(self) -> float:
        """What the issue allows."""
        return _FACTOR * self.plain + _SECONDS

    @property
    def holds(self) -> bool:
        """Whether it is kept, and the repair was proved."""
        return self.proved <= self.limit and self.code == 0


def run(command: Sequence[str]) -> Ran:
    """Run a command and return what it and its children took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Ran(cpu, done.returncode, done.stdout)


def repair(model: Path, folder: Path, *further: str) -> list[str]:
    """Return the command line that repairs a model."""
    out = str(folder / "out.onnx")
    words = ("run", str(model), "--target", TARGET, "-o", out, "--force", "--json", *further)
    return graphfix(*words)


def sites_of(ran: Ran) -> int:
    """Return how many sites a run applied."""
    report = json.loads(ran.printed)
    outcomes = report.get("outcomes", [])
    return sum(len(o["sites"]) for o in outcomes if o["status"] == "applied")


def networks(root: Path, folder: Path) -> list[tuple[int, Path]]:
    """Return the networks with most sites, each with their number, the largest number first."""
    sizes: list[tuple[int, Path]] = []
    for path in sorted(root.rglob("*.onnx")):
        try:
            sizes.append((len(onnx.load(path, load_external_data=False).graph.node), path))  # pyright: ignore[reportUnknownMemberType]
        except Exception:  # files that are no models are part of the corpus
            continue
    sizes.sort(key=lambda entry: -entry[0])
    found = [
        (sites_of(run(repair(path, folder, "--verify", "off"))), path)
        for _, path in sizes[:_CANDIDATES]
    ]
    return sorted(found, key=lambda entry: -entry[0])[:_NETWORKS]


def prove(sites: int, path: Path, root: Path, folder: Path) -> Proof:
    """Measure one network with and without proof."""
    plain = [run(repair(path, folder, "--verify", "off")) for _ in range(_TRIES)]
    proved = [run(repair(path, folder)) for _ in range(_TRIES)]
    said = json.loads(proved[0].printed)["verification"]
    return Proof(
        path.relative_to(root).as_posix(),
        sites,
        min(one.cpu for one in plain),
        min(one.cpu for one in proved),
        proved[0].code,
        f"{said['status']} ({said['method']})",
    )


def quantized(folder: Path) -> list[Proof]:
    """Measure the generated networks."""
    found: list[Proof] = []
    for path in generated.write(folder / "quantized"):
        sites = sites_of(run(repair(path, folder, "--verify", "off")))
        found.append(prove(sites, path, path.parent, folder))
    return found


def small(folder: Path) -> tuple[float, float, int]:
    """Return the CPU of bare imports, that of a verified small run, and its exit code."""
    bare = [sys.executable, "-c", "import numpy, onnx, onnxruntime"]
    imports: list[float] = []
    runs: list[Ran] = []
    for _ in range(_SMALL_TRIES):  # in turns, so that a busy moment hits both
        imports.append(run(bare).cpu)
        runs.append(run(repair(SMALL, folder)))
    return min(imports), min(one.cpu for one in runs), max(one.code for one in runs)


def _rows(proofs: Sequence[Proof]) -> list[str]:
    lines = [
        "",
        "| network | sites | without proof | with proof | limit | holds | verification |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in proofs:
        lines.append(
            f"| {one.file} | {one.sites} | {one.plain:.2f} | {one.proved:.2f} | {one.limit:.2f} "
            f"| {'yes' if one.holds else '**no**'} | {one.said} |"
        )
    return lines


def render(
    proofs: Sequence[Proof], made: Sequence[Proof], imports: float, own: float, code: int
) -> tuple[str, bool]:
    """Return the table as Markdown, and whether every limit is kept."""
    lines = [
        "# What a proof costs",
        "",
        f"`python -m benchmarks.speed.proof_cost FOLDER`, Python {platform.python_version()}, "
        f"{os.cpu_count()} CPUs. CPU seconds of whole processes with their children, the small "
        f"model's the least of {_SMALL_TRIES} tries.",
        "",
        f"The {_NETWORKS} networks of the open corpus with most sites, for {TARGET}; limit: "
        f"{_FACTOR:g} x without proof + {_SECONDS:g} s, exit code 0.",
        *_rows(proofs),
        "",
        "Quantized networks of 640 x 640 images and 1,024 tokens, generated by "
        "`benchmarks.speed.quantized`, with the same limit:",
        *_rows(made),
    ]
    ratio = own / imports
    kept = ratio <= _SMALL_FACTOR and code == 0
    lines += [
        "",
        f"A small model ({SMALL.name}, {SMALL.stat().st_size} B), repaired and verified:",
        "",
        "| what | CPU seconds |",
        "|---|---|",
        f'| `python -c "import numpy, onnx, onnxruntime"` | {imports:.3f} |',
        f"| `graphfix run {SMALL.name} --target {TARGET}` | {own:.3f} |",
        f"| ratio, at most {_SMALL_FACTOR:g} | {ratio:.2f} ({'holds' if kept else '**no**'}) |",
        "",
    ]
    return "\n".join(lines), kept and all(one.holds for one in (*proofs, *made))


def main(words: Sequence[str]) -> int:
    """Measure and write; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "proof-cost.md")
    given = parser.parse_args(words)
    root = given.folder.resolve()
    # For `python -m graphfix` from a checkout that is not installed. Bytecode is cached, as it is
    # where a package is installed.
    os.environ["PYTHONPATH"] = str(ROOT)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="proof-cost-") as scratch:
        folder = Path(scratch)
        imports, own, code = small(folder)
        proofs = [prove(sites, path, root, folder) for sites, path in networks(root, folder)]
        made = quantized(folder)
    text, kept = render(proofs, made, imports, own, code)
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(text, encoding="utf-8")
    print(text)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
