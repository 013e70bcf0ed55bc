"""Compares `check` with what TensorRT's own parser code said of models: verdicts.json.

    python -m benchmarks.tensorrt.verdicts FACTS [--target trt8.6 ...] [--open CORPUS] [-o FILE]

FACTS is the folder with ``verdicts/models.zip`` and ``verdicts/verdicts.json``; ``--open`` adds the
files of a corpus folder with its own ``verdicts.json``. A model counts as ok for us when `check`
has no certain finding of severity ``reject``; the operator counts as named when such a finding
is at a node of it. Writes the confusion tables with every disagreement, every model whose
operator is not named, and for each rule that says ``wrong`` of a model that is not marked as
misread the record of the facts that it comes from (tests/engines/tensorrt/records.toml).
"""

from __future__ import annotations

import json
import time
import tomllib
import zipfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from benchmarks import RESULTS, ROOT
from graphfix.analysis.inference import infer_model
from graphfix.engines.checking import check_model, file_findings
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.errors import GraphfixError
from graphfix.ir.model import Model
from graphfix.ir.storage.reading import read_model
from graphfix.report import Finding, Severity
from graphfix.validity.examination import examine

RECORDS = ROOT / "tests" / "engines" / "tensorrt" / "records.toml"


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
        """Whether a reject is at the operator that the engine named."""
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
        of_file = file_findings(examine(model).complaints, target)
        infer_model(model)
        findings = (*of_file, *check_model(model, target))
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
    return Model(read.proto, path=read.path, is_text=read.is_text)


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


def report(title: str, rows: list[Row], seconds: float) -> Iterator[str]:
    """Yield the lines of one table: how both agree, and where they do not."""
    yield f"\n## {title}: {len(rows)} models, {seconds:.1f} s of CPU\n"
    table = Counter((row.theirs, row.rejected, row.wrong and not row.rejected) for row in rows)
    yield "| verdict | models | check: ok | check: wrong | check: reject | agree |"
    yield "|---|---|---|---|---|---|"
    for theirs in ("ok", "misread", "parser", "network", "crash"):
        of = [row for row in rows if row.theirs == theirs]
        if not of:
            continue
        counts = [table[theirs, False, False], table[theirs, False, True]]
        counts.append(len(of) - sum(counts))
        agree = 100 * sum(row.agrees for row in of) / len(of)
        yield f"| {theirs} | {len(of)} | {' | '.join(map(str, counts))} | {agree:.1f}% |"
    agree = 100 * sum(row.agrees for row in rows) / len(rows)
    rejected = [row for row in rows if row.theirs in ("parser", "network") and row.rejected]
    named = 100 * sum(row.named for row in rejected) / max(1, len(rejected))
    misread = [row for row in rows if row.theirs == "misread"]
    wrong = f"{sum(row.wrong for row in misread)} of the {len(misread)} misread"
    unsure = sum(bool(row.unsure) for row in rows)
    yield f"\nAgreement {agree:.2f}%; the operator is named in {named:.1f}% of the rejected;"
    yield f"`wrong` in {wrong}; models with findings that are not certain: {unsure}.\n"
    for row in rows:
        ours = "; ".join(f"{f.severity} {f.feature} at {f.node.op}" for f in row.ours[:3])
        said = row.invalid or ours
        if not row.agrees:
            yield f"- disagree: {row.name}: {row.theirs} {row.op}: {row.text[:160]} | {said}"
        elif row in rejected and not row.named:
            yield f"- not named: {row.name}: {row.op}: {row.text[:100]} | {said[:200]}"
        elif row.theirs == "misread" and not row.wrong:
            yield f"- misread, no `wrong`: {row.name} | {said}"


def wrongs(rows: Iterable[Row]) -> Counter[str]:
    """Count the rules that say `wrong` of models that are neither rejected nor marked misread."""
    return Counter(
        rule
        for row in rows
        if row.theirs == "ok"
        for rule in {f.rule for f in row.ours if f.severity is Severity.WRONG}
    )


def cited(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield the record that each rule comes from; a rule without one is said to have none."""
    known = tomllib.loads(RECORDS.read_text())
    yield "\n## `wrong` where no shape shows it, with the record of the facts\n"
    yield "| rule | models | record |"
    yield "|---|---|---|"
    for rule, count in sorted(counts.items()):
        records = [
            f"{name}[{index}] {entry['op']} ({entry['effect']})"
            for name, entries in known.items()
            for index, entry in enumerate(entries)
            if rule in entry.get("rules", ()) and "S" in entry["effect"]
        ]
        yield f"| {rule} | {count} | {'; '.join(records) or 'none'} |"


def main() -> None:
    """Run from the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=Path)
    parser.add_argument("--target", nargs="+", default=["trt8.6", "trt10.1"])
    parser.add_argument("--open", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "trt-verdicts.md")
    options = parser.parse_args()
    lines = ["# `check` beside the verdicts of TensorRT's own parser code"]
    counts: Counter[str] = Counter()
    for name in options.target:
        target = load_target(name)
        jobs = [("backend tests", backend_rows(options.facts, target))]
        if options.open:
            jobs.append(("open corpus", open_rows(options.open, target)))
        for title, rows in jobs:
            begin = time.process_time()
            done = list(rows)
            lines += report(f"{title}, {target.name}", done, time.process_time() - begin)
            counts += wrongs(done)
    lines += cited(counts)
    options.output.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
