"""The text view of the first repair of a run that breaks the outputs."""

from __future__ import annotations

from os.path import basename

from graphfix.bisection.bisecting import Blamed, RunBisection
from graphfix.rendering.diff_text import node_text
from graphfix.rendering.style import PLAIN, Style, count, join, labelled, printable, wrap
from graphfix.rendering.wording import compared_word
from graphfix.report import Certificate, Verdict, Verification

_COLOURS = {Verdict.EQUAL: "green", Verdict.MISMATCH: "red"}
_SHOWN = 8


def bisect_run_text(model: str, found: RunBisection, *, style: Style = PLAIN) -> str:
    """Return where a run breaks the outputs, for people."""
    target = f" for {found.target}" if found.target else ""
    word = compared_word(found.status)
    name = printable(basename(model))
    if not found.sites and found.status is Verdict.EQUAL:
        text = f"{word}: nothing is repaired in {name}{target}, so there is nothing to compare"
        return style.paint(text, "bold", "green")
    head = f"{word}: {name}, repaired{target}: {found.status}"
    lines = [style.paint(head, "bold", _COLOURS.get(found.status, "yellow"))]
    lines += labelled("reason", printable(found.verification.reason), indent=2)
    lines += labelled("repairs", _repairs(found), indent=2)
    if found.first is None:
        if found.status is Verdict.MISMATCH:
            text = "the outputs differ before any repair is made: no pass is at fault"
            lines += labelled("blame", text, indent=2)
        elif found.status is not Verdict.EQUAL:
            text = (
                "nothing is shown of the whole; `graphfix run --verify sites` compares each repair"
            )
            lines += labelled("blame", text, indent=2)
        return join(lines)
    lines += [
        "",
        style.paint("First repair that breaks the outputs", "bold"),
        *_blamed(found.first),
    ]
    lines += labelled("without", _outputs(found.right))
    lines += labelled("with", _outputs(found.wrong))
    if found.together:
        text = "Made in the same step, and not distinguished by stopping the run"
        lines += ["", style.paint(text, "bold")]
        for other in found.together[:_SHOWN]:
            lines += wrap(f"{', '.join(other.passes)}: {_place(other)}", "      ", "  ")
        if len(found.together) > _SHOWN:
            lines.append(f"  and {len(found.together) - _SHOWN} more (--json lists all)")
    return join(lines)


def _repairs(found: RunBisection) -> str:
    times = "once" if found.comparisons == 1 else f"{found.comparisons} times"
    text = f"{count(found.sites, 'place')} in all; the outputs were compared {times}"
    return f"{text} and are wrong from place {found.place} on" if found.place else text


def _place(blamed: Blamed) -> str:
    site = blamed.site
    return node_text(site.node) if site.node.op else site.note or "the whole file"


def _blamed(blamed: Blamed) -> list[str]:
    site = blamed.site
    lines = [f"  {', '.join(blamed.passes)}"]
    lines += labelled("node", _place(blamed))
    lines += labelled("label", " ".join(filter(None, [str(site.accuracy), printable(site.note)])))
    if site.added:
        lines += labelled("became", ", ".join(node_text(node) for node in site.added[:_SHOWN]))
    return lines + labelled("proof", _proof(site.certificate))


def _proof(proof: Certificate | None) -> str:
    if proof is None:
        return "not compared alone: nothing was cut out"
    text = f"{proof.status} on {count(proof.samples, 'sample')}"
    return f"{text}: {printable(proof.reason)}" if proof.reason else text


def _outputs(found: Verification | None) -> str:
    if found is None:
        return ""
    worst = [
        f"{printable(o.name)} by up to {o.max_abs:.3g} ({o.max_rel:.2%})"
        for o in found.outputs
        if o.max_abs is not None and o.max_rel is not None and o.status is Verdict.MISMATCH
    ]
    text = f"{found.status}: {'; '.join(worst[:_SHOWN])}" if worst else str(found.status)
    return f"{text}; {printable(found.reason)}" if found.reason and not worst else text
