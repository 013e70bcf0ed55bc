"""The shipped fusions on models that both exporters of PyTorch write.

    python -m benchmarks.fusions --pytorch PYTHON

`PYTHON` is an interpreter with PyTorch, onnx and onnxscript. Each module of `export.py` is exported
with the older exporter (TorchScript, opset 17; 13 where PyTorch writes the operator itself from 14
or 17 on) and the newer one (torch.export, opset 18), raised to opset 24, and given to its fusion,
after the passes that fold constants. Ends with 1 where fewer than twelve fusions are done in what
both exporters write: applied with equal results, or written by the exporter itself.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import onnx
from msgspec import Struct

import graphfix
from benchmarks import RESULTS
from graphfix.errors import GraphfixError

FOLDING = ("inline-functions", "constant-to-initializer", "identity-elimination", "fold-constants")
NEWEST = 24
FEWEST = 12
ITSELF = "written by the exporter"


class Row(Struct, frozen=True):
    """What a fusion made of one file."""

    name: str
    exporter: str
    before: str
    after: str
    verdict: str


def exported(python: str, folder: Path) -> tuple[str, list[list[str]]]:
    """Export all modules; return the release of PyTorch and the lines of the program."""
    program = Path(__file__).with_name("export.py")
    done = subprocess.run(
        [python, str(program), str(folder)], capture_output=True, text=True, check=True, timeout=900
    )
    lines = [line for line in done.stdout.splitlines() if "\t" in line]
    release = next(line for line in done.stdout.splitlines() if line.startswith("PyTorch "))
    return release, [line.split("\t") for line in lines]


def row_of(name: str, exporter: str, path: Path) -> Row:
    """Fuse what is in one file."""
    model = graphfix.load(path).to_proto()
    pass_id = name.partition(" ")[0]
    before = ops_of(model)
    try:
        raised = graphfix.run(model, opset=NEWEST, verify="off").model
        result = graphfix.run(raised, passes=[*FOLDING, pass_id], verify="auto")
    except GraphfixError as error:
        return Row(name, exporter, before, "", f"fails: {error}")
    applied = [
        str(outcome.status) for outcome in result.report.outcomes if outcome.pass_id == pass_id
    ]
    verdict = f"{', '.join(applied)}, {result.report.verification.status}"
    return Row(name, exporter, before, ops_of(result.model.to_proto()), verdict)


def ops_of(model: onnx.ModelProto) -> str:
    """Return the operators of a model, in order, constants left out."""
    return " ".join(n.op_type for n in model.graph.node if n.op_type != "Constant")


def main() -> int:
    """Export, fuse, write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pytorch", required=True, metavar="PYTHON")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        release, lines = exported(asked.pytorch, Path(folder))
        rows = [
            row_of(name, exporter, Path(folder, file))
            if file.endswith(".onnx")
            else Row(name, exporter, "", "", f"not exported: {file}")
            for name, exporter, file in lines
        ]
    rows = [own(row, rows) for row in rows]
    both = done_by(rows, "older") & done_by(rows, "newer")
    text = page(release, rows, sorted(both))
    (RESULTS / "fusions.md").write_text(text, encoding="utf-8")
    print(text)
    return int(len(both) < FEWEST)


def own(row: Row, rows: Sequence[Row]) -> Row:
    """Return a row that says so where an exporter writes what the fusion makes elsewhere."""
    made = {r.after for r in rows if r.name == row.name and r.verdict == "applied, equal"}
    itself = row.verdict.startswith("not_needed") and row.before in made
    return msgspec.structs.replace(row, verdict=ITSELF) if itself else row


def done_by(rows: Sequence[Row], exporter: str) -> set[str]:
    """Return the fusions that need not, or could, be applied to what an exporter writes."""
    good = ("applied, equal", ITSELF)
    wanted = Counter(row.name.partition(" ")[0] for row in rows if row.exporter == exporter)
    found = Counter(
        row.name.partition(" ")[0]
        for row in rows
        if row.exporter == exporter and row.verdict in good
    )
    return {name for name, count in wanted.items() if found[name] == count}


def page(release: str, rows: Sequence[Row], both: Sequence[str]) -> str:
    """Return the page."""
    lines = [
        "# Fusions on what PyTorch exports",
        "",
        f"`python -m benchmarks.fusions --pytorch PYTHON`, {release}: modules exported",
        f"with the older exporter and the newer one, raised to opset {NEWEST}, and given to their",
        "fusion; each result compared with the file as a whole.",
        "",
        "Done with both exporters, which means applied with equal results or written by the",
        f"exporter itself: {len(both)} fusions ({', '.join(both)}).",
        "",
        "| fusion | exporter | exported | afterwards | verdict |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.name} | {row.exporter} | {row.before} | {row.after} | {row.verdict} |"
        for row in rows
    ]
    return "\n".join((*lines, ""))


if __name__ == "__main__":
    sys.exit(main())
