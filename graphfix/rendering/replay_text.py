"""The text view of a replay."""

from __future__ import annotations

from os.path import basename

from graphfix.pipeline.reproducers.replay import Replay
from graphfix.rendering.diff_text import node_text
from graphfix.rendering.style import PLAIN, Style, join, labelled, printable
from graphfix.rendering.wording import Word

_SAID = {
    True: (Word.PROBLEMS, "the fault still shows", "red"),
    False: (Word.OK, "the fault no longer shows", "green"),
    None: (Word.NOT_VERIFIED, "whether the fault still shows is not known", "yellow"),
}


def replay_text(found: Replay, *, style: Style = PLAIN) -> str:
    """Return what replaying found, for people."""
    word, said, colour = _SAID[found.shows]
    who = found.pass_id or "the run"
    lines = [style.paint(f"{word}: {printable(who)}: {said}", "bold", colour)]
    if found.node.op:
        lines += labelled("node", printable(node_text(found.node)), indent=2)
    lines += labelled("then", printable(found.then), indent=2)
    lines += labelled("now", printable(found.now), indent=2)
    for name, version in found.versions.items():
        now = found.versions_now.get(name, "")
        if now != version:
            lines += labelled(name, f"{version or 'none'} then, {now or 'none'} now", indent=2)
    if found.pass_files:
        ran = ", ".join(basename(path) for path in found.pass_files)
        lines += labelled("code", f"{printable(ran)} was run", indent=2)
    for note in found.notes:
        lines += labelled("note", printable(note), indent=2)
    if found.anonymised:
        lines += labelled("wrote", printable(found.anonymised), indent=2)
    return join(lines)
