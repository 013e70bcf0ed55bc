"""What is said of what a model costs before and after a run."""

from __future__ import annotations

from graphfix.rendering.style import size
from graphfix.report.costs import Costs


def cost_sentence(costs: Costs) -> str:
    """Say what both cost, the time first."""
    before, after = costs.before, costs.after
    said = [
        f"nodes {before.nodes} -> {after.nodes}",
        f"weights {size(before.weights)} -> {size(after.weights)}",
        f"largest tensor {size(before.largest)} -> {size(after.largest)}",
        f"multiply-adds {before.macs:,} -> {after.macs:,}",
    ]
    if before.open or after.open:
        said[-1] += f" and those of {before.open} -> {after.open} nodes of open sizes"
    timed = _time(costs)
    return "; ".join([timed, *said] if timed else [*said, f"not timed: {costs.untimed}"])


def _time(costs: Costs) -> str:
    before, after = costs.microseconds_before, costs.microseconds_after
    if before is None or after is None:
        return ""
    times = f"{_figure(before)} -> {_figure(after)}"
    return f"{times} in onnxruntime, one thread: {after / before:.2f} times"


def _figure(microseconds: float) -> str:
    if microseconds < 1000:
        return f"{microseconds:.1f} us"
    return f"{microseconds / 1000:.2f} ms"
