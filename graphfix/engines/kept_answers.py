"""What engines said of nodes, kept in the user's cache, so that the next model is asked about less.

A file for each target, below ``$GRAPHFIX_ANSWERS`` or the user's cache: what the engine said no to,
by form, and of which forms and sizes it took nodes. Both are of one version of the engine and of
graphfix, whose rules and repairs decide which node a fault is put down to; another one begins with
nothing. A file that is damaged counts as not there, and one that cannot be written keeps nothing:
every answer can be had again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct, field

from graphfix.engines.answers import EngineAnswer
from graphfix.engines.node_forms import form_text, meaning_text, sizes_text
from graphfix.engines.profile import Target
from graphfix.ir.storage.saving import write_all, write_atomically
from graphfix.ir.storage.user_folders import user_cache
from graphfix.ir.version import __version__
from graphfix.ir.views import NodeView

FOLDER = "GRAPHFIX_ANSWERS"
_SIZES = 4  # so many sizes of a form show that it is taken at more than one
_FORMS = 20_000


class KeptAnswers(Struct):
    """What one version of an engine said so far.

    Attributes:
        engine: The engine with its version, for people.
        answers: What it said no to, of every node of a form or of some sizes.
        taken: A digest of each form and meaning of which it took a node, with the sizes at which
            it did.
        graphfix: The version that asked.
    """

    engine: str = ""
    answers: list[EngineAnswer] = field(default_factory=list[EngineAnswer])
    taken: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    graphfix: str = __version__

    def sizes_taken(self, node: NodeView) -> list[str]:
        """Return the sizes at which nodes of the form of this one were taken."""
        return self.taken.get(_digest(form_text(node)), [])

    def untaken_meaning(self, node: NodeView) -> str:
        """Return the meaning of a node; empty where one of it was taken in any opset."""
        meaning = meaning_text(node)
        return "" if _digest(meaning) in self.taken else meaning

    def note_taken(self, nodes: Iterable[NodeView]) -> None:
        """Take down that nodes were taken, as they are."""
        for node in nodes:
            if len(self.taken) >= _FORMS:
                return
            text = sizes_text(node)
            for form in {form_text(node), meaning_text(node)}:
                sizes = self.taken.setdefault(_digest(form), [])
                if text not in sizes and len(sizes) < _SIZES:
                    sizes.append(text)


def place_of(target: Target) -> Path | None:
    """Return where the answers of a target are kept; None where the user has no home."""
    try:
        folder = os.environ.get(FOLDER)
        return (Path(folder) if folder else user_cache() / "answers") / f"{target.name}.json"
    except RuntimeError:
        return None


def kept_answers(target: Target) -> KeptAnswers:
    """Return what the engine of a target said in earlier runs of this graphfix."""
    path, nothing = place_of(target), KeptAnswers()
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=KeptAnswers) if path else nothing
    except (OSError, ValueError, RecursionError):
        return nothing
    return kept if kept.graphfix == __version__ else nothing


def keep_answers(target: Target, said: KeptAnswers) -> None:
    """Keep what an engine said, next to what other runs kept of the same version meanwhile."""
    path = place_of(target)
    if path is None:
        return
    there = kept_answers(target)
    if there.engine == said.engine:
        said.answers += [each for each in there.answers if each not in said.answers]
        said.taken = {**there.taken, **said.taken}
    raw = msgspec.json.encode(said)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, lambda descriptor: write_all(descriptor, raw))


def _digest(form: str) -> str:
    return sha256(form.encode()).hexdigest()[:16]
