"""Compares `check` with what TensorRT's own parser code said of models: verdicts.json.

    python benchmarks/trt_verdicts.py FACTS [--target trt8.6] [--open CORPUS] [--list]

FACTS is the folder with ``verdicts/models.zip`` and ``verdicts/verdicts.json``; ``--open`` adds the
files of a corpus folder with its own ``verdicts.json``. A model counts as ok for us when `check`
has no certain finding of severity ``reject``.
"""

from __future__ import annotations

import json
import sys
import time
import zipfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from graphfix.checking import check_model
from graphfix.errors import GraphfixError
from graphfix.inference import infer_model
from graphfix.model import Model
from graphfix.report import Finding, Severity
from graphfix.storage.reading import read_model
from graphfix.targets.profiles import Target, load_target


@dataclass(frozen=True, slots=True)
class Row:
    """What both said of one model.

    Attributes:
        name: The model.
        theirs: The verdict: ``ok``, ``misread``, ``parser``, ``network`` or ``crash``.
        op: The operator that the engine named.
        text: The engine's text.
        ours: The rejects and wrongs of `check`, certain ones.
        unsure: Those that `check` was not certain of.
        invalid: What was wrong with the file; empty for most.
    """

    name: str
    theirs: str
    op: str
    text: str
    ours: tuple[Finding, ...]
    unsure: int
    invalid: str

    @property
    def rejected(self) -> bool:
        """Whether `check` says that the engine refuses the model."""
        return bool(self.invalid) or any(f.severity is Severity.REJECT for f in self.ours)

    @property
    def wrong(self) -> bool:
        """Whether `check` says that the engine computes something else."""
        return any(f.severity is Severity.WRONG for f in self.ours)

    @property
    def agrees(self) -> bool:
        """Whether both say the same about taking the model."""
        return self.rejected == (self.theirs not in ("ok", "misread"))

    @property
    def named(self) -> bool:
        """Whether a reject stands at the operator that the engine named."""
        return not self.op or any(f.node.op == self.op for f in self.ours)


def _kind(verdict: Mapping[str, Any]) -> str:
    if verdict["ok"]:
        return "misread" if verdict.get("misread") else "ok"
    return "crash" if verdict.get("crash") else str(verdict.get("origin"))


def _row(name: str, verdict: Mapping[str, Any], load: Any, target: Target) -> Row:
    findings: tuple[Finding, ...] = ()
    invalid = ""
    try:
        model: Model = load()
        infer_model(model)
        findings = check_model(model, target)
    except (GraphfixError, onnx.checker.ValidationError) as error:
        invalid = str(error).partition("\n")[0]
    blocking = [f for f in findings if f.severity in (Severity.REJECT, Severity.WRONG)]
    return Row(
        name=name,
        theirs=_kind(verdict),
        op=verdict.get("op") or "",
        text=(verdict.get("text") or "").replace("\n", " "),
        ours=tuple(f for f in blocking if f.certain),
        unsure=sum(not f.certain for f in blocking),
        invalid=invalid,
    )


def _read(path: Path) -> Model:
    read = read_model(path)
    return Model(read.proto, path=read.path)


def backend_rows(facts: Path, target: Target) -> Iterator[Row]:
    """Yield the rows of the backend models."""
    verdicts = json.loads((facts / "verdicts" / "verdicts.json").read_text())
    with zipfile.ZipFile(facts / "verdicts" / "models.zip") as archive:
        for name, verdict in verdicts.items():

            def load(name: str = name) -> Model:
                return Model(onnx.load_from_string(archive.read(f"{name}.onnx")))

            yield _row(name, verdict[target.name], load, target)


def open_rows(corpus: Path, target: Target) -> Iterator[Row]:
    """Yield the rows of a corpus folder."""
    verdicts = json.loads((corpus / "verdicts.json").read_text())
    for name, verdict in verdicts.items():
        yield _row(name, verdict[target.name], lambda path=corpus / name: _read(path), target)


def show(title: str, rows: list[Row], seconds: float, listed: bool) -> None:
    """Print the confusion table, and every disagreement when `listed`."""
    print(f"\n## {title}: {len(rows)} models, {seconds:.1f} s\n")
    table = Counter((row.theirs, row.rejected, row.wrong and not row.rejected) for row in rows)
    print("| verdict | models | check: ok | check: wrong | check: reject | agree |")
    print("|---|---|---|---|---|---|")
    for theirs in ("ok", "misread", "parser", "network", "crash"):
        of = [row for row in rows if row.theirs == theirs]
        if not of:
            continue
        counts = [table[theirs, False, False], table[theirs, False, True]]
        counts.append(len(of) - sum(counts))
        agree = 100 * sum(row.agrees for row in of) / len(of)
        print(f"| {theirs} | {len(of)} | {' | '.join(map(str, counts))} | {agree:.1f}% |")
    agree = 100 * sum(row.agrees for row in rows) / len(rows)
    rejected = [row for row in rows if row.theirs in ("parser", "network") and row.rejected]
    named = 100 * sum(row.named for row in rejected) / max(1, len(rejected))
    misread = [row for row in rows if row.theirs == "misread"]
    wrong = f"{sum(row.wrong for row in misread)} of the {len(misread)} misread"
    unsure = sum(bool(row.unsure) for row in rows)
    print(f"\nagreement {agree:.2f}%; operator named in {named:.1f}% of the rejected;")
    print(f"`wrong` in {wrong}; models with unsure findings: {unsure}")
    if not listed:
        return
    for row in rows:
        if not row.agrees:
            ours = "; ".join(
                f"{f.severity} {f.rule} {f.feature} at {f.node.op}" for f in row.ours[:3]
            )
            print(f"- {row.name}: {row.theirs} {row.op} {row.text[:160]} | {row.invalid or ours}")
    for row in misread:
        if not row.wrong:
            print(f"- {row.name}: misread, no `wrong` ({[f.feature for f in row.ours]})")


def main() -> None:
    """Run from the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--target", default="trt8.6")
    parser.add_argument("--open", type=Path)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    target = load_target(options.target)
    jobs = [("backend tests", backend_rows(options.facts, target))]
    if options.open:
        jobs.append(("open corpus", open_rows(options.open, target)))
    for title, rows in jobs:
        begin = time.perf_counter()
        done = list(rows)
        show(f"{title}, {target.name}", done, time.perf_counter() - begin, options.list)


if __name__ == "__main__":
    main()
