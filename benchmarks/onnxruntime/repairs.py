"""Repair models for old releases of onnxruntime, and load and run them there.

    python -m benchmarks.onnxruntime.repairs FOLDER [--to 1.8 1.10] [--pattern P] [--limit N]
        [-o FILE]

Takes the `*.onnx` below FOLDER that the newest onnxruntime runs, on the `in_*` of the `.npz` next
to them or on inputs that are made. Each is repaired for `ort-<release>`; the result clean is loaded
and run in that release, in an environment of its own (`old_engines.py`), and compared with what the
original computes in the newest one. graphfix's own comparison is off: the engine is the judge.

Writes `results/old-runtimes.md` and ends with 1 where less than 95% of what was repaired runs with
equal outputs.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.external_data_helper import load_external_data_for_model

from benchmarks import RESULTS
from benchmarks.children import call_in_child
from benchmarks.onnxruntime.releases import CHILD, RELEASES, interpreter
from benchmarks.references import difference, run_model
from graphfix.api import run
from graphfix.proving.inputs import make_feeds

STATUSES = ("equal", "differs", "does not run", "does not load")
_WANTED = ("1.8", "1.10", "1.12", "1.15", "1.17")
_SHARE = 95.0
_GIB = 1024**3


@dataclass(frozen=True)
class Row:
    """What became of one model for one release."""

    name: str
    minor: str
    status: str
    reason: str = ""


def prepare(path: Path, place: Path) -> bool:
    """Store the inputs and what the newest onnxruntime computes; False where it runs nothing."""
    arrays = _feed(path, onnx.load(path, load_external_data=False))  # pyright: ignore[reportUnknownMemberType]
    if arrays is None:
        return False
    given = {f"in_{name}": value for name, value in arrays.items()}
    outputs = run_model(path, given)
    place.mkdir(parents=True)
    np.savez(place / "in.npz", **{name: _plain(value) for name, value in given.items()})
    expected = {f"out_{i}": _plain(value) for i, value in enumerate(outputs.values())}
    np.savez(place / "expected.npz", **expected)
    return True


def _feed(path: Path, proto: Any) -> dict[str, Any] | None:
    own = {tensor.name for tensor in proto.graph.initializer}
    names = [value.name for value in proto.graph.input if value.name not in own]
    stored = path.with_suffix(".npz")
    if not stored.is_file():
        made = list(make_feeds(proto, samples=1))
        return dict(made[0]) if made else None
    with np.load(stored, allow_pickle=False) as opened:
        arrays = dict(opened)
    feed: dict[str, Any] = {}
    for position, name in enumerate(names):
        number = name[1:] if name[1:].isdigit() else str(position)
        feed[name] = arrays.get(f"in_{number}", arrays.get(f"in_{name}"))
    return feed


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype(str) if array.dtype == object else array


def repair(path: Path, minor: str, place: Path) -> str:
    """Write the model for a release to ``<minor>.onnx``; return why not, or an empty text."""
    result = run(str(path), target=f"ort-{minor}", verify="off")
    if result.exit_code:
        left = {f"{f.feature}: {f.message}" for f in result.report.findings_after if f.blocks}
        return " | ".join(sorted(left)) or f"exit code {result.exit_code}"
    proto = result.model.to_proto()
    load_external_data_for_model(proto, str(path.parent))
    onnx.save(proto, place / f"{minor}.onnx")  # pyright: ignore[reportUnknownMemberType]
    return ""


def convert(path: Path, place: Path, minors: Sequence[str]) -> dict[str, str] | None:
    """Prepare and repair one model in a child of its own; None where nothing could be prepared."""

    def work() -> int:
        if not prepare(path, place):
            return 0
        for minor in minors:
            try:
                why = repair(path, minor, place)
            except Exception as error:
                why = f"raised {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            with (place / "repairs.jsonl").open("a", encoding="utf-8") as out:
                out.write(json.dumps([minor, why]) + "\n")
        return 0

    with tempfile.TemporaryDirectory(prefix="old-") as scratch:
        call_in_child(work, Path(scratch), timeout=600, memory_bytes=12 * _GIB)
    found = place / "repairs.jsonl"
    if not found.is_file():
        return None
    lines = found.read_text(encoding="utf-8").splitlines()
    return dict.fromkeys(minors, "raised: it ended early") | dict(map(json.loads, lines))


def run_there(minor: str, places: Mapping[str, Path], scratch: Path) -> dict[str, Row]:
    """Load and run the repaired models in a release and compare; one row per model."""
    home = scratch / f"run-{minor}"
    home.mkdir()
    for place in places.values():
        (home / f"{place.name}.onnx").symlink_to(place / f"{minor}.onnx")
        (home / f"{place.name}.npz").symlink_to(place / "in.npz")
    answers = home / "answers.jsonl"
    child = [str(interpreter(minor)), str(CHILD), "run", str(home), str(answers)]
    subprocess.run(child, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    said = {row["name"]: row for row in map(json.loads, answers.read_text().splitlines())}
    return {
        name: _judged(name, minor, said[f"{place.name}.onnx"], place, home)
        for name, place in places.items()
    }


def _judged(name: str, minor: str, said: Mapping[str, Any], place: Path, home: Path) -> Row:
    if not said.get("ran"):
        status = "does not run" if said.get("loaded") else "does not load"
        return Row(name, minor, status, " ".join(str(said.get("error")).split())[:300])
    with (
        np.load(place / "expected.npz") as expected,
        np.load(home / f"{place.name}.out.npz") as out,
    ):
        wanted = [expected[key] for key in expected.files]
        given = [out[key] for key in out.files]
    if len(wanted) != len(given):
        return Row(name, minor, "differs", f"{len(given)} outputs, expected {len(wanted)}")
    for position, (one, other) in enumerate(zip(given, wanted, strict=True)):
        if one.dtype.kind != "U" or other.dtype.kind != "U":
            wrong = difference(one, other)
        else:
            wrong = "" if np.array_equal(one, other) else "texts differ"
        if wrong:
            return Row(name, minor, "differs", f"output {position}: {wrong}")
    return Row(name, minor, "equal")


def sweep(given: argparse.Namespace, scratch: Path) -> list[Row]:
    """Repair everything, then run everything in each release."""
    rows: list[Row] = []
    places: dict[str, dict[str, Path]] = {minor: {} for minor in given.to}
    found = sorted(given.folder.rglob("*.onnx"))
    chosen = [p for p in found if fnmatch.fnmatch(str(p.relative_to(given.folder)), given.pattern)]
    for number, path in enumerate(chosen[: given.limit]):
        name = str(path.relative_to(given.folder))
        place = scratch / f"m{number:04}"
        for minor, why in (convert(path, place, given.to) or {}).items():
            if why:
                rows.append(Row(name, minor, "refused", why))
            else:
                places[minor][name] = place
        if number % 50 == 49:
            print(number + 1, file=sys.stderr)
    for minor, of_minor in places.items():
        rows += run_there(minor, of_minor, scratch).values()
        print(minor, file=sys.stderr)
    return rows


def table(rows: Sequence[Row], minors: Sequence[str], seconds: float) -> str:
    """Return the figures, then what went wrong, then what was refused."""
    ort: Any = import_module("onnxruntime")
    lines = [
        "# Old runtimes",
        "",
        "Models repaired for a release of onnxruntime and run in that release, compared with the "
        f"original in onnxruntime {ort.__version__}; {seconds:.0f} s.",
        "",
        "| target | wheel | models | refused | converted | "
        + " | ".join(STATUSES)
        + " | equal % |",
        "|---|---|---|---|---|" + "---|" * (len(STATUSES) + 1),
    ]
    for minor in minors:
        counts = Counter(row.status for row in rows if row.minor == minor)
        done = sum(counts[status] for status in STATUSES)
        cells = " | ".join(str(counts[status]) for status in STATUSES)
        lines.append(
            f"| ort-{minor} | {RELEASES[minor]} | {done + counts['refused']} | {counts['refused']} "
            f"| {done} | {cells} | {share(rows, minor):.1f} |"
        )
    for title, statuses in (("Not equal", STATUSES[1:]), ("Refused", ("refused",))):
        lines += [
            "",
            f"## {title}",
            "",
            "| target | model | status | reason |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| ort-{row.minor} | {row.name} | {row.status} | {row.reason.replace('|', '/')} |"
            for row in rows
            if row.status in statuses
        ]
    return "\n".join(lines) + "\n"


def share(rows: Sequence[Row], minor: str) -> float:
    """Return how many of the repaired models are equal in a release, in percent."""
    of_minor = [row for row in rows if row.minor == minor and row.status in STATUSES]
    equal = sum(row.status == "equal" for row in of_minor)
    return 100 * equal / len(of_minor) if of_minor else 0.0


def main(words: Sequence[str]) -> int:
    """Sweep and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--to", nargs="+", default=list(_WANTED), choices=list(RELEASES))
    parser.add_argument("--pattern", default="*")
    parser.add_argument("--limit", type=int)
    parser.add_argument("-o", type=Path, default=RESULTS / "old-runtimes.md")
    given = parser.parse_args(words)
    given.folder = given.folder.resolve()
    for name in ("graphfix.api", "graphfix.proving.inputs", "onnxruntime"):
        import_module(name)  # once, before the children are forked
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="old-runtimes-") as scratch:
        rows = sweep(given, Path(scratch))
    given.o.write_text(table(rows, given.to, time.monotonic() - begin), encoding="utf-8")
    return int(any(share(rows, minor) < _SHARE for minor in given.to))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
