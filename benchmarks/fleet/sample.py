"""A sample of a corpus under `graphfix batch`: two workers, proofs that are shared, Dask."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from benchmarks.children import call_in_child, graphfix_main
from benchmarks.fleet.sweep import GRAPHFIX, TARGETS, rows
from benchmarks.fleet.watching import Watched, watch
from graphfix.proving.sites.cases import StoredCase
from graphfix.proving.sites.certificate_cache import CertificateCache
from graphfix.report import Certificate

_GIB = 1 << 30


def sampled(corpus: Path, count: int, work: Path) -> Path:
    """Write which models of a corpus there are in a sample, evenly spread, and return the file."""
    models = sorted(corpus.rglob("*.onnx"))
    step = max(1, len(models) // count)
    work.mkdir(parents=True, exist_ok=True)
    found = work / "sample.txt"
    chosen = models[::step][:count]
    found.write_text("".join(f"{path.resolve()}\n" for path in chosen), encoding="utf-8")
    return found


def throughput(corpus: Path, count: int, work: Path) -> dict[str, Any]:
    """Return how long one worker and two take for the same sample, and what they hold."""
    models = sampled(corpus, count, work)
    found: dict[str, Any] = {"models": len(models.read_text(encoding="utf-8").splitlines())}
    for jobs in (1, 2):
        out = work / f"jobs-{jobs}"
        shutil.rmtree(out, ignore_errors=True)
        words = [*GRAPHFIX, "batch", f"@{models}", "--target", TARGETS[0], "--out", str(out)]
        words += ["--jobs", str(jobs), "--no-cache", "--json"]
        seen = watch(words, work / "said.json", look=1.0)
        found[str(jobs)] = {
            "seconds": seen.seconds,
            "cpu": seen.cpu,
            "peak": seen.peak,
            "rows": json.loads(seen.said)["targets"],
        }
    found["ratio"] = found["1"]["seconds"] / found["2"]["seconds"]
    found["same"] = found["1"]["rows"] == found["2"]["rows"]
    return found


def shared_proofs(corpus: Path, count: int, work: Path) -> dict[str, Any]:
    """Return what a sample costs without certificates of other models, and with them."""
    models = sampled(corpus, count, work).read_text(encoding="utf-8").splitlines()
    main, counts = graphfix_main(), {"hit": 0, "miss": 0, "kept": 0}
    spent = {"plain": 0.0, "first": 0.0, "again": 0.0}
    differ: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder, log = Path(name), Path(name, "log.txt")
        _count(log)
        for model in models:
            words = ["run", model, "--target", TARGETS[0], "-o", str(folder / "out.onnx")]
            words += ["--force", "--json"]
            said: list[Any] = []
            for kind in spent:
                kept = [] if kind == "plain" else ["--certificates", str(folder / "kept")]
                seen = watch([*GRAPHFIX, *words, *kept], folder / "said.json")
                spent[kind] += seen.cpu
                said.append(_reported(seen))
            log.write_text("", encoding="utf-8")
            scratch = folder / "scratch"
            scratch.mkdir(exist_ok=True)
            again = [*words, "--certificates", str(folder / "counted")]
            call_in_child(partial(main, again), scratch, timeout=300, memory_bytes=8 * _GIB)
            for line in log.read_text(encoding="utf-8").split():
                counts[line] += 1
            if said[0] != said[1] or said[0] != said[2]:
                differ.append(model)
    return {"models": len(models), "cpu": spent, **counts, "differ": differ}


def _reported(seen: Watched) -> Any:
    """Return what a run said but for times and for how many samples were the model's own values."""
    report = json.loads(seen.said)
    report.pop("seconds", None)
    sites = [site for outcome in report.get("outcomes", ()) for site in outcome["sites"]]
    for site in sites:
        proof: dict[str, Any] = site.get("certificate") or {}
        for name in ("own", "samples", "max_abs", "max_rel"):
            proof.pop(name, None)
    return seen.code, report


def _count(log: Path) -> None:
    """Have each look for a certificate, and each that is kept, noted in a file."""
    get, put = CertificateCache.get, CertificateCache.put

    def note(what: str) -> None:
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{what}\n")

    def counted_get(self: CertificateCache, digest: bytes, case: StoredCase) -> Certificate | None:
        found = get(self, digest, case)
        note("miss" if found is None else "hit")
        return found

    def counted_put(
        self: CertificateCache, digest: bytes, case: StoredCase, certificate: Certificate
    ) -> None:
        note("kept")
        put(self, digest, case, certificate)

    CertificateCache.get, CertificateCache.put = counted_get, counted_put  # type: ignore[method-assign]


def on_dask(corpus: Path, count: int, work: Path) -> dict[str, Any]:
    """Return what becomes of a sample on a scheduler with two workers, one of which is killed."""
    models = sampled(corpus, count, work)
    out = work / "dask"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    options = ("--no-dashboard", "--host", "127.0.0.1", "--port", "0")
    scheduler = _python("distributed.cli.dask_scheduler", *options, stderr=subprocess.PIPE)
    assert scheduler.stderr is not None
    address = next(filter(None, (re.search(r"tcp://\S+", line) for line in scheduler.stderr)))[0]
    threading.Thread(target=scheduler.stderr.read, daemon=True).start()
    worker = ("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny")
    workers = [_python(*worker, "--no-dashboard", "--local-directory", str(out)) for _ in "ab"]
    words = [*GRAPHFIX, "batch", f"@{models}", "--target", TARGETS[0], "--scheduler", address]
    killed_at = [0]

    def kill() -> None:
        while not killed_at[0]:
            there = _lines(out / "rows.jsonl")
            if there > count // 3:
                os.kill(workers[0].pid, signal.SIGKILL)
                killed_at[0] = there
            time.sleep(0.2)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    seen: Watched = watch([*words, "--out", str(out), "--json"], work / "said.json")
    for process in (*workers, scheduler):
        process.kill()
        process.wait()
    made = json.loads(seen.said)["rows"]
    known = {(row["model"], row["target"]): _verdict(row) for row in rows(work)}
    compared = [row for row in made if (row["model"], row["target"]) in known]
    keys = [json.loads(line)["key"] for line in (out / "rows.jsonl").read_text().splitlines()]
    return {
        "models": len(models.read_text(encoding="utf-8").splitlines()),
        "rows": len(made),
        "killed_at": killed_at[0],
        "twice": len(keys) - len(set(keys)),
        "compared": len(compared),
        "differ": [
            row["model"] for row in compared if _verdict(row) != known[row["model"], row["target"]]
        ],
        "seconds": seen.seconds,
    }


def _python(module: str, *words: str, stderr: int | TextIO = subprocess.DEVNULL) -> Any:
    return subprocess.Popen([sys.executable, "-m", module, *words], stderr=stderr, text=True)


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _verdict(row: Any) -> tuple[Any, ...]:
    return row["exit"], row.get("verdict", ""), row.get("left", {}), row.get("repairs", {})
