"""The page of `differential.py`: what became of the models, by target."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
STATUSES = ("equal", "unchanged", "unjudged", "exempt", "wild", "unloadable", "differs", "raises",
            "interface", "exception", "crashed")  # fmt: skip
FAULTS = ("differs", "raises", "interface", "exception", "crashed")


def page(rows: Sequence[Row], jobs: Sequence[str], verify: str) -> str:
    """Return the page.

    Args:
        rows: One for each model and job.
        jobs: The targets and opsets, in order.
        verify: The mode of the runs.
    """
    made = [r for r in rows if r["status"] != "no model"]
    models = {r["index"]: r for r in made if "nodes" in r}
    graphs = [r for r in models.values() if r["name"].startswith("graph-")]
    nodes = sum(r["nodes"] for r in graphs)
    share = 100 * sum(r["touched"] for r in graphs) / max(nodes, 1)
    lines = [
        "# Random graphs and families, judged",
        "",
        f"{len(models)} models ({len(graphs)} random graphs with {nodes} nodes, {share:.0f}% of",
        "them of operators that passes match; the others show one operator each), `graphfix.run`",
        f"with `verify={verify}`; written by `benchmarks/differential.py`, whose judge imports",
        "nothing of graphfix. Rows are what was asked for and how the run ended, columns what the",
        "judge said. A difference with exit code 0 is a fault; `wild` are those on NaN, infinities",
        "or numbers beyond float32 that a pass does not claim or calls approximate.",
        "",
        "| job | exit | " + " | ".join(STATUSES) + " |",
        "|---|---:" + "|---:" * len(STATUSES) + "|",
    ]
    for job in jobs:
        for code in sorted({r.get("exit", -1) for r in made if r["job"] == job}):
            count = Counter(
                r["status"] for r in made if r["job"] == job and r.get("exit", -1) == code
            )
            cells = " | ".join(str(count[s]) for s in STATUSES)
            lines.append(f"| {job} | {code if code >= 0 else 'none'} | {cells} |")
    ended = [r for r in made if r.get("exit", -1) == 0]
    judged = sum(r["status"] in ("equal", "exempt", "differs", "raises") for r in ended)
    wrong = sum(r["status"] in FAULTS for r in ended)
    samples = sum(r["samples"] for r in ended if r["status"] == "equal")
    lines += ["", f"With exit code 0: {len(ended)} runs, {judged} results judged on {samples} "
              f"samples, {wrong} differences."]  # fmt: skip
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
    return "\n".join(lines) + "\n"
