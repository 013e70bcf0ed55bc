"""The edit that gives the caches of a decoder a fixed length."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

from onnx import ModelProto

from graphfix.edits.caches.decoding import LEAST
from graphfix.edits.caches.proof import shown
from graphfix.edits.caches.static_form import StaticForm, plain, static_form
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.step import Step, Subject
from graphfix.errors import UsageError

PREFILL = " prefill "  # between the length and what --prefill names
PREFILL_FILE = "*.prefill.onnx"  # next to the result, whose name the star stands for


@dataclass(frozen=True, slots=True)
class StaticCache:
    """Give the caches of a decoder a fixed length, and take the position as an input.

    What is new is put into the caches at the position, and what lies after it is not looked at.
    Masks, positions and lengths follow from the position, and are no inputs any more. There is one
    sequence, and one new token; or as many as `prefill` in a further model.

    Attributes:
        length: The places of a cache.
        prefill: How many tokens a second model takes at once; None for no second model.
    """

    length: int
    prefill: int | None = None
    option: str = field(default="--static-cache", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Return the static form; see `graphfix.edits.step.Edit`."""
        where = f"{self.option} {self.length}"
        base = plain(subject.proto, subject.base_dir)
        form = static_form(base, subject.base_dir, self.length, 1, where)
        said = list(_said(form, self.length))
        parts: dict[Path, ModelProto] = {}
        prompt = None
        if self.prefill is not None:
            prompt = static_form(base, subject.base_dir, self.length, self.prefill, where).proto
            parts[Path(PREFILL_FILE)] = prompt
            said.append(f"a second file, .prefill.onnx, takes {self.prefill} tokens at once")
        if subject.proves and self.length < LEAST:
            raise UsageError(
                f"to be proved by decoding it needs at least {LEAST} places", where=where
            )
        claims = (shown(subject, form, prompt),) if subject.proves else ()
        return Step(form.proto, tuple(said), claims, parts)


def _said(form: StaticForm, length: int) -> list[str]:
    decoder = form.decoder
    said = [
        f"{len(decoder.caches)} caches have {length} places; input {form.position!r} says at which "
        "the token is"
    ]
    if decoder.derived:
        said.append(f"follows from the position: {', '.join(sorted(decoder.derived))}")
    if form.masked:
        who = "1 Softmax leaves" if form.masked == 1 else f"{form.masked} Softmaxes leave"
        said.append(f"{who} out what is after the position")
    if form.unguarded:
        who = "1 Where is" if form.unguarded == 1 else f"{form.unguarded} Wheres are"
        said.append(f"{who} gone, for a Softmax over nothing: each token sees itself")
    if form.longer:
        said.append(f"{form.longer} tables of angles got rows for {length} places")
    return said


@option(
    "static-cache",
    "LENGTH",
    "Give the caches of a decoder a fixed length.",
    Group.SHAPES,
    long_form=f"LENGTH or LENGTH{PREFILL}TOKENS",
)
def read_static_cache(given: Given) -> StaticCache:
    """Return the edit that a text asks for."""
    length, _, tokens = given.text.partition(PREFILL)
    if not length.isdecimal() or (tokens and not tokens.isdecimal()):
        raise given.malformed()
    return StaticCache(int(length), int(tokens) if tokens else None)


def static_cache(
    model: ModelLike, length: int, prefill: int | None = None, **how: Unpack[How]
) -> Edited:
    """Give the caches of a decoder a fixed length; with `prefill` a second model takes prompts."""
    return edit(model, [StaticCache(length, prefill)], **how)
