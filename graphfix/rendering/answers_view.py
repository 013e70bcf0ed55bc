"""What the engine of a target said of nodes when it was asked, as text and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graphfix.engines.kept_answers import KeptAnswers
from graphfix.engines.profile import Target
from graphfix.rendering.style import count, printable


def answers_text(target: Target, said: KeptAnswers, place: Path | None) -> str:
    """Return what an engine said no to, a form in a paragraph, and how much it took.

    Args:
        target: The target.
        said: What its engine said.
        place: Where that is kept.
    """
    if not said.engine:
        return (
            f"The engine of {target.name} was not asked yet: `graphfix run MODEL --target"
            f" {target.name} --verify engine` asks it."
        )
    forms = count(len(said.answers), "form")
    lines = [
        f"{said.engine} says no to {forms} of nodes; it took nodes of {len(said.taken)}."
        f" Kept in {place}."
    ]
    for answer in said.answers:
        what = "refused" if answer.refusal else "computed differently"
        sizes = f", sizes {answer.sizes}" if answer.sizes else ""
        words = printable(answer.refusal or answer.difference)
        lines += ["", f"{what}: {printable(answer.form)}{sizes}", f"  {words}"]
    return "\n".join(lines)


def answers_json(target: Target, said: KeptAnswers) -> dict[str, Any]:
    """Return the same as an object."""
    return {
        "name": target.name,
        "engine": said.engine,
        "taken": len(said.taken),
        "answers": [
            {
                "op": answer.op,
                "domain": answer.domain,
                "form": answer.form,
                "sizes": answer.sizes,
                "refusal": answer.refusal,
                "difference": answer.difference,
            }
            for answer in said.answers
        ],
    }
