"""The views of edits: text, and JSON as docs/edit.schema.json has it."""

from __future__ import annotations

from os.path import basename
from pathlib import Path

from graphfix.edits.engine import Edited
from graphfix.edits.proof import Proof
from graphfix.edits.step import FreeSize
from graphfix.rendering.as_json import SCHEMA, Json, verification_json
from graphfix.rendering.style import PLAIN, Style, join, labelled, printable, wrap

_STATES = {0: ("edited", "green"), 1: ("edited, not all is proved", "yellow")}
_UNFINISHED = ("edited, not all is done", "yellow")


def edit_text(model: str, output: Path | None, found: Edited, *, style: Style = PLAIN) -> str:
    """Return what became of a model, for people."""
    said, colour = _STATES.get(found.exit_code, ("a promise does not hold, nothing written", "red"))
    if found.exit_code == 1 and any(step.unfinished for step in found.steps):
        said, colour = _UNFINISHED
    if not found.verified:
        said, colour = "edited, not proved", "yellow"
    lines = [style.paint(f"{printable(basename(model))}: {said}", "bold", colour)]
    for step in found.steps:
        lines += ["", style.paint(step.option, "bold")]
        for text in step.said:
            lines += wrap(printable(text), "    ", "  ")
        for text in step.unfinished:
            lines += wrap(printable(text), "    ", "  ")
        for proof in step.proofs:
            lines += wrap(printable(proof_text(proof)), "    ", "  ")
    if found.exit_code != 4:
        files = [*map(str, found.parts), *([str(output)] if output is not None else [])]
        lines.append("")
        for path in files:
            lines += labelled("output", printable(path), indent=2)
    return join(lines)


def proof_text(proof: Proof) -> str:
    """Say what became of a promise."""
    done = proof.verification
    method = f" ({done.method})" if done.method else ""
    if proof.equal:
        return f"proved: {proof.claim}{method}"
    word = "WRONG" if proof.wrong else "not shown"
    return f"{word}: {proof.claim}: {done.status} {done.reason}{method}"


def edit_json(model: str, output: Path | None, found: Edited) -> Json:
    """Return the object that `graphfix edit --json` prints."""
    wrote = found.exit_code != 4
    return {
        "schema": SCHEMA,
        "input": model,
        "output": str(output) if output is not None and wrote else None,
        "parts": [str(path) for path in found.parts] if wrote else [],
        "exit_code": found.exit_code,
        "verified": found.verified,
        "edits": [
            {
                "edit": step.option.removeprefix("--"),
                "said": list(step.said),
                "unfinished": list(step.unfinished),
                **({} if step.free_size is None else {"free_size": _free_size(step.free_size)}),
                "proofs": [
                    {"claim": proof.claim, "verification": verification_json(proof.verification)}
                    for proof in step.proofs
                ],
            }
            for step in found.steps
        ],
    }


def _free_size(free: FreeSize) -> Json:
    return {
        "symbol": free.symbol,
        "every": free.every,
        "least": free.least,
        "most": free.most,
        "tried": list(free.tried),
    }
