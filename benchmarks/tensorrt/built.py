"""Compares `check` with what TensorRT for RTX 1.7 made of models: parsed, built, refused.

    python -m benchmarks.tensorrt.built FACTS CORPUS [--target trt-rtx1.7 ...] [-o FILE]

FACTS is the folder with ``verdicts/models.zip`` and ``verdicts/rtx1.7.json``, CORPUS the one with
``verdicts_rtx1.7.json``. A model counts as built for us when `check` has no certain finding of
severity ``reject`` or ``builder``. Writes how often both agree, and each disagreement below the
reason for it, ``explained.toml`` next to this file; those without one come last. The engine is
in for TensorRT 10 and 11 as well, from which it differs by plugins and kernels.
"""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from benchmarks import RESULTS
from graphfix.analysis.inference import infer_model
from graphfix.engines.checking import check_model, file_findings
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.engines.versions import in_range
from graphfix.errors import GraphfixError
from graphfix.ir.model import Model
from graphfix.ir.storage.reading import read_model
from graphfix.report import Finding, Severity
from graphfix.validity.examination import examine

_EXPLAINED = tomllib.loads(Path(__file__).with_name("explained.toml").read_text("utf-8"))
_BLOCKING = (Severity.REJECT, Severity.BUILDER)
_KINDS = ("built", "parsed", "refused")


@dataclass(frozen=True, slots=True)
class Row:
    """What both said of one model.

    Attributes:
        name: The model.
        theirs: ``built``, ``parsed`` (and not built) or ``refused``.
        text: The engine's words.
        ours: What `check` says blocks, certain of it; or what is wrong with the file.
    """

    name: str
    theirs: str
    text: str
    ours: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether both say the same about building the model."""
        return (not self.ours) == (self.theirs == "built")

    @property
    def line(self) -> str:
        """What is printed."""
        return f"{self.name}: {self.theirs} {self.text[:150]} | {'; '.join(self.ours[:3])}"

    @property
    def whole(self) -> str:
        """What explanations are looked up in."""
        return f"{self.name}: {self.theirs} {self.text} | {'; '.join(self.ours)}"


def _row(name: str, verdict: Mapping[str, Any], load: Callable[[], Model], target: Target) -> Row:
    try:
        model = load()
        of_file = file_findings(examine(model).complaints, target)
        infer_model(model)
        found: tuple[Finding, ...] = (*of_file, *check_model(model, target))
        ours = tuple(
            f"{each.severity} {each.feature} at {each.node.op}"
            for each in found
            if each.severity in _BLOCKING and each.certain
        )
    except (GraphfixError, onnx.checker.ValidationError) as error:
        ours = (str(error).partition("\n")[0][:80],)
    built = verdict["built"] or any(re.match(known, name) for known in _EXPLAINED["refitted"])
    theirs = "built" if built else "parsed" if verdict["parsed"] else "refused"
    words = verdict.get("error") or verdict.get("log") or verdict.get("fault") or ""
    text_said = words if isinstance(words, str) else " ".join(words)
    text = " ".join(f"{verdict.get('op') or ''} {text_said}".split())
    return Row(name, theirs, text, ours)


def backend_rows(facts: Path, target: Target) -> Iterator[Row]:
    """Yield the rows of the backend models."""
    verdicts = json.loads((facts / "verdicts" / "rtx1.7.json").read_text())
    with zipfile.ZipFile(facts / "verdicts" / "models.zip") as archive:
        for name, verdict in verdicts.items():

            def load(name: str = name) -> Model:
                return Model(onnx.load_from_string(archive.read(name)))

            yield _row(name, verdict, load, target)


def open_rows(corpus: Path, target: Target) -> Iterator[Row]:
    """Yield the rows of a corpus folder."""
    for name, verdict in json.loads((corpus / "verdicts_rtx1.7.json").read_text()).items():

        def load(path: Path = corpus / name) -> Model:
            read = read_model(path)
            return Model(read.proto, path=read.path, is_text=read.is_text)

        yield _row(name, verdict, load, target)


def report(title: str, rows: list[Row], target: Target) -> Iterator[str]:
    """Yield the lines of one table: how both agree, and why where they do not."""
    agree = sum(row.agrees for row in rows)
    share = f"{100 * agree / len(rows):.2f}%"
    yield f"\n## {title}, {target.name}: {agree} of {len(rows)} agree, {share}"
    yield from ("", "| engine | models | check: builds | check: does not |", "|---|---|---|---|")
    table = Counter((row.theirs, not row.ours) for row in rows)
    for kind in _KINDS:
        taken, blocked = table[kind, True], table[kind, False]
        yield f"| {kind} | {taken + blocked} | {taken} | {blocked} |"
    reasons = [
        (re.compile(entry["pattern"]), entry["why"])
        for entry in _EXPLAINED["reasons"]
        if in_range(target, entry["targets"])
    ]
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if not row.agrees:
            known = (why for pattern, why in reasons if pattern.search(row.whole))
            found[next(known, "")].append(row)
    for why, those in sorted(found.items(), key=lambda pair: (not pair[0], pair[0])):
        yield f"\n{len(those)}: {why or 'not explained'}\n"
        yield from (f"- {row.line}" for row in those)


def main() -> None:
    """Run from the command line."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=Path)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--target", nargs="+", default=["trt-rtx1.7", "trt11.1", "trt10.10"])
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "rtx-verdicts.md")
    options = parser.parse_args()
    lines = ["# `check` beside what TensorRT for RTX 1.7.1 built for compute capability 8.6"]
    for name in options.target:
        target = load_target(name)
        for title, rows in (
            ("backend tests", backend_rows(options.facts, target)),
            ("open corpus", open_rows(options.corpus, target)),
        ):
            lines += report(title, list(rows), target)
    options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(line for line in lines if line.startswith(("#", "|")) or ": not" in line))


if __name__ == "__main__":
    main()
