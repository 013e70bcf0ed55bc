"""What `graphfix run` prints unless asked for more: the verdict and at most 20 lines in all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from os.path import basename

from msgspec import structs

from graphfix.engines.interface import NextStep
from graphfix.rendering.grouping import Group, distinct, group_findings, node_label
from graphfix.rendering.short_lines import (
    LABEL,
    MOST,
    Listed,
    fitted,
    labelled_short,
    labelled_whole,
    left_lines,
    next_steps,
    notes_parted,
    one_line,
    problem_line,
    replay_line,
    reproduced_at,
    short_legend,
    subject,
)
from graphfix.rendering.style import PLAIN, WIDTH, Style, capped, count, join, printable, wrap
from graphfix.rendering.text_report import TONES
from graphfix.rendering.wording import (
    NOT_ASKED,
    RUN_PROGRAM,
    Word,
    engine_sentence,
    headline,
    integers_sentence,
    intent_of,
    misread,
    number,
    problems,
    undone,
)
from graphfix.report import (
    Accuracy,
    Asked,
    Outcome,
    Report,
    Status,
    Verdict,
    every_site_equal,
    mended_sites,
)

_NOTES_SHOWN = 2
_UNDECIDED = {
    Verdict.INCONCLUSIVE: "comparing the whole model was inconclusive",
    Verdict.SKIPPED: "the whole model was not compared",
}
# The places in a report of what has to leave room for a program first.
_PROBLEMS, _DEEDS = 2, 4
_WHERE = "  -v prints a program that runs the file, --example FILE.py writes it"
_FIRST = 160  # columns of a first line that holds a reason


def verdict_line(report: Report, exit_code: int, *, dry_run: bool = False) -> str:
    """Return the verdict on a run in one line: ``FIXED: a.onnx for ort-1.8, ...``."""
    word = str(headline(report, exit_code, dry_run=dry_run).word)
    name = printable(basename(report.input.path) or "the model")
    to = f" for {report.target}" if report.target else ""
    before, after = problems(report.findings_before), problems(report.findings_after)
    applied = any(o.status is Status.APPLIED for o in report.outcomes)
    changed = applied or bool(report.io_changes)
    if exit_code == 4:
        said = f"{name}{to}: the result computes something else, nothing was written"
    elif after:
        judge = f"left in {name}{to or ' (ONNX checker)'}"
        said = f"{len(after)} of {count(max(len(before), len(after)), 'problem')} {judge}"
    elif exit_code:
        unsure = report.verification.status in (Verdict.INCONCLUSIVE, Verdict.SKIPPED)
        why = undone(report).rstrip(".")
        why = "equality could not be shown" if unsure else f"{why[0].lower()}{why[1:]}"
        if misread(report) and not unsure:
            why = "nothing shows that the file was read as is said"
        elif word == Word.MENDED:
            why = "repaired as it was read; --allow-mended says that it is meant so"
        elif word.endswith(", NOT ASKED"):
            done = f"{count(len(before), 'problem')} repaired" if before else "no problem is known"
            why = f"{done} by rules alone; {NOT_ASKED}"
        said = one_line(f"{name}{to}: {why}", width=_FIRST)
    elif not changed:
        said = f"{name}{to} needs no repair"
    elif before:
        said = f"{name}{to}: {count(len(before), 'problem')} repaired, none is left"
    else:
        did = "was simplified" if applied else "only inputs or outputs were changed"
        said = f"{name} had no problem{to}, and {did}" if to else f"{name}, as asked"
    return f"{word}: {said}"


def short_report(
    report: Report,
    exit_code: int,
    *,
    dry_run: bool = False,
    step: NextStep | None = None,
    style: Style = PLAIN,
) -> str:
    """Return a run in at most 20 lines; the arguments are those of the whole text view."""
    tone = headline(report, exit_code, dry_run=dry_run).tone
    first = verdict_line(report, exit_code, dry_run=dry_run)
    word, _, rest = first.partition(": ")
    lines = [f"{style.paint(word, TONES[tone], 'bold')}: {rest}"]
    settings, notes = notes_parted(report.notes)
    lines += labelled_whole(*_output(report, dry_run))
    for label, text in (
        ("int8", integers_sentence(report)),
        ("verified", verified(report)),
        ("engine", engine_sentence(report.engine, report.target)),
    ):
        lines += labelled_short(label, text)
    if report.placed_after is not None:
        from graphfix.rendering.placement_text import placed_run

        for label, text in placed_run(report):
            lines += labelled_short(label, text)
    if report.costs is not None:
        from graphfix.rendering.cost_text import cost_sentence

        lines += labelled_short("cost", cost_sentence(report.costs))
    lines += labelled_whole("settings", settings)
    lines += _notes(report, notes)
    left = problems(report.findings_after)
    kinds = group_findings(left)
    gone, repairs = _gone(report), repair_lines(report, all_tried=word != Word.NOT_DONE)
    readings = [
        [one_line(f"{printable(site.node.op or 'output')}: {printable(site.note)}", "  ")]
        for site in mended_sites(report.outcomes)
    ]
    lists = [
        Listed(
            f"Problems left: {len(left)}",
            [left_lines(group, report) for group in kinds],
            whole=[left_lines(group, report, whole=True) for group in kinds],
            legend=short_legend(left),
        ),
        Listed("Not done", _not_done(report) if word == Word.NOT_DONE else []),
        Listed(
            _repaired(report, gone),
            [[problem_line(group)] for group in gone],
            minor=bool(left),
        ),
        Listed(f"Readings: {len(readings)}", readings),
        Listed(f"{_deeds(report)}: {len(repairs)}", repairs, minor=bool(left)),
        Listed(
            "Interface changes",
            [[one_line(f"{c.name}: {c.old} -> {c.new}", "  ")] for c in report.io_changes],
        ),
        Listed("Reproducers", _reproducers(report)),
    ]
    if step is not None and step.program and not next_steps(report, exit_code):
        program = Listed(f"Next: {_lower(RUN_PROGRAM)}", [step.program.splitlines()])
        for fewer in ((), (_DEEDS,), (_DEEDS, _PROBLEMS)):
            shorter = [structs.replace(e, minor=e.minor or n in fewer) for n, e in enumerate(lists)]
            whole = fitted(lines, [*shorter, program], style)
            if len(whole) <= MOST:
                return join(whole)
    return join(fitted(lines, [*lists, _next(report, exit_code, step)], style))


def _deeds(report: Report) -> str:
    """Return what the passes did: only what had a problem was repaired."""
    return "Repairs" if problems(report.findings_before) else "Changes"


def verified(report: Report) -> str:
    """Say how the whole result was compared with the input, and on how many inputs."""
    found = report.verification
    source = printable(basename(report.input.path) or "the model")
    applied = any(o.status is Status.APPLIED for o in report.outcomes)
    ran = report.engine is not None and report.engine.did is Asked.RAN
    if not applied and not ran and found.status is Verdict.EQUAL:
        if report.io_changes:
            return "no node was changed, so nothing had to be compared"
        written = report.output
        if written is not None and written.sha256 != report.input.sha256:
            return "no repair was made; notes say what differs from the input"
        return "nothing was changed, so nothing had to be compared"
    on = f" on {count(found.samples, 'input')}" if found.samples else ""
    worst = max((o.max_rel for o in found.outputs if o.max_rel is not None), default=0.0)
    by = f", relative error {number(worst)}" if worst else ""
    alone = _alone(report)
    match found.status:
        case Verdict.EQUAL | Verdict.BUILT:
            where = found.method.partition(", ")[0].rpartition(" against ")[2]
            text = f"outputs equal{on} ({where}){by}{_as_read(report)}"
            return f"{text}; {alone}" if alone else text
        case Verdict.LOSSY:
            limit = found.expected_rel
            other = f"expect up to {number(limit)} of others" if limit else "others may differ more"
            more = f"{by} of the largest value; {other}" if by else ""
            return f"outputs differ as --allow-lossy allows{on}{more}"
        case Verdict.OFF:
            return "no: --verify off"
        case Verdict.MISMATCH:
            return f"no: outputs differ from those of {source}: {found.reason}"
        case _:
            each = "each repair on its own, " if every_site_equal(report.outcomes) else "no: "
            text = f"{each}{_UNDECIDED[found.status]}: {found.reason}"
            return f"{text}; {alone}" if alone else text


def _as_read(report: Report) -> str:
    """Say how a file that was mended compared with what its operators give one by one."""
    if report.reading is None:
        return ""
    many = count(report.reading.samples, "input")
    on = f" on {many}" if report.reading.samples else ""
    return f"; the file as it came, node by node: {report.reading.status}{on}"


def _alone(report: Report) -> str:
    """Say which repairs were not shown to be equal on their own; empty for none."""
    proofs = [
        site.certificate.status
        for outcome in report.outcomes
        if outcome.status is Status.APPLIED
        for site in outcome.sites
        if site.certificate is not None
    ]
    other = Counter[Verdict](status for status in proofs if status is not Verdict.EQUAL)
    others = [f"{other[verdict]} {verdict}" for verdict in Verdict if other[verdict]]
    return f"of {len(proofs)} repairs compared alone {', '.join(others)}" if others else ""


def repair_lines(report: Report, *, all_tried: bool = True) -> list[list[str]]:
    """Return a line for each repair: those that removed a problem first, then what tidied up.

    Two lines are for places that ended in many ways.

    Args:
        report: The run.
        all_tried: List those that failed as well, which `Not done` has where there is one.
    """
    helpful = {name for f in report.findings_before if f.blocks for name in f.removed_by}
    applied = _joined(o for o in report.outcomes if o.status is Status.APPLIED)
    failed = _joined(o for o in report.outcomes if o.status is Status.FAILED and all_tried)
    applied.sort(key=lambda o: (o.pass_id not in helpful, _only_unrun(o)))
    width = max((len(o.pass_id) for o in (*failed, *applied)), default=0)
    lines = [[one_line(_failed(o.reason), f"  {o.pass_id.ljust(width)}  ")] for o in failed]
    for outcome in applied:
        kinds = {site.accuracy for site in outcome.sites}
        label = " and ".join(kind for kind in Accuracy if kind in kinds)
        places = count(len(outcome.sites), "place")
        text = ", ".join(filter(None, (places, label, *proof_texts(outcome))))
        name = printable(outcome.pass_id)
        line = f"  {name.ljust(width)}  {text}"
        lines.append([line] if len(line) <= WIDTH else wrap(f"{name}: {text}", "    ", "  "))
    return lines


def _failed(reason: str) -> str:
    """Say that a repair failed, and once that it was rolled back."""
    is_rolled_back = "rolled back" in reason.partition(":")[0]
    return f"failed, {'' if is_rolled_back else 'rolled back: '}{reason}"


def proof_texts(outcome: Outcome) -> list[str]:
    """Say how the places of a repair compared on their own; unlike results are not added up."""
    texts: list[str] = []
    proofs = [site.certificate for site in outcome.sites if site.certificate is not None]
    run = [proof for proof in proofs if proof.status is Verdict.EQUAL and proof.samples]
    same = sum(proof.status is Verdict.EQUAL and not proof.samples for proof in proofs)
    alone = len(run) == len(outcome.sites)
    if run:
        least, most = min(p.samples for p in run), max(p.samples for p in run)
        on = count(least, "input") if least == most else f"{least} to {most} inputs"
        texts.append(f"{'' if alone else f'{len(run)} '}equal on {on}")
    if same:
        texts.append(f"{same} unchanged (not run)")
    other = Counter[Verdict](p.status for p in proofs if p.status is not Verdict.EQUAL)
    texts += [f"{other[verdict]} {verdict}" for verdict in Verdict if other[verdict]]
    mended = mended_sites((outcome,))  # the whole file was compared as it was read
    unproved = [s for s in outcome.sites if s.certificate is None and s not in mended]
    without = sum(bool(site.removed or site.added) for site in unproved)
    if len(unproved) > without:  # equal weights stored once, an opset, a declared size
        texts.append("no node changed")
    return [*texts, *([f"{without} not compared"] if without else [])]


def _only_unrun(outcome: Outcome) -> bool:
    proofs = [site.certificate for site in outcome.sites if site.certificate is not None]
    return not any(proof.samples for proof in proofs)


def _joined(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Return one outcome for each pass, with all of its sites."""
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.pass_id, []).append(outcome)
    return [
        Outcome(name, all_of[0].status, all_of[0].reason, tuple(s for o in all_of for s in o.sites))
        for name, all_of in found.items()
    ]


