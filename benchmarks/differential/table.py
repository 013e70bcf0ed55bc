"""The page of `differential.py`: what became of the models, by target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
STATUSES = ("equal", "unchanged", "unjudged", "exempt", "wild", "unloadable", "differs", "raises",
            "interface", "exception", "crashed")  # fmt: skip
FAULTS = ("differs", "raises", "interface", "exception", "crashed")


def page(rows: Sequence[Row], jobs: Sequence[str]) -> str:
    """Return the page.

    Args:
        rows: One for each model, job and mode of the proof.
        jobs: The targets and opsets, in order.
    """
    made = [r for r in rows if r["status"] != "no model"]
    lines = [
        "# Random graphs and families, judged",
        "",
        "Written by `benchmarks/differential/`, whose judge imports nothing of graphfix. Rows",
        "are what was asked for and how the run ended, columns what the judge said. A difference",
        "with exit code 0 is a fault; `wild` are those on NaN, infinities or numbers close to",
        "overflow that a pass does not claim, or beyond what an approximate pass stands for.",
    ]
    for verify, title in (("auto", "As users run it"), ("off", "Without the proof")):
        chosen = [r for r in made if r.get("verify", "auto") == verify]
        if chosen:
            lines += ["", f"## {title} (`verify={verify}`)", "", *_section(chosen, jobs)]
    return "\n".join(lines) + "\n"


def _section(made: Sequence[Row], jobs: Sequence[str]) -> list[str]:
    models = {r["index"]: r for r in made if "nodes" in r}
    graphs = [r for r in models.values() if r["name"].startswith("graph-")]
    nodes = sum(r["nodes"] for r in graphs)
    share = 100 * sum(r["touched"] for r in graphs) / max(nodes, 1)
    lines = [
        f"{len(models)} models ({len(graphs)} random graphs with {nodes} nodes, {share:.0f}% of",
        "them of operators that passes match; the others show one operator each).",
        "",
        "| job | exit | " + " | ".join(STATUSES) + " |",
        "|---|---:" + "|---:" * len(STATUSES) + "|",
    ]
    for job in jobs:
        for code in sorted({r.get("exit", -1) for r in made if r["job"] == job}):
            ended = [r for r in made if (r["job"], r.get("exit", -1)) == (job, code)]
            count = Counter(r["status"] for r in ended)
            cells = " | ".join(str(count[s]) for s in STATUSES)
            lines.append(f"| {job} | {code if code >= 0 else 'none'} | {cells} |")
    done = [r for r in made if r.get("exit", -1) == 0]
    judged = sum(r["status"] in ("equal", "exempt", "differs", "raises") for r in done)
    wrong = sum(r["status"] in FAULTS for r in done)
    samples = sum(r["samples"] for r in done if r["status"] == "equal")
    text = f"{len(done)} runs, {judged} results judged on {samples} samples, {wrong} differences"
    lines += ["", f"With exit code 0: {text}."]
    exempt = Counter(r["exemption"] for r in made if r["status"] == "exempt")
    if exempt:
        lines += ["", "Exempt, with a test that each is real:", ""]
        lines += [f"- {name}: {count}" for name, count in exempt.most_common()]
    faults = [r for r in made if r["status"] in FAULTS]
    if faults:
        lines += ["", "Faults:", ""]
        lines += [
            f"- {r['index']} {r.get('name', '')} {r['job']}, exit {r.get('exit')}: {r['status']}: "
            f"{r.get('text', '')[:160]}".replace("|", "/")
            for r in faults[:60]
        ]
    return lines
