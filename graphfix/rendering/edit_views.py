"""The views of edits: text, and JSON as schemas/edit.schema.json has it."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import basename
from pathlib import Path

from msgspec import to_builtins

from graphfix.edits.engine import Done, Edited
from graphfix.edits.proof import Proof
from graphfix.edits.step import FreeSize
from graphfix.rendering.as_json import SCHEMA, Json, verification_json
from graphfix.rendering.short_lines import Listed, fitted, labelled_short, labelled_whole, one_line
from graphfix.rendering.style import (
    PLAIN,
    Style,
    capped,
    count,
    join,
    labelled,
    printable,
    shared_text,
    wrap,
)
from graphfix.rendering.wording import Word

_SAID = {
    Word.CHANGED: ("edited, each claim verified", "green"),
    Word.NOT_VERIFIED: ("edited, not every claim could be verified", "yellow"),
    Word.NOT_DONE: ("edited, something could not be done", "yellow"),
    Word.DIFFERENT: ("a claim does not hold, nothing was written", "red"),
}


def edit_word(found: Edited) -> Word:
    """Return the word for what became of the edits."""
    if found.exit_code == 4:
        return Word.DIFFERENT
    if found.exit_code == 1 and any(step.unfinished for step in found.steps):
        return Word.NOT_DONE
    return Word.CHANGED if found.exit_code == 0 else Word.NOT_VERIFIED


def edit_line(model: str, found: Edited, *, style: Style = PLAIN) -> str:
    """Return what became of a model in one line."""
    word = edit_word(found)
    said, colour = _SAID[word]
    name, qualified = printable(basename(model)), str(word)
    if not found.verified:
        said, colour, qualified = "edited, --verify off", "yellow", f"{word}, NOT VERIFIED"
    joined = " " if said.startswith("edited") else ": "
    return f"{style.paint(qualified, 'bold', colour)}: {name}{joined}{said}"


def short_edit(model: str, output: Path | None, found: Edited, *, style: Style = PLAIN) -> str:
    """Return what became of a model in at most 20 lines."""
    lines = [edit_line(model, found, style=style)]
    for path in _files(output, found):
        lines += labelled_whole("output", path)
    if found.shared is not None:
        lines += labelled_whole("weights", shared_text(found.shared))
    proofs = found.proofs
    held = [proof for proof in proofs if proof.equal]
    tried = [p.verification.samples for p in held if p.verification.samples]
    if proofs:
        more = " or more" if tried and min(tried) < max(tried) else ""
        on = f", outputs compared on {count(min(tried), 'input')}{more}" if tried else ""
        steps = sorted(found.steps, key=lambda step: step.free_size is None)
        claims = "; ".join(dict.fromkeys(text for step in steps for text in _claims(step)))
        claimed = f": {claims}" if claims else ""
        lines += labelled_short(
            "verified", f"{len(held)} of {count(len(proofs), 'claim')}{on}{claimed}"
        )
    lists = [
        Listed(
            "Does not hold or could not be verified",
            _not_verified(proofs),
        ),
        Listed(
            "Could not be done",
            [[one_line(text, "  ")] for step in found.steps for text in step.unfinished],
        ),
        Listed(
            f"Edits: {len(found.steps)}",
            [
                [one_line(f"{step.option}: {text}", "  ")]
                for step in found.steps
                for text in step.said or ("done",)
            ],
        ),
    ]
    return join(fitted(lines, lists, style))


def _claims(step: Done) -> list[str]:
    """Return what of an edit was verified; of a size that became free, at which sizes."""
    free, claims = step.free_size, [proof.claim for proof in step.proofs if proof.equal]
    at = step.proofs[1:]  # the first is of all sizes
    if free is None or len(at) != len(free.tried):
        return claims
    sizes = [str(size) for size, proof in zip(free.tried, at, strict=True) if proof.equal]
    text = f"run at {free.symbol} = {', '.join(sizes)}"
    if step.proofs[0].equal:
        most = "on" if free.most is None else f"to {free.most}"
        text += f", and known for every {free.symbol} from 1 {most}"
    text += ": item by item as before"
    return [text] if sizes else claims


def _not_verified(proofs: Sequence[Proof]) -> list[list[str]]:
    """Return the claims that are not verified, those with the same reason together."""
    claims: dict[str, list[str]] = {}
    for proof in proofs:
        if not proof.equal:
            reason = f"{proof.verification.status}: {proof.verification.reason}"
            claims.setdefault(reason, []).append(proof.claim)
    return [
        wrap(printable(f"{capped(claimed, 2)}: {reason}"), "    ", "  - ")
        for reason, claimed in claims.items()
    ]


def edit_text(model: str, output: Path | None, found: Edited, *, style: Style = PLAIN) -> str:
    """Return all of what became of a model, for people."""
    lines = [edit_line(model, found, style=style)]
    for step in found.steps:
        lines += ["", style.paint(step.option, "bold")]
        for text in step.said:
            lines += wrap(printable(text), "    ", "  ")
        for text in step.unfinished:
            lines += wrap(printable(text), "    ", "  ")
        for proof in step.proofs:
            lines += wrap(printable(proof_text(proof)), "    ", "  ")
    files = _files(output, found)
    lines += ["", *(line for path in files for line in labelled("output", printable(path), 2))]
    if found.shared is not None:
        lines += labelled("weights", shared_text(found.shared), 2)
    return join(lines if files else lines[:-1])


def _files(output: Path | None, found: Edited) -> list[str]:
    """Return what was written, as people call it."""
    if found.exit_code == 4:
        return []
    files = [*found.parts, *([output] if output is not None else [])]
    return ["standard output" if path == Path("-") else str(path) for path in files]


def proof_text(proof: Proof) -> str:
    """Say what became of a promise."""
    done = proof.verification
    method = f" ({done.method})" if done.method else ""
    if proof.equal:
        on = f" on {count(done.samples, 'input')}" if done.samples else ""
        return f"verified{on}: {proof.claim}{method}"
    word = "does not hold" if proof.wrong else "not verified"
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
        **({} if found.shared is None else {"shared_weights": to_builtins(found.shared)}),
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
