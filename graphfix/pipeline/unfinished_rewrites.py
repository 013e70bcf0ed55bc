"""What rewrites left to the graph passes of last resort, and these refused: rolled back."""

from __future__ import annotations

from dataclasses import replace

from graphfix.pipeline.blame import Attempt, Blame, Suspect
from graphfix.report import Outcome, Site, Status


def unfinished_rewrites(attempt: Attempt, _: int) -> Blame | None:
    """Blame the rewrites whose results still show what a graph pass was to remove."""
    run = attempt.run
    shown = {finding.feature for finding in run.findings_after if finding.blocks}
    unfinished = [left for left in run.left if left.features & shown]
    if not unfinished:
        return None
    outcomes = tuple(
        Outcome(
            left.pass_id,
            Status.REFUSED,
            f"rolled back: what it needs shows {', '.join(sorted(left.features & shown))}, which no"
            " other pass could remove there",
            (Site(left.node),),
        )
        for left in unfinished
    )
    names = attempt.settings.unfinished | {left.pass_id for left in unfinished}
    return Blame((Suspect(replace(attempt.settings, unfinished=names), outcomes),))
