"""What was learned of an engine, as text and as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphfix.learning.learning import Learned
from graphfix.rendering.style import count, wrap

_SHORT = 12  # operators in a line
_VERDICTS = ("equal", "wrong", "refused", "crashed", "taken")


def learned_text(found: Learned, *, whole: bool) -> str:
    """Return what was learned.

    Args:
        found: What was learned.
        whole: Whether all operators are named.
    """
    limits, most = found.limits, None if whole else _SHORT
    taken, asked = found.operators
    verdicts = ", ".join(f"{found.verdicts[v]} {v}" for v in _VERDICTS if found.verdicts.get(v))
    earlier = f" and {found.known} before" if found.known else ""
    lines = [f"LEARNED: {found.title} as the target {found.target}"]
    lines += _labelled("asked", f"{count(found.asked, 'question')}{earlier}: {verdicts}")
    lines += _labelled("opsets", f"{limits.opsets[0]} to {limits.opsets[1]}{_more(found)}")
    lines += _labelled("takes", f"{taken} of {asked} operators")
    lines += _labelled("lacks", _shown(_lacking(found), most))
    lines += _labelled("wrong", _shown(_wrong(found), most))
    if found.said.unasked:
        lines += _labelled("not asked", _shown(found.said.unasked, most))
    if not found.finished:
        lines += _labelled(
            "unfinished", "the time was too short for all; the same command continues"
        )
    lines += [
        "",
        "Next: look at it, and repair a model for it",
        f"  graphfix targets {found.target}",
    ]
    lines += [f"  graphfix run model.onnx --target {found.target} --verify engine"]
    return "\n".join(lines)


def _labelled(label: str, text: str) -> list[str]:
    first, *rest = wrap(text, " " * 12)
    return [f"  {label:10}{first[12:]}", *rest]


def _more(found: Learned) -> str:
    limits = found.limits
    said = [f"IR up to {limits.ir}"] if limits.ir is not None else []
    said += ["all sizes must be fixed"] if limits.static else []
    said += [] if limits.functions else ["no local functions"]
    said += ["it computes in float16"] if limits.half else []
    return "".join(f", {each}" for each in said)


def _lacking(found: Learned) -> list[str]:
    return [op for op, row in found.ops.items() if not row["supported"]]


def _wrong(found: Learned) -> list[str]:
    return [f"{op} ({'; '.join(_briefly(row['wrong']))})" for op, row in _odd(found)]


def _odd(found: Learned) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((op, row) for op, row in found.ops.items() if row.get("wrong"))


def _briefly(texts: Sequence[str]) -> Iterator[str]:
    """Say what is wrong with the forms that share it: ``6, 16: rank: 4``."""
    forms: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        since, _, what = text.partition(" ")
        forms[what].append(since)
    for what, several in forms.items():
        of = f"opset {', '.join(several)}"
        yield f"{what}, {of}" if what else of


def _shown(names: Sequence[str], most: int | None) -> str:
    shown = names[:most]
    more = len(names) - len(shown)
    return (", ".join(shown) or "nothing") + (f" and {more} more (-v)" if more else "")


def learned_json(found: Learned) -> dict[str, Any]:
    """Return the same as an object."""
    limits = found.limits
    return {
        "name": found.target,
        "title": found.title,
        "folder": str(found.folder),
        "asked": found.asked,
        "known": found.known,
        "verdicts": {name: found.verdicts.get(name, 0) for name in _VERDICTS},
        "opset_min": limits.opsets[0],
        "opset_max": limits.opsets[1],
        "ir_max": limits.ir,
        "functions": limits.functions,
        "static_shapes": limits.static,
        "float16": limits.half,
        "operators": {"taken": found.operators[0], "asked": found.operators[1]},
        "lacks": _lacking(found),
        "wrong": {op: list(row["wrong"]) for op, row in _odd(found)},
        "unasked": list(found.said.unasked),
        "finished": found.finished,
    }
