"""Targets as text and as JSON: the list, and the page of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import asdict

from graphfix.engines.engine import engine_of
from graphfix.engines.known_wrong import KnownWrong, known_wrong
from graphfix.rendering.as_json import Json
from graphfix.rendering.short_lines import Listed, fitted, one_line
from graphfix.rendering.style import PLAIN, Style, join, labelled, printable, table, wrap

if TYPE_CHECKING:
    from graphfix.engines.interface import Release
    from graphfix.engines.profile import Target


_LONG = ("in/outputs", "IR", "source")  # what a short page leaves out
KNOWN = {
    "sources": "read in its source code",
    "measured": "measured in the engine",
    "tables": "from tables, never run",
    "": "as its profile says",
}


def known_text(target: Target) -> str:
    """Return how a target came to be known, whether the engine is on this machine or not."""
    return KNOWN[engine_of(target.family).how_known]


def targets_text(targets: Sequence[Target], *, style: Style = PLAIN) -> str:
    """Return the targets as a table: name, aliases, opsets, title; and how they are known."""
    header = ("target", "aliases", "opset", "engine")
    rows = [(t.name, ", ".join(t.aliases), _opsets(t), t.title) for t in targets]
    lines = table([header, *rows])
    lines[0] = style.paint(lines[0], "bold")
    lines += ["", *_knowledge(targets)]
    lines += [
        "",
        *wrap(
            "`graphfix targets NAME` shows what one accepts. jetpack5.1 and ngc22.12 work as "
            "names too, and so does the path of a profile of your own."
        ),
    ]
    return join(lines)


def families_text(targets: Sequence[Target], *, style: Style = PLAIN) -> str:
    """Return the targets family by family: which versions there are, and how they are known."""
    families: dict[str, list[Target]] = {}
    for target in targets:
        families.setdefault(target.family, []).append(target)
    run = {name: each for name, each in families.items() if engine_of(name).how_known != "tables"}
    rows = [("target", "versions", "rules")]
    for name, members in run.items():
        first, last = members[0].name, members[-1].name
        span = last if len(members) == 1 else f"{first} to {last} ({len(members)})"
        rows.append((name, span, known_text(members[-1])))
    lines = table(rows)
    lines[0] = style.paint(lines[0], "bold")
    listed = [each[-1].name for name, each in families.items() if name not in run]
    if listed:
        lines += wrap(f"{KNOWN['tables']}: {', '.join(listed)}", "    ", "  ")
    here = [t.name for t in targets if engine_of(t.family).is_run_here(t)]
    lines += labelled("run here", ", ".join(here), 2, 10)
    return join(
        [
            *lines,
            *wrap(
                "A family's name alone is its newest version; jetpack5.1 and ngc22.12 are "
                "names too. NAME shows what one accepts, -v lists every version."
            ),
        ]
    )


def _knowledge(targets: Sequence[Target]) -> list[str]:
    """Return how the targets are known, family by family, and which engines are here."""
    families: dict[str, dict[str, None]] = {}
    for target in targets:
        families.setdefault(known_text(target), {})[target.family] = None
    here = [t.name for t in targets if engine_of(t.family).is_run_here(t)]
    lines = [
        line for text, names in families.items() for line in labelled(text, ", ".join(names), 2, 25)
    ]
    return lines + labelled("run here", ", ".join(here), 2, 25)


def target_text(
    target: Target,
    releases: Sequence[Release],
    notes: Sequence[str],
    *,
    whole: bool = True,
    style: Style = PLAIN,
) -> str:
    """Return the page of one target.

    Args:
        target: The profile.
        releases: The releases of products that hold this engine.
        notes: How the name was understood.
        whole: Show all; otherwise in at most 20 lines.
        style: Colours or none.
    """
    above = "refuses a higher one" if target.rejects_above else "reads a higher one, maybe wrongly"
    supported = sorted(name for name, op in target.ops.items() if op.supported)
    lines = [style.paint(f"{target.name}: {target.title}", "bold")]
    for label, text in (
        ("aliases", ", ".join(target.aliases)),
        ("opset", f"{_opsets(target)}; {above}"),
        ("IR", "not looked at" if target.ir_max is None else f"up to {target.ir_max}"),
        ("domains", ", ".join(sorted({domain or "ai.onnx" for domain in target.domains}))),
        ("functions", "local functions are read" if target.functions else "none: inlined"),
        ("in/outputs", _names(target.io_dtypes)),
        ("dtypes", _names(_dtypes(target))),
        ("taken as", ", ".join(f"{a} as {b}" for a, b in target.dtype_aliases.items())),
        ("plugins", _names(target.plugins)),
        ("shapes", "static alone" if target.static_shapes else ""),
        ("fallback", target.fallback and f"{target.fallback} runs what it lacks, on the CPU"),
        ("operators", f"{len(supported)} supported: {', '.join(supported)}"),
        ("source", target.source),
        ("known", known_text(target)),
        ("engine", _engine(target)),
        ("corpus", taken_text(target)),
        ("wrong", wrong_text(target)),
    ):
        if whole:
            lines += labelled(label, printable(text), indent=2, width=12)
        elif text and label not in _LONG:
            lines.append(one_line(text, f"  {label.ljust(12)}"))
    if not whole:
        holders = [f"{r.title} {r.version}" for r in releases]
        lines += [one_line(", ".join(holders), "  held by     ")] if holders else []
        entries = [wrap(printable(note), "    ", "  - ") for note in notes]
        entries += [[one_line(note, "  - ")] for note in target.notes]
        return join(fitted(lines, [Listed("Notes", entries)], style))
    if releases:
        lines += ["", style.paint("Releases that hold it", "bold")]
        for title in dict.fromkeys(release.title for release in releases):
            held = [f"{r.version} ({r.holds})" for r in releases if r.title == title]
            lines += labelled(title, ", ".join(held), indent=2, width=15)
    known = known_wrong(target)
    if known:
        lines += ["", style.paint("Taken, and computed wrongly", "bold")]
        for each in known:
            lines += wrap(printable(wrong_line(each)), "    ", "  - ")
    if notes or target.notes:
        lines += ["", style.paint("Notes", "bold")]
        for note in (*notes, *target.notes):
            lines += wrap(printable(note), "    ", "  - ")
    return join(lines)


def _engine(target: Target) -> str:
    engine = engine_of(target.family)
    if engine.is_run_here(target):
        return "on this machine"
    how = engine.how_to_install(target)
    return f"not on this machine: {how}" if how else "nothing here runs it"


def taken_text(target: Target) -> str:
    """Return what the engine takes of the open corpus, as a committed result says."""
    taken = engine_of(target.family).corpus.get(target.name)
    if taken is None:
        return ""
    before = f"{taken.before} as they are, " if taken.before is not None else ""
    by = "computed rightly in it" if taken.run else "by its rules"
    text = f"of {taken.models} models {before}{taken.after} after graphfix, {by} ({taken.source})"
    if taken.unseen is None:
        return text
    return f"{text}; of {taken.unseen} unseen networks called fixed by rules, {taken.not_so} not so"


def targets_json(targets: Sequence[Target]) -> list[Json]:
    """Return the list as `graphfix targets --json` has it."""
    return [_summary(target) for target in targets]


def target_json(target: Target, releases: Sequence[Release], notes: Sequence[str]) -> Json:
    """Return one target as `graphfix targets NAME --json` has it; null is not known."""
    return {
        **_summary(target),
        "source": target.source,
        "domains": sorted(target.domains),
        "functions": target.functions,
        "static_shapes": target.static_shapes,
        "fallback": target.fallback or None,
        "io_dtypes": None if target.io_dtypes is None else sorted(target.io_dtypes),
        "dtype_aliases": dict(target.dtype_aliases),
        "plugins": sorted(target.plugins),
        "operators": {
            name: {
                "supported": op.supported,
                "dtypes": None if op.dtypes is None else sorted(op.dtypes),
                "restrictions": op.restrictions,
                "limits": [str(limit) for limit in op.limits],
                "since": op.since,
            }
            for name, op in sorted(target.ops.items())
        },
        "releases": [
            {
                "product": r.product,
                "version": r.version,
                r.engine: r.holds,
                "source": r.source,
            }
            for r in releases
        ],
        "known_wrong": [_wrong_json(each) for each in known_wrong(target)],
        "notes": [*notes, *target.notes],
    }


def wrong_text(target: Target) -> str:
    """Return how many forms a target is known to compute wrongly; empty for none."""
    known = known_wrong(target)
    run = sum(each.run for each in known)
    return f"{len(known)} forms are known, {run} of them seen here; -v lists them" if known else ""


def wrong_line(known: KnownWrong) -> str:
    """Return what is known of one form: operators, what comes instead, where that was read."""
    may = "may be: " if known.possible else ""
    seen = f"; seen here in {', '.join(known.seen)}" if known.seen else ""
    operators = ", ".join(known.operators) or "any operator"
    return (
        f"{known.rule.id} ({operators}; {known.rule.versions}): {may}{known.computes}"
        f" [{known.rule.source}{seen}]"
    )


def _wrong_json(known: KnownWrong) -> Json:
    return {
        "rule": known.rule.id,
        "operators": list(known.operators),
        "versions": known.rule.versions,
        "computes": known.computes,
        "possible": known.possible,
        "source": known.rule.source,
        "seen": known.run,
        "seen_in": list(known.seen),
    }


def _summary(target: Target) -> Json:
    engine = engine_of(target.family)
    taken = engine.corpus.get(target.name)
    return {
        "name": target.name,
        "title": target.title,
        "aliases": list(target.aliases),
        "opset": {
            "min": target.opset_min,
            "max": target.opset_max,
            "rejects_above": target.rejects_above,
        },
        "ir_max": target.ir_max,
        "known": engine.how_known or None,
        "here": engine.is_run_here(target),
        "install": engine.how_to_install(target) or None,
        "corpus": None if taken is None else asdict(taken),
    }


def _opsets(target: Target) -> str:
    if target.opset_min is None:
        return f"up to {target.opset_max}"
    return f"{target.opset_min} to {target.opset_max}"


def _dtypes(target: Target) -> frozenset[str] | None:
    """Return the element types that any operator takes; None where nothing is stated."""
    stated = [op.dtypes for op in target.ops.values() if op.supported and op.dtypes is not None]
    return frozenset[str]().union(*stated) if stated else None


def _names(names: frozenset[str] | None) -> str:
    """Return names in order; nothing where nothing is known or there is none."""
    return ", ".join(sorted(names or ()))