def _output(report: Report, dry_run: bool) -> tuple[str, str]:
    """Return a label and where the result is."""
    if report.output is None or dry_run:
        return "output", f"nothing was written{' (dry run)' if dry_run else ''}"
    if report.output.sha256 != report.input.sha256:
        return "output", report.output.path
    if report.output.path == report.input.path:
        return "output", f"{report.output.path}, which is as it was"
    return "copy", report.output.path


def _notes(report: Report, notes: Sequence[str]) -> list[str]:
    """Return what remains that blocks nothing, and what else is to be said: a line each."""
    groups = group_findings(f for f in report.findings_after if not f.blocks)
    texts = [
        f"{f'{len(g.nodes)} x {subject(g)}: ' if g.nodes else ''}{g.findings[0].message}"
        for g in groups
    ]
    # An option that has no effect comes first: whoever typed it expects one.
    idle = [note for note in notes if note.startswith("--")]
    texts = [*idle, *texts, *(note for note in notes if note not in idle)]
    if len(texts) == 1:
        return labelled_short("notes", texts[0])
    lines = [
        one_line(text, "  " + ("" if number else "notes").ljust(LABEL))
        for number, text in enumerate(texts[:_NOTES_SHOWN])
    ]
    left = len(texts) - len(lines)
    return [*lines, *([f"{' ' * (2 + LABEL)}and {left} more (-v lists them)"] if left else [])]


