"""One model of a corpus against many targets, with a certificate for each site: rows of a sweep."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import ROOT
from benchmarks.children import call_in_child
from graphfix.api import check
from graphfix.engines.targets import load_target
from graphfix.ir.model import Model
from graphfix.pipeline.finishing import finish
from graphfix.pipeline.model_files import as_model, load
from graphfix.pipeline.settings import RunOptions
from graphfix.proving.sites.prover import Memory
from graphfix.report import Certificate, Verdict

# What decides on a proof apart from the site: a remembered proof is used again while none changes.
_PROVING = ("proving", "worker", "report")


@dataclass(frozen=True)
class SiteRow:
    """What a site was certified as.

    Attributes:
        pass_id: The pass.
        op: The operator that it matched.
        accuracy: Its label.
        status: The certificate's; `none` where none is needed, `mismatch` for what was rolled back.
        reason: Why, where it is not equal.
        samples: On how many input sets.
        own: How many of them were values that the model itself computed there.
    """

    pass_id: str
    op: str
    accuracy: str
    status: str
    reason: str = ""
    samples: int = 0
    own: int = 0


@dataclass(frozen=True)
class Row:
    """What became of one model for one target.

    Attributes:
        model: Its path below the root.
        target: The target.
        same_as: A target with the same findings, which stands for this one.
        alike: What targets have in common that stand for each other.
        sites: What was done.
        seconds: Wall time of the run.
        error: Why there is none.
    """

    model: str
    target: str
    same_as: str = ""
    alike: str = ""
    sites: tuple[SiteRow, ...] = ()
    seconds: float = 0.0
    error: str = ""


@dataclass
class Proofs:
    """Proofs that runs share, kept in a file that is named after the code that makes them.

    Attributes:
        path: One JSON object to a line.
        entries: By the hexadecimal key of a site's content.
    """

    path: Path
    entries: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    @classmethod
    def below(cls, folder: Path) -> Proofs:
        """Open those that were made by the code as it is now."""
        digest = hashlib.sha256()
        root = ROOT / "graphfix"
        for name in _PROVING:
            own = [root / name] if name.endswith(".py") else (root / name).rglob("*.py")
            for path in sorted(own):
                digest.update(path.read_bytes())
        folder.mkdir(parents=True, exist_ok=True)
        proofs = cls(folder / f"proofs-{digest.hexdigest()[:16]}.jsonl")
        for line in proofs.path.read_text().splitlines() if proofs.path.exists() else ():
            entry = json.loads(line)
            proofs.entries[entry["key"]] = entry
        return proofs

    def add(self, entries: Sequence[dict[str, Any]]) -> None:
        """Keep some more."""
        with self.path.open("a", encoding="utf-8") as stream:
            for entry in entries:
                self.entries[entry["key"]] = entry
                stream.write(json.dumps(entry) + "\n")


def run_model(
    path: Path,
    name: str,
    targets: Sequence[str],
    done: Sequence[Row],
    proofs: Proofs,
    scratch: Path,
    timeout: float,
) -> list[Row]:
    """Run one model for some targets in a child with limits; keep what was proved.

    Args:
        path: The model.
        name: What the rows call it.
        targets: The targets that it is run for.
        done: The rows of other targets.
        proofs: What other runs proved; it grows.
        scratch: An empty folder.
        timeout: Seconds for all targets together.
    """
    earlier = {row.alike: row.target for row in done if row.alike and not row.same_as}
    ended = call_in_child(
        lambda: _answer(path, name, targets, earlier, proofs.entries),
        scratch,
        timeout=timeout,
        memory_bytes=12 * 2**30,
    )
    rows: list[Row] = []
    for line in ended.stdout.splitlines():
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        proofs.add(answer["proofs"])
        rows.append(row_of(answer["row"]))
    answered = {row.target for row in rows}
    last = (ended.stderr.strip().splitlines() or [f"ended with {ended.code}"])[-1]
    why = f"killed after {timeout:g} s" if ended.timed_out else last
    return [*rows, *(Row(name, t, error=why) for t in targets if t not in answered)]


def row_of(entry: Mapping[str, Any]) -> Row:
    """Return a row that was written as JSON."""
    fields: dict[str, Any] = {**entry, "sites": tuple(SiteRow(**site) for site in entry["sites"])}
    return Row(**fields)


def _answer(
    path: Path,
    name: str,
    targets: Sequence[str],
    earlier: dict[str, str],
    entries: Mapping[str, dict[str, Any]],
) -> int:
    """Print a line of JSON for each target."""
    memory = Memory()
    for key, entry in entries.items():
        memory.known[bytes.fromhex(key)] = _certificate(entry)
    model = load(path)
    for target in targets:
        before = set(memory.known)
        start = perf_counter()
        try:
            alike = _alike(model, target)
            if alike in earlier:
                row = Row(name, target, same_as=earlier[alike], alike=alike)
            else:
                sites = _sites(model, target, memory)
                row = Row(name, target, alike=alike, sites=sites)
                earlier[alike] = target
        except Exception as error:  # reported in the table
            row = Row(name, target, error=f"{type(error).__name__}: {error}")
        fresh = [key for key in memory.known if key not in before]
        answer = {
            "row": {**asdict(row), "seconds": round(perf_counter() - start, 3)},
            "proofs": [_entry(key, memory) for key in fresh],
        }
        print(json.dumps(answer), flush=True)
    return 0


def _alike(model: Model, target: str) -> str:
    """Return what targets have in common for which a run does the same to a model."""
    profile = load_target(target)
    found = check(model, target)
    what = [(f.feature, f.severity, f.certain, f.node.scope, f.node.index) for f in found]
    text = repr((sorted(map(repr, what)), profile.opset_max))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _sites(model: Model, target: str, memory: Memory) -> tuple[SiteRow, ...]:
    settings = RunOptions(target=target, allow_io_change=True, verify="sites").settings()
    report = finish(as_model(model), settings, (), memory).report
    rows: list[SiteRow] = []
    for outcome in report.outcomes:
        if outcome.status not in ("applied", "failed"):
            continue
        for site in outcome.sites:
            proof = site.certificate
            if proof is None:
                status = "none" if outcome.status == "applied" else "failed"
                rows.append(
                    SiteRow(outcome.pass_id, site.node.op, site.accuracy, status, outcome.reason)
                )
            else:
                rows.append(
                    SiteRow(
                        outcome.pass_id,
                        site.node.op,
                        site.accuracy,
                        proof.status,
                        proof.reason,
                        proof.samples,
                        proof.own,
                    )
                )
    return tuple(rows)


def _certificate(entry: Mapping[str, Any]) -> Certificate:
    fields = {name: value for name, value in entry.items() if name not in ("key", "cost", "status")}
    return Certificate(Verdict(entry["status"]), **fields)


def _entry(key: bytes, memory: Memory) -> dict[str, Any]:
    return {"key": key.hex(), "cost": memory.costs.get(key, 0.0), **asdict(memory.known[key])}
