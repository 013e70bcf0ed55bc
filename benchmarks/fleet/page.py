"""The page of results: what the parts of the benchmark left in the working folder."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.fleet import sweep

_MIB = 1 << 20


def text(corpus: Path, work: Path) -> str:
    """Return the page; parts that were not run are left out."""
    lines = [
        "# Many models",
        "",
        "`python -m benchmarks.fleet PART CORPUS --work DIR`, on 2 cores.",
    ]
    lines += _sweep(corpus, work)
    for name, part in (
        ("singly", _singly),
        ("throughput", _throughput),
        ("cache", _cache),
        ("dask", _dask),
        ("simulate", _simulated),
    ):
        path = work / f"{name}.json"
        if path.exists():
            lines += part(json.loads(path.read_text(encoding="utf-8")))
    return "\n".join(lines) + "\n"


def _sweep(corpus: Path, work: Path) -> list[str]:
    made, rows = sweep.pieces(work), sweep.rows(work)
    hostile = [row for row in rows if Path(row["model"]).is_relative_to(work.resolve())]
    ordinary = [row for row in rows if row not in hostile]
    lines = [
        "",
        "## The corpus, with twenty hostile files",
        "",
        "615 models and 20 files that crash, hang or want all memory, for two targets: started "
        f"{len(made)} times, killed by SIGKILL at a random moment {sum(p.killed for p in made)} "
        "times.",
        "",
        "| | |",
        "|---|---|",
        f"| rows | {len(rows)} of {len(rows) + sweep.missing(corpus, work)} |",
        f"| jobs with two rows | {sweep.twice(work)} |",
        f"| most memory of all processes together, MiB | {max(p.peak for p in made) // _MIB} |",
        f"| most processes at once | {max(p.most for p in made)} |",
        f"| processes left after a kill | {sum(p.orphans for p in made)} |",
        f"| processes ended by SIGSEGV from outside | {sum(p.crashed for p in made)} |",
        "",
        "| models | target | what became of them |",
        "|---|---|---|",
    ]
    for name, group in (("ordinary", ordinary), ("hostile", hostile)):
        for target in sorted({row["target"] for row in group}):
            codes = Counter(f"exit {row['exit']}" for row in group if row["target"] == target)
            text = ", ".join(f"{count} {code}" for code, count in sorted(codes.items()))
            lines.append(f"| {name} | {target} | {text} |")
    lines += ["", "| hostile file | target | exit | what is said |", "|---|---|---|---|"]
    for row in sorted(hostile, key=lambda row: (row["name"], row["target"])):
        said = row.get("message", "").replace("|", "\\|")
        lines.append(f"| {row['name']} | {row['target']} | {row['exit']} | {said} |")
    return lines


def _singly(found: Any) -> list[str]:
    lines = ["", "## Is the table right?", ""]
    lines.append(
        f"{found['runs']} rows, evenly spread, beside `graphfix run` on the same model alone: exit "
        "code, verdict, what stood in the way, what is left, and the bytes of the result: "
        f"{len(found['differ'])} differ."
    )
    return [
        *lines,
        *(
            f"- {each['model']}, {each['target']}: {', '.join(each['differs'])}"
            for each in found["differ"]
        ),
    ]


def _throughput(found: Any) -> list[str]:
    lines = ["", "## Two workers beside one", ""]
    lines += [f"{found['models']} models, evenly spread, trt8, proofs not shared.", ""]
    lines += ["| workers | seconds | CPU seconds | most memory, MiB |", "|---|---|---|---|"]
    for jobs in ("1", "2"):
        each = found[jobs]
        peak = each["peak"] // _MIB
        lines.append(f"| {jobs} | {each['seconds']:.0f} | {each['cpu']:.0f} | {peak} |")
    same = "the same" if found["same"] else "NOT the same"
    return [*lines, "", f"{found['ratio']:.2f} times the throughput; the tables are {same}."]


def _cache(found: Any) -> list[str]:
    cpu, looked = found["cpu"], found["hit"] + found["miss"]
    share = 100 * found["hit"] / looked if looked else 0.0
    lines = [
        "",
        "## Proofs shared between models",
        "",
        f"{found['models']} models, evenly spread, one after the other, trt8: of {looked} "
        f"different changed places {found['hit']} ({share:.0f}%) had been proved in an "
        f"earlier model. What the runs said was the same in all three for "
        f"{found['models'] - len(found['differ'])} of "
        f"{found['models']}.",
        "",
        "| | CPU seconds | |",
        "|---|---|---|",
    ]
    names = {"plain": "no certificates kept", "first": "kept, at first none", "again": "all known"}
    for kind, name in names.items():
        part = 100 * (1 - cpu[kind] / cpu["plain"])
        lines.append(f"| {name} | {cpu[kind]:.0f} | {part:.0f}% less |")
    lines += ["", "Without a hit the first two lines differ by the noise of the machine alone."]
    return [*lines, *(f"- otherwise: {model}" for model in found["differ"])]


def _dask(found: Any) -> list[str]:
    return [
        "",
        "## On a Dask scheduler",
        "",
        f"{found['models']} models on a scheduler with two workers, of which one was killed after "
        f"{found['killed_at']} rows: {found['rows']} rows, {found['twice']} jobs with two; "
        f"{len(found['differ'])} of {found['compared']} differ from the rows above.",
    ]


def _simulated(found: Any) -> list[str]:
    kept = found["kept"]
    part = found["models"] / kept["models"]
    return [
        "",
        f"## {found['models']:,} models",
        "",
        f"Simulated: seconds drawn from the {found['rows']} rows above (mean {found['mean']:.2f} "
        "s, measured beside other work, so rather too long), each worker taking the next job when "
        f"it is free. {found['worker_hours']:.0f} hours of one worker for one target.",
        "",
        "| workers | hours |",
        "|---|---|",
        *(f"| {count} | {hours:.1f} |" for count, hours in found["hours"].items()),
        "",
        f"The book-keeping was measured with {kept['models']:,} models that a crew had done at "
        f"once, and is told for {found['models']:,} in proportion:",
        "",
        "| | |",
        "|---|---|",
        f"| rows made and put on disk one by one, s | {part * kept['rows_s']:.0f} |",
        f"| nothing left to do: the same command again, s | {part * kept['resume_s']:.0f} |",
        f"| ledger, MB | {part * kept['ledger_bytes'] / 1e6:.0f} |",
        f"| page, MB (measured; it shows 2,000 rows) | {kept['page_bytes'] / 1e6:.1f} |",
        f"| memory at {kept['models']:,} models, MiB (measured) | {kept['peak_mib']:.0f} |",
    ]
