"""Targets as text and as JSON: the list, and the page of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphfix.rendering.as_json import Json
from graphfix.rendering.style import PLAIN, Style, join, labelled, printable, table, wrap

if TYPE_CHECKING:
    from graphfix.engines.interface import Release
    from graphfix.engines.profile import Target


def targets_text(targets: Sequence[Target], *, style: Style = PLAIN) -> str:
    """Return the targets as a table: name, aliases, opsets, title."""
    header = ("target", "aliases", "opset", "engine")
    rows = [(t.name, ", ".join(t.aliases), _opsets(t), t.title) for t in targets]
    lines = table([header, *rows])
    lines[0] = style.paint(lines[0], "bold")
    lines += [
        "",
        *wrap(
            "`graphfix targets NAME` shows what one accepts. jetpack5.1 and ngc22.12 work as "
            "names too, and so does the path of a profile of your own."
        ),
    ]
    return join(lines)


def target_text(
    target: Target, releases: Sequence[Release], notes: Sequence[str], *, style: Style = PLAIN
) -> str:
    """Return the page of one target.

    Args:
        target: The profile.
        releases: The releases of products that hold this engine.
        notes: How the name was understood.
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
        ("operators", f"{len(supported)} supported: {', '.join(supported)}"),
        ("source", target.source),
    ):
        lines += labelled(label, printable(text), indent=2, width=12)
    if releases:
        lines += ["", style.paint("Releases that hold it", "bold")]
        for title in dict.fromkeys(release.title for release in releases):
            held = [f"{r.version} ({r.holds})" for r in releases if r.title == title]
            lines += labelled(title, ", ".join(held), indent=2, width=15)
    if notes or target.notes:
        lines += ["", style.paint("Notes", "bold")]
        for note in (*notes, *target.notes):
            lines += wrap(printable(note), "    ", "  - ")
    return join(lines)


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
        "io_dtypes": None if target.io_dtypes is None else sorted(target.io_dtypes),
        "dtype_aliases": dict(target.dtype_aliases),
        "plugins": sorted(target.plugins),
        "operators": {
            name: {
                "supported": op.supported,
                "dtypes": None if op.dtypes is None else sorted(op.dtypes),
                "restrictions": op.restrictions,
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
        "notes": [*notes, *target.notes],
    }


def _summary(target: Target) -> Json:
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
