"""Make folding and passes wrong at some sizes or overrides, and count what proofs catch.

    python -m benchmarks.size_mutants [--only KIND] [-o FILE]

Each mutant is wrong above a size, next to a number, or where a caller overrides an initializer. It
is run without proof first and judged by onnxruntime alone; it counts where a result differs. With
proof it is caught when the result differs on none of the inputs any more. Whether the site
showed it, or the comparison of the whole model, is distinguished.

Writes `results/size-mutants.md`; ends with 1 where fewer than 98% are caught or 60 count.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto

from benchmarks import RESULTS
from benchmarks.size_mutants import of_folding, of_overrides, of_rewrites
from benchmarks.size_mutants.mutant import Feed, Mutant
from graphfix.api import run
from graphfix.ir.model import Model
from graphfix.report import Verdict
from graphfix.worker.sessions import open_session

LEAST, SHARE = 60, 0.98


@dataclass(frozen=True)
class Row:
    """What became of a mutant.

    Attributes:
        mutant: The mutant.
        wrong: At how many inputs the result differs without proof.
        left: At how many it differs with proof.
        by: What showed it: ``site``, ``whole``, or nothing.
    """

    mutant: Mutant
    wrong: int
    left: int = 0
    by: str = ""


def main(given: Sequence[str] | None = None) -> int:
    """Run all mutants and write the table."""
    parser = argparse.ArgumentParser(description="see the head of this file")
    parser.add_argument("--only", default="", help="kinds that contain this text")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "size-mutants.md")
    options = parser.parse_args(given)
    every = (*of_folding.mutants(), *of_rewrites.mutants(), *of_overrides.mutants())
    rows = [measured(mutant) for mutant in every if options.only in mutant.kind]
    text = page(rows)
    options.output.write_text(text, encoding="utf-8")
    counted = [row for row in rows if row.wrong]
    caught = [row for row in counted if not row.left]
    enough = len(counted) >= LEAST or bool(options.only)
    return 0 if enough and len(caught) >= SHARE * len(counted) else 1


def measured(mutant: Mutant) -> Row:
    """Run a mutant without and with proof."""
    proto = mutant.proto()
    wrong = _differing(proto, _result(mutant, proto, "off")[0], mutant.feeds())
    if not wrong:
        return Row(mutant, 0)
    result, by = _result(mutant, proto, "auto")
    return Row(mutant, wrong, _differing(proto, result, mutant.feeds()), by)


def _result(mutant: Mutant, proto: ModelProto, verify: str) -> tuple[ModelProto, str]:
    arguments: dict[str, Any] = {"target": "ort"}
    if mutant.passes:
        arguments = {"passes": list(mutant.passes)}
    with mutant.state():
        found = run(Model(proto), verify=verify, **arguments)
    sites = [site.certificate for outcome in found.report.outcomes for site in outcome.sites]
    by = ""
    if any(site is not None and site.status is Verdict.MISMATCH for site in sites):
        by = "site"
    elif found.exit_code == 4 or any(o.status == "failed" for o in found.report.outcomes):
        by = "whole"
    return found.model.to_proto(), by


def _differing(before: ModelProto, after: ModelProto, feeds: Sequence[Feed]) -> int:
    sessions = [open_session(model.SerializeToString()) for model in (before, after)]
    count = 0
    for feed in feeds:
        try:
            wanted = sessions[0].run(None, feed)
        except Exception:  # the model does not take these
            continue
        try:
            got = sessions[1].run(None, feed)
        except Exception:  # the result does not take what the model takes
            count += 1
            continue
        count += not all(
            one.shape == other.shape and np.array_equal(one, other, equal_nan=True)
            for one, other in zip(wanted, got, strict=True)
        )
    return count


def page(rows: Sequence[Row]) -> str:
    """Return the table."""
    counted = [row for row in rows if row.wrong]
    caught = [row for row in counted if not row.left]
    lines = [
        "# Rewrites that are wrong at some sizes or overrides alone",
        "",
        "`python -m benchmarks.size_mutants`",
        "",
        f"{len(rows)} made, {len(counted)} of them give another result somewhere, {len(caught)} of "
        f"these ({len(caught) / max(len(counted), 1):.1%}) are caught.",
        "",
        "| kind | made | wrong | caught | by the site | by the whole model |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for kind in dict.fromkeys(row.mutant.kind for row in rows):
        of = [row for row in rows if row.mutant.kind == kind]
        wrong = [row for row in of if row.wrong]
        seen = [row for row in wrong if not row.left]
        by = [sum(row.by == where for row in seen) for where in ("site", "whole")]
        numbers = (len(of), len(wrong), len(seen), *by)
        lines.append(f"| {kind} | {' | '.join(map(str, numbers))} |")
    survivors = [row for row in counted if row.left]
    if survivors:
        lines += ["", "## Not caught", ""]
        lines += [
            f"- {row.mutant.kind}: {row.mutant.text} (wrong at {row.left} inputs)"
            for row in survivors
        ]
    unseen = [row.mutant.text for row in rows if not row.wrong]
    if unseen:
        lines += ["", "Without effect on any input: " + "; ".join(unseen) + "."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
