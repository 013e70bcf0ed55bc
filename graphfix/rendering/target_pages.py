"""The pages on targets in the documentation: one per profile, and the list of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from graphfix.engines.engine import Engine, engine_of, engines
from graphfix.engines.known_wrong import KnownWrong, known_wrong
from graphfix.engines.profile import OperatorSupport, Target
from graphfix.engines.targets import load_target, releases_of, target_names
from graphfix.engines.versions import dotted
from graphfix.rendering.rule_origins import origins
from graphfix.rendering.targets_view import known_text, taken_text


def pages() -> Mapping[str, str]:
    """Return the text of each page by its file name: one per profile, and ``index.md``."""
    targets = [load_target(name) for name in target_names()]
    return {**{f"{target.name}.md": page(target) for target in targets}, "index.md": index(targets)}


def index(targets: list[Target]) -> str:
    """Return the page that lists `targets` and the releases that hold them."""
    lines = [
        "# Targets",
        "",
        "| target | engine | opset | functions | operators | known |",
        "|---|---|---|---|---|---|",
    ]
    for target in targets:
        names = ", ".join((f"[{target.name}]({target.name}.md)", *target.aliases))
        count = sum(support.supported for support in target.ops.values())
        functions = "yes" if target.functions else "no"
        cells = (names, target.title, _opset(target), functions, str(count), known_text(target))
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "A minor that is not listed is taken as the next lower one, one that is newer than all",
        "profiles as the newest, and a note says so. A release is a name too,",
        "`jetpack5.1` or `ngc22.12`:",
    ]
    for engine in engines():
        lines += _releases(engine)
    return "\n".join(lines) + "\n"


def _releases(engine: Engine) -> Iterator[str]:
    """Walk the lines of the table of the releases that hold an engine."""
    known = engine.releases()
    if known:
        yield from ("", f"| release | {engine.title} | target | source |", "|---|---|---|---|")
    for release in known:
        shown = f"{release.product}{release.version}"
        yield f"| {shown} | {release.holds} | {release.profile} | {release.source} |"


def page(target: Target) -> str:
    """Return the page of one target."""
    return "\n".join(_lines(target)) + "\n"


def _lines(target: Target) -> Iterator[str]:
    yield f"# {target.name}: {target.title}"
    yield ""
    yield f"- Source: {target.source}"
    yield f"- Known: {known_text(target)}"
    how = engine_of(target.family).how_to_install(target)
    if how:
        yield f"- Engine: {how}"
    taken = taken_text(target)
    if taken:
        yield f"- Open corpus: {taken}"
    rules = origins(target)
    if rules:
        yield f"- Rules: {rules}"
    if target.aliases:
        yield f"- Also called: {', '.join(target.aliases)}"
    held = [f"{r.product}{r.version}" for r in releases_of(target)]
    if held:
        yield f"- Releases: {', '.join(held)}"
    yield f"- Version: {dotted(target.version)}"
    above = "refused" if target.rejects_above else "not refused, newer forms may be misread"
    yield f"- Opset: {_opset(target)}; a higher number is {above}"
    yield f"- Highest IR version: {target.ir_max or 'no limit known'}"
    yield f"- Local functions: {'read' if target.functions else 'not read'}"
    if target.static_shapes:
        yield "- Shapes: static alone"
    if target.fallback:
        yield f"- What it lacks runs in {target.fallback}, on the CPU"
    if target.io_dtypes is not None:
        yield f"- Inputs and outputs: {', '.join(sorted(target.io_dtypes))}"
    for before, after in sorted(target.dtype_aliases.items()):
        yield f"- {before} is turned into {after}"
    if target.notes:
        yield from ("", "## Notes", "")
        yield from (f"- {note}" for note in target.notes)
    known = known_wrong(target)
    if known:
        yield from ("", "## Taken, and computed wrongly", "")
        yield from ("| rule | operators | versions | what comes instead | source | seen here |",)
        yield "|---|---|---|---|---|---|"
        yield from map(_wrong_row, known)
    yield from ("", "## Operators", "")
    yield from ("| operator | element types | restrictions | since |", "|---|---|---|---|")
    supported = {op: support for op, support in target.ops.items() if support.supported}
    yield from (_row(op, support) for op, support in supported.items())
    yield from ("", "## Unsupported", "")
    yield ", ".join(op for op in target.ops if op not in supported) or "None is listed."
    if target.plugins:
        yield from ("", "## Plugins", "")
        yield ", ".join(sorted(target.plugins))


def _wrong_row(known: KnownWrong) -> str:
    seen = ", ".join(known.seen) or ("yes" if known.run else "no")
    cells = (
        known.rule.id,
        ", ".join(known.operators) or "any",
        known.rule.versions,
        f"{'may be: ' if known.possible else ''}{known.computes}",
        known.rule.source,
        seen,
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _row(op: str, support: OperatorSupport) -> str:
    dtypes = "not stated" if support.dtypes is None else ", ".join(sorted(support.dtypes))
    limits = "; ".join((*map(str, support.limits), *filter(None, [support.restrictions])))
    return f"| {op} | {dtypes} | {limits} | {support.since} |"


def _opset(target: Target) -> str:
    low = "?" if target.opset_min is None else target.opset_min
    return f"{low} to {target.opset_max}"
