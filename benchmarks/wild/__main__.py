"""Networks of public repositories that no one here has made: fetched, repaired and compared.

    python -m benchmarks.wild fetch FOLDER [--snapshots FOLDER]
    python -m benchmarks.wild run FOLDER --target trt8 [--rows FILE] [--seconds 400]
    python -m benchmarks.wild tools FOLDER --python PYTHON [--rows FILE] [--seconds 400]
    python -m benchmarks.wild page [--rows FILE]
    python -m benchmarks.wild gather FOLDER --snapshots FOLDER --without FOLDER --omit NAME ...

The list is ``benchmarks/wild.toml``; the models are not committed, and what is not in FOLDER is
passed over. A run continues after the rows of the last, and stops after ``--seconds``. ``tools``
wants a Python that has onnxsim, OnnxSlim and polygraphy. Half of the networks, by hash, may be
looked into; of the other half the page tells the numbers alone. It is ``results/wild.md``, where
``page`` keeps what is there of targets that have no row.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

if __name__ == "__main__":  # who imports this keeps the environment as it is
    # Before numpy is imported: a forked child must not inherit a pool of threads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import RESULTS
from benchmarks.children import graphfix_main
from benchmarks.ended import code_with
from benchmarks.wild.fetching import fetch
from benchmarks.wild.gathering import gathered
from benchmarks.wild.judging import blocking, runs, with_graphfix, with_tools
from benchmarks.wild.listing import LIST, Network, networks, save
from benchmarks.wild.page import page
from benchmarks.wild.rows import FOUND, Fact, Rows
from graphfix.engines.targets import load_target

TARGETS = ("trt8", "trt7", "trt10")


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    adding = {
        name: commands.add_parser(name) for name in ("fetch", "run", "tools", "page", "gather")
    }
    for name, command in adding.items():
        if name != "page":
            command.add_argument("folder", type=Path, help="the models")
        if name in ("run", "tools"):
            command.add_argument("--seconds", type=float, default=float("inf"))
        if name in ("run", "tools", "page"):
            command.add_argument("--rows", type=Path, default=Path("wild.jsonl"))
        if name in ("fetch", "gather"):
            command.add_argument("--snapshots", type=Path, required=name == "gather")
    adding["run"].add_argument("--target", required=True)
    adding["tools"].add_argument("--python", type=Path, required=True)
    adding["gather"].add_argument("--without", type=Path, required=True, help="models left out")
    adding["gather"].add_argument("--omit", nargs="*", default=[], help="repositories left out")
    adding["page"].add_argument("-o", "--output", type=Path, default=RESULTS / "wild.md")
    return parser.parse_args(words)


def measure(
    given: argparse.Namespace,
    kind: str,
    rows: Rows,
    judged: Callable[[Path], Fact],
    targets: Sequence[str] = (),
) -> None:
    """Keep a row for each network of a folder that has none yet, until time is over.

    Those that one of the targets rejects come first.
    """
    end, of = time.monotonic() + given.seconds, _revision()
    missing = list(_without(given.folder, kind, rows))
    missing.sort(key=lambda network: not _rejected(network, rows, targets))
    for number, network in enumerate(missing, 1):
        if time.monotonic() > end:
            print(f"{len(missing) - number + 1} are left", file=sys.stderr)
            return
        said = judged(network.at(given.folder))
        rows.keep(kind, network.sha256, **said, **({"revision": of} if of else {}))
        print(f"[{number}/{len(missing)}] {kind} {network.sha256[:12]}", file=sys.stderr)


def _rejected(network: Network, rows: Rows, targets: Sequence[str]) -> bool:
    return any(rows.get(target + FOUND, network.sha256).get("found") for target in targets)


def _revision() -> str:
    """Return the commit that is measured; empty outside of a clone."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _without(folder: Path, kind: str, rows: Rows) -> Iterator[Network]:
    for network in networks():
        if network.at(folder).is_file() and not rows.has(kind, network.sha256):
            yield network


def main(words: Sequence[str]) -> int:
    """Run a command; see the module."""
    given = arguments(words)
    if given.command == "fetch":
        return int(fetch(networks(), given.folder, given.snapshots) > 0)
    if given.command == "gather":
        return _gather(given)
    if given.command == "page":
        earlier = given.output.read_text(encoding="utf-8") if given.output.is_file() else ""
        kept = Rows(given.rows)
        text = page(networks(), kept, earlier)
        given.output.write_text(text, encoding="utf-8")
        print(f"written: {given.output}")
        return code_with(row.get("code") for kind in kept.kinds() for row in kept.of(kind))
    there = sum(network.at(given.folder).is_file() for network in networks())
    if not there:
        print(f"no network of the list is in {given.folder}; `fetch` brings them", file=sys.stderr)
        return 0
    rows = Rows(given.rows)
    names = [load_target(t).name for t in (TARGETS if given.command == "tools" else [given.target])]
    for name in names:
        measure(given, name + FOUND, rows, partial(_found, name))
    measure(given, "runs", rows, runs)
    if given.command == "run":
        main_of_graphfix, (name,) = graphfix_main(), names
        measure(given, name, rows, lambda p: with_graphfix(p, name, main_of_graphfix), names)
        return code_with(row["code"] for row in rows.of(name))
    running = {row["sha256"] for row in rows.of("runs") if row["runs"]}

    def of_tools(path: Path) -> Fact:
        return with_tools(path, names, given.python) if path.stem in running else {}

    measure(given, "tools", rows, of_tools, names)
    return 0


def _found(target: str, path: Path) -> Fact:
    return {"found": blocking(path, target)}


def _gather(given: argparse.Namespace) -> int:
    known = {sha256(path.read_bytes()).hexdigest() for path in given.without.rglob("*.onnx")}
    given.folder.mkdir(parents=True, exist_ok=True)
    found = gathered(given.snapshots, known, given.omit, given.folder)
    save(found)
    print(f"{len(found)} networks of {len({n.repository for n in found})} repositories: {LIST}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
