"""Whether the table of a fleet is right: rows next to `graphfix run` on the same model alone."""

from __future__ import annotations

import hashlib
import json
import subprocess
import time
from pathlib import Path
from typing import Any

from benchmarks.fleet.sweep import GRAPHFIX, LIMITS, rows


def compare(work: Path, count: int, seconds: float) -> dict[str, Any]:
    """Run a sample of the rows again, and return what is otherwise; it continues where it was.

    Args:
        work: The folder of the sweep.
        count: How many rows, evenly spread.
        seconds: When to stop for now.
    """
    path, until = work / "singly.jsonl", time.monotonic() + seconds
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    known = {each["key"]: each for each in map(json.loads, lines)}
    made = [row for row in rows(work) if "crash-" not in row["model"]]
    for row in made[:: max(1, len(made) // count)][:count]:
        if time.monotonic() > until:
            break
        if row["key"] in known:
            continue
        known[row["key"]] = _one(row, work / "single.onnx")
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(known[row["key"]]) + "\n")
    return {"runs": len(known), "differ": [each for each in known.values() if each["differs"]]}


def _one(row: dict[str, Any], output: Path) -> dict[str, Any]:
    output.unlink(missing_ok=True)
    words = [*GRAPHFIX, "run", row["model"], "--target", row["target"], "-o", str(output)]
    done = subprocess.run([*words, *LIMITS, "--json"], capture_output=True, text=True, check=False)
    report = json.loads(done.stdout)
    verification: dict[str, Any] = report.get("verification") or {}
    verdict = str(verification.get("status", ""))
    differs: list[str] = []
    if done.returncode != row["exit"]:
        differs.append(f"exit {row['exit']}, alone {done.returncode}")
    if verdict != row.get("verdict", ""):
        differs.append(f"verdict {row.get('verdict', '')!r}, alone {verdict!r}")
    if "error" not in report:
        for name, field in (("findings_before", "before"), ("findings_after", "left")):
            blocking = {
                each["feature"]
                for each in report[name]
                if each["severity"] in ("reject", "wrong", "builder")
            }
            if blocking != set(row.get(field, {})):
                differs.append(f"{field} {sorted(row.get(field, {}))}, alone {sorted(blocking)}")
    written = Path(row["output"]) if row.get("output") else None
    alone = report["output"]["path"] if report.get("output") else None
    if (written is None) != (alone is None):
        differs.append("a result was written by one of both alone")
    elif written is not None and alone is not None and _sum(written) != _sum(Path(alone)):
        differs.append("other bytes")
    return {"key": row["key"], "model": row["model"], "target": row["target"], "differs": differs}


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