def _gone(report: Report) -> list[Group]:
    """Return the kinds of problems of which none is left."""
    left = {(f.rule, f.feature) for f in report.findings_after if f.blocks}
    groups = group_findings(problems(report.findings_before))
    return [group for group in groups if (group.rule, group.feature) not in left]


def _repaired(report: Report, gone: Sequence[Group]) -> str:
    """Return the heading above the kinds of problems of which none is left."""
    now = Counter((f.rule, f.feature) for f in problems(report.findings_after))
    was = Counter((f.rule, f.feature) for f in problems(report.findings_before))
    listed = sum(len(group.findings) for group in gone)
    fewer = (was - now).total()
    return f"Problems repaired: {fewer}" + (
        f", {listed} of kinds all gone" if fewer > listed else ""
    )


def _not_done(report: Report) -> list[list[str]]:
    """Return what a pass that was asked for did not do: where, and why."""
    entries: list[list[str]] = []
    for outcome in report.outcomes:
        if outcome.status is Status.APPLIED:
            continue
        nodes = distinct(node_label(site.node) for site in outcome.sites)
        at = f" at {capped(nodes, 2)}" if nodes else ""
        status = str(outcome.status).replace("_", " ")
        why = f": {outcome.reason}" if outcome.reason else ""
        text = f"{outcome.pass_id} {status}{at}{why}"
        entries.append(wrap(printable(" ".join(text.split())), "    ", "  "))
    return entries


def _reproducers(report: Report) -> list[list[str]]:
    return [
        [
            one_line(reproduced_at(made), "  "),
            f"    {replay_line(made)}" if made.folder else one_line(made.reason, "    "),
        ]
        for made in report.reproducers
    ]


def _next(report: Report, exit_code: int, step: NextStep | None) -> Listed:
    """Return the next command, or advice where problems are left; commands are never cut."""
    entries = [wrap(printable(text), "    ", "  - ") for text in next_steps(report, exit_code)]
    if step is None:
        return Listed("Next", entries)
    lines = [f"  {step.command}"] if step.command else []
    lines += [one_line(step.note, "  ")] if step.note else []
    lines += [_WHERE] if step.program else []
    intent = intent_of(step, report)
    if not entries:
        return Listed(f"Next: {_lower(intent)}", [lines])
    return Listed("Next", [*entries, [f"  - {intent}:", f"  {lines[0]}", *lines[1:]]])


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]
