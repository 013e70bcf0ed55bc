"""What the user can do next about what is left: only advice that follows from the report."""

from __future__ import annotations

import shlex

from graphfix.rendering.grouping import distinct, node_label
from graphfix.rendering.style import capped
from graphfix.rendering.wording import problems
from graphfix.report import Accuracy, Report, Reproduced, Status, Verdict


def reproduced_at(made: Reproduced) -> str:
    """Say which pass a reproducer is of, and where it was at fault."""
    who = made.pass_id or "the run"
    where = f" at {node_label(made.node)}" if made.node.op else ""
    return f"{who}{where}{'' if made.folder else ': none was written'}"


def replay_line(made: Reproduced) -> str:
    """Return the command that shows the fault again; empty where there is no folder."""
    if not made.folder:
        return ""
    return shlex.join(["graphfix", "replay", made.folder])


def next_steps(report: Report, exit_code: int) -> tuple[str, ...]:
    """Return sentences, the most useful first; empty when there is nothing to do."""
    steps: list[str] = []
    left = problems(report.findings_after)
    refused = [o for o in report.outcomes if o.status is Status.REFUSED]
    lossy = distinct(
        o.pass_id for o in refused if any(s.accuracy is Accuracy.LOSSY for s in o.sites)
    )
    if left and lossy:
        steps.append(
            f"`--allow-lossy` lets {capped(lossy, 3)} run; the outputs change then, and the "
            "report says by how much."
        )
    missing = distinct(f.missing for f in left)
    if missing:
        steps.append(
            f"Some problems hang on what the file does not say ({capped(missing, 3)}); "
            "`--shape INPUT=1x3x224x224` fixes open sizes, one per input."
        )
    own = distinct(
        f"{f.node.domain}::{f.node.op}"
        for f in left
        if f.feature.startswith("op:") and f.node.domain not in ("", "ai.onnx") and not f.removed_by
    )
    if own:
        steps.append(
            f"If your engine has {capped(own, 3)} as a plugin, say so: "
            f"{' '.join(f'`--assume-op {name}`' for name in own[:3])}."
        )
    failed = distinct(o.pass_id for o in report.outcomes if o.status is Status.FAILED)
    if failed:
        steps.append(
            f"{capped(failed, 3)} failed and left the model as it was: a fault worth reporting, "
            "with the reason above."
        )
    if report.verification.status in (Verdict.INCONCLUSIVE, Verdict.SKIPPED) and exit_code == 1:
        steps.append(
            "`--inputs FILE.npz` compares on inputs of your own, where generated ones do not tell."
        )
    return tuple(steps)
