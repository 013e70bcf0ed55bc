"""The page of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from math import isfinite
from os.path import basename

from graphfix.engines.interface import NextStep
from graphfix.pipeline.results import Result
from graphfix.pipeline.sweep import Applied
from graphfix.rendering.grouping import Group
from graphfix.rendering.html.finding_cards import finding_cards
from graphfix.rendering.html.marks import marked
from graphfix.rendering.html.overview import overview
from graphfix.rendering.html.page import Answer, Page, Section, Table
from graphfix.rendering.html.places import Places
from graphfix.rendering.html.repair_cards import passes_of, refusal_cards, site_cards, tidy_cards
from graphfix.rendering.html.sketch import Surroundings
from graphfix.rendering.short_lines import next_steps, replay_line, reproduced_at
from graphfix.rendering.style import count, printable, size
from graphfix.rendering.text_report import left_title
from graphfix.rendering.wording import (
    RUN_PROGRAM,
    Tone,
    engine_sentence,
    exit_meaning,
    headline,
    integers_sentence,
    intent_of,
    number,
    problems,
    trust,
)
from graphfix.report import FileFacts, Report, Verdict

_SURE = (Verdict.EQUAL, Verdict.BUILT)


def run_page(result: Result, *, dry_run: bool = False, step: NextStep | None = None) -> Page:
    """Return the page of a run; the arguments are those of the text view."""
    report, code = result.report, result.exit_code
    said = headline(report, code, dry_run=dry_run)
    places = Places(result.original)
    around = Surroundings.of(result.original)
    left = Counter((f.rule, f.feature, f.severity) for f in report.findings_after)

    def remaining(group: Group) -> int:
        return left[group.key]

    before = finding_cards(report.findings_before, places, "f", remaining)
    after = finding_cards(problems(report.findings_after), places, "l")
    removers = {name for f in report.findings_before if f.blocks for name in f.removed_by}
    mending, tidying = _parted(result.sites, lambda each: not removers.isdisjoint(each.passes))
    repairs = site_cards(mending, places, around, "s", kept=True)
    tidied = tidy_cards(tidying, places, around)
    back = site_cards(result.rolled_back, places, around, "t", kept=False)
    refused = refusal_cards(report.outcomes, places)
    gone = [card for card in before if card.tone is Tone.GOOD]
    marks = marked({"changed": tidied, "fixed": [*gone, *repairs], "left": after})
    return Page(
        title=printable(f"{basename(report.input.path) or 'the model'} for {report.target}")
        if report.target
        else printable(basename(report.input.path) or "the model"),
        word=said.word,
        tone=said.tone,
        sentence=printable(said.sentence),
        answers=_answers(result),
        facts=_facts(report, code),
        sections=(
            Section("problems", "Problems in the input", cards=before),
            Section("repairs", "Repairs", cards=repairs),
            Section("taken-back", "Rolled back", cards=back),
            Section("refused", "Left alone", cards=refused),
            Section("left", left_title(code), cards=after),
            Section(
                "map",
                "The whole graph",
                ("As it came in; read it column by column.",),
                overview=overview(
                    result.original.graph,
                    marks,
                    fixed="repaired",
                    changed="changed as well",
                    left="a problem is left",
                ),
            ),
            _outputs(report),
            Section("interface", "Interface changes", table=_interface(report)),
            Section(
                "reproducers",
                "Reproducers",
                tuple(printable(reproduced_at(made)) for made in report.reproducers),
                commands=tuple(line for r in report.reproducers if (line := replay_line(r))),
            ),
            Section("notes", "Notes", tuple(printable(note) for note in report.notes)),
            Section(
                "next",
                "Next",
                tuple(map(printable, (*next_steps(report, code), *_intent(report, step)))),
                commands=_commands(step),
            ),
            Section("time", "Time by stage", table=times(report.seconds)),
            Section("tidied", "Further changes", cards=tidied),
        ),
        version=report.version,
    )


def times(seconds: dict[str, float]) -> Table:
    """Return the seconds of each stage, with its share of the whole."""
    known = {stage: spent for stage, spent in seconds.items() if isfinite(spent)}
    whole = sum(known.values()) or 1.0
    return Table(
        ("stage", "seconds"),
        tuple((printable(stage), f"{spent:.2f}") for stage, spent in known.items()),
        tuple(spent / whole for spent in known.values()),
    )


def _answers(result: Result) -> tuple[Answer, ...]:
    return (_fixed(result.report, result.exit_code), _changed(result), _trusted(result))


def _fixed(report: Report, code: int) -> Answer:
    before, after = problems(report.findings_before), problems(report.findings_after)
    what = f"{count(len(before), 'problem')} before, {len(after)} after"
    question = "Is it fixed?"
    if code == 4:
        return Answer(question, "No, nothing was written", what, Tone.BAD)
    if not before and not after:
        judge = f"The rules for {report.target}" if report.target else "The ONNX checker"
        return Answer(question, "It had no problem", f"{judge} found nothing.", Tone.GOOD)
    word = "Yes" if not after else "Partly" if len(after) < len(before) else "No"
    return Answer(question, word, what, Tone.BAD if after else Tone.GOOD)


def _changed(result: Result) -> Answer:
    report = result.report
    names = passes_of(result.sites)
    if not names and not report.io_changes:
        return Answer("What changed?", "Nothing", "No pass acted on the model.", Tone.GOOD)
    nodes = f"{count(report.input.nodes, 'node')} before"
    nodes += f", {result.model.node_count()} after"
    io = f"; {count(len(report.io_changes), 'change')} of inputs and outputs"
    text = f"{nodes}{io if report.io_changes else '; inputs and outputs are as they were'}."
    many = f"{count(len(result.sites), 'place')} by {count(len(names), 'pass', 'passes')}"
    return Answer("What changed?", many, text, Tone.CAREFUL if report.io_changes else Tone.GOOD)


def _trusted(result: Result) -> Answer:
    report = result.report
    proofs = [each.certificate for each in result.sites if each.certificate is not None]
    equal = [proof for proof in proofs if proof.status is Verdict.EQUAL]
    worst = max((p.max_rel for p in proofs if p.max_rel is not None), default=None)
    text = printable(trust(report))
    if proofs:
        text += f" {len(equal)} of {count(len(proofs), 'repair')} proved equal one by one"
        text += f", {_worst(worst)}." if worst is not None else "."
    status = report.verification.status
    all_sites = bool(proofs) and len(equal) == len(proofs)
    if status in _SURE:
        return Answer("Can I trust it?", "Yes, it was run and compared", text, Tone.GOOD)
    if status is Verdict.MISMATCH:
        return Answer("Can I trust it?", "No, it computes something else", text, Tone.BAD)
    if status is Verdict.LOSSY:
        return Answer("Can I trust it?", "Within the loss you allowed", text, Tone.CAREFUL)
    if all_sites:
        return Answer("Can I trust it?", "Each repair was proved", text, Tone.GOOD)
    return Answer("Can I trust it?", "That was not shown", text, Tone.CAREFUL)


def _intent(report: Report, step: NextStep | None) -> tuple[str, ...]:
    if step is None:
        return ()
    intent = intent_of(step, report) if step.command else RUN_PROGRAM
    if step.command and step.program:
        intent = f"{intent}; the program runs it, with arrays of your own"
    return (step.note, f"{intent}:") if step.note else (f"{intent}:",)


def _commands(step: NextStep | None) -> tuple[str, ...]:
    if step is None:
        return ()
    program = "\n".join(map(printable, step.program.splitlines()))
    return tuple(text for text in (printable(step.command), program) if text)


def _worst(error: float) -> str:
    return f"worst error {number(error)} relative" if error else "none with any difference"


def _facts(report: Report, code: int) -> tuple[tuple[str, str], ...]:
    facts = [("Target", report.target or "none"), ("Input", _file(report.input))]
    facts += [("Output", _file(report.output))] if report.output is not None else []
    facts += (
        [("Engine", printable(engine_sentence(report.engine, report.target)))]
        if report.target
        else []
    )
    integers = integers_sentence(report)
    facts += [("int8", integers)] if integers else []
    return (*facts, ("Exit code", f"{code}: {exit_meaning(report, code)}"))


def _file(facts: FileFacts) -> str:
    return printable(
        f"{facts.path or 'in memory'}, opset {facts.opset}, IR {facts.ir_version}, "
        f"{count(facts.nodes, 'node')}, {size(facts.bytes)}, sha256 {facts.sha256[:12]}"
    )


def _outputs(report: Report) -> Section:
    found = report.verification
    rows = [
        (printable(o.name), str(o.status), number(o.max_abs), number(o.max_rel))
        for o in found.outputs
    ]
    texts = [f"{found.status}" + (f", {found.method}" if found.method else ""), found.reason]
    return Section(
        "verification",
        "Outputs compared",
        tuple(printable(text) for text in texts if text),
        table=Table(("output", "status", "max abs", "max rel"), tuple(rows)),
    )


def _interface(report: Report) -> Table:
    return Table(
        ("name", "old", "new"),
        tuple((printable(c.name), printable(c.old), printable(c.new)) for c in report.io_changes),
    )


def _parted(
    sites: Iterable[Applied], belongs: Callable[[Applied], bool]
) -> tuple[list[Applied], list[Applied]]:
    mine: list[Applied] = []
    others: list[Applied] = []
    for each in sites:
        (mine if belongs(each) else others).append(each)
    return mine, others
