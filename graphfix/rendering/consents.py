"""Consents that let passes try what is left, and the command that gives one."""

from __future__ import annotations

import re

from graphfix.ir.printing import in_code, shell_line
from graphfix.rendering.grouping import distinct
from graphfix.rendering.style import capped
from graphfix.rendering.wording import problems
from graphfix.report import Accuracy, Report, Status

_LOSSY = "--allow-lossy"
_CONSENT = re.compile(r"--allow-(?:lossy|io-change)\b")
_CHANGES = {
    _LOSSY: "the outputs change",
    "--allow-io-change": "inputs or outputs get another type or shape",
    f"--allow-io-change {_LOSSY}": "inputs or outputs get another type, and the outputs change",
}


def consents(report: Report) -> list[str]:
    """Return one sentence for each consent that would let passes try what is left.

    Where each problem that is left wants the same one, with the command that gives it.
    """
    left = problems(report.findings_after)
    able = {name for f in left for name in f.removed_by}
    wanted = [{options for _, options in f.needs} for f in left]
    named = {options for each in wanted for options in each}
    enough = {options for options in named if all(options in each for each in wanted)}
    asked: dict[str, list[str]] = {}
    for outcome in report.outcomes:
        if outcome.status is not Status.REFUSED:
            continue
        options = _CONSENT.findall(outcome.reason)
        if not options and any(s.accuracy is Accuracy.LOSSY for s in outcome.sites):
            options = [_LOSSY]
        if options and (outcome.pass_id in able or _LOSSY in options):
            asked.setdefault(" ".join(sorted(set(options))), []).append(outcome.pass_id)
    return [
        f"`{options}` lets {capped(distinct(names), 3)} run; {_CHANGES[options]}; the "
        f"report says how{_again(report, options) if options in enough else ''}."
        for options, names in asked.items()
    ]


def _again(report: Report, options: str) -> str:
    """Return the command that gives a consent."""
    model = report.input.path or "MODEL"
    words = ["graphfix", "run", model, "--target", report.target, *options.split()]
    out = report.output.path if report.output and report.output.path else ""
    words += ["-o", out, "--force"] if out and out != model else []
    return f": `{in_code(shell_line(words))}`"
