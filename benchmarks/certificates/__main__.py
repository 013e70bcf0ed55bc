"""Prove every site of every model of a corpus for every TensorRT profile; count what came of it.

    python -m benchmarks.certificates sweep FOLDER [--targets a,b] [--pattern P] [-o OUT.md]
    python -m benchmarks.certificates table [-o OUT.md]
    python -m benchmarks.certificates cost [-o OUT.md]

`sweep` does what `graphfix run --verify sites --allow-io-change` does. It continues where an
earlier sweep by the same code ended. A target with the same findings and the same highest opset as
one that was run on a model stands for as that one and is not run. Proofs are remembered in a folder
(`--memory`) by the content of the site and of the code that proves. Ends with 1 when an exact site
has a mismatch or 5% of the sites or more are inconclusive. `cost` measures one model with 200
different sites against the limits of time, and ends with 1 where they do not hold.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

# Before numpy is imported: a forked child must not inherit a pool of threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import RESULTS
from benchmarks.certificates.cost import measure
from benchmarks.certificates.cost import render as render_cost
from benchmarks.certificates.sweep import Proofs, Row, row_of, run_model
from benchmarks.certificates.table import counts, render
from benchmarks.children import graphfix_main
from graphfix.engines.targets import target_names
from graphfix.ir.version import __version__

# Those that differ most from each other first, so that an early end says most.
FIRST = ("trt8.6", "trt7.0", "trt10.1", "trt5.1", "trt8.0", "trt8.4", "trt11.1")


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("do", choices=("sweep", "table", "cost"))
    parser.add_argument("folder", type=Path, nargs="?", help="with models below it")
    parser.add_argument("--targets", help="comma-separated; default: all of TensorRT")
    parser.add_argument("--pattern", default="*", help="which models, such as '*mod_*'")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one model")
    memory = Path(tempfile.gettempdir()) / "graphfix-certificates"
    parser.add_argument("--memory", type=Path, default=memory, help="what is remembered")
    parser.add_argument("-o", "--output", type=Path, help="default: results/certificates*.md")
    return parser.parse_args(words)


def all_targets() -> list[str]:
    """Return the TensorRT profiles, the most telling first."""
    found = [name for name in target_names() if name.startswith("trt")]
    return [*FIRST, *sorted(set(found) - set(FIRST))]


def sweep(given: argparse.Namespace, proofs: Proofs, rows: dict[tuple[str, str], Row]) -> None:
    """Run what has no row yet, small models first; write each row when it is there."""
    root = given.folder.resolve()
    models = [p for p in root.rglob("*.onnx") if fnmatch.fnmatch(p.name, given.pattern)]
    models.sort(key=lambda p: (p.stat().st_size, p.name))
    targets = given.targets.split(",") if given.targets else all_targets()
    begun = time.monotonic()
    with rows_file(proofs).open("a", encoding="utf-8") as log:
        for number, path in enumerate(models):
            name = path.relative_to(root).as_posix()
            left = [target for target in targets if (name, target) not in rows]
            if not left:
                continue
            done = [row for (model, _), row in rows.items() if model == name]
            with tempfile.TemporaryDirectory(prefix="certificates-") as scratch:
                for row in run_model(path, name, left, done, proofs, Path(scratch), given.timeout):
                    rows[row.model, row.target] = row
                    log.write(json.dumps(asdict(row)) + "\n")
            log.flush()
            spent = time.monotonic() - begun
            print(f"[{number + 1}/{len(models)}] {spent:.0f} s {name}", file=sys.stderr, flush=True)


def rows_file(proofs: Proofs) -> Path:
    """Return where rows are kept: next to the proofs, under the same name."""
    return proofs.path.with_name(proofs.path.name.replace("proofs-", "rows-"))


def read_rows(proofs: Proofs) -> dict[tuple[str, str], Row]:
    """Return the rows that the code as it is now has made."""
    path = rows_file(proofs)
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [row_of(json.loads(line)) for line in lines]
    return {(row.model, row.target): row for row in rows}


def main(words: Sequence[str]) -> int:
    """Sweep, or write the table of what was swept; see the module."""
    given = arguments(words)
    if given.do == "cost":
        cost = measure()
        write(render_cost(cost), given.output or RESULTS / "certificates-cost.md")
        return 0 if cost.holds() else 1
    proofs = Proofs.below(given.memory)
    rows = read_rows(proofs)
    if given.do == "sweep":
        if given.folder is None or not given.folder.is_dir():
            print("sweep needs a folder with models", file=sys.stderr)
            return 2
        graphfix_main()
        sweep(given, proofs, rows)
    costs = [entry["cost"] for entry in proofs.entries.values()]
    text = render(list(rows.values()), costs, __version__)
    write(text, given.output or RESULTS / "certificates.md")
    found = counts(list(rows.values()))
    return 1 if found.wrong or found.share_inconclusive >= 0.05 else 0


def write(text: str, output: Path) -> None:
    """Write a page and print it."""
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
