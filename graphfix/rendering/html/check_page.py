"""The page of a check."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import basename

from onnx import ModelProto

from graphfix.ir.version import __version__
from graphfix.rendering.grouping import distinct
from graphfix.rendering.html.finding_cards import finding_cards
from graphfix.rendering.html.marks import marked
from graphfix.rendering.html.overview import overview
from graphfix.rendering.html.page import Answer, Page, Section
from graphfix.rendering.html.places import Places
from graphfix.rendering.style import PLAIN, count, printable
from graphfix.rendering.text_explanations import explanation_lines, named_pattern_texts
from graphfix.rendering.wording import Tone, engine_sentence, problems
from graphfix.report import Asked, EngineAsked, Finding
from graphfix.report.explanations import Explanation, NamedPattern


def check_page(
    path: str,
    target: str,
    proto: ModelProto,
    findings: Sequence[Finding],
    notes: Sequence[str] = (),
    *,
    explanations: Sequence[Explanation] = (),
    named: Sequence[NamedPattern] = (),
    engine: EngineAsked | None = None,
    command: str = "",
) -> Page:
    """Return the page of a check.

    Args:
        path: The model.
        target: The resolved target.
        proto: The model that was checked.
        findings: What was found.
        notes: Sentences that belong to no finding.
        explanations: What a run would do about each finding, where that was asked for.
        named: What passes that run only when they are named would do, where that was asked for.
        engine: Whether the engine itself was given the file.
        command: What repairs it.
    """
    found = tuple(findings)
    blocking = problems(found)
    places = Places(proto)
    cards = finding_cards(found, places, "f")
    word = "PROBLEMS" if blocking else "OK"
    many = f"{count(len(blocking), 'problem')} for {target}"
    return Page(
        title=printable(f"{basename(path)} for {target}"),
        word=word,
        tone=Tone.BAD if blocking else Tone.GOOD,
        sentence=many if blocking else f"No rule for {target} objects to it.",
        answers=(
            Answer(
                "Is it ready?",
                "No" if blocking else "Yes",
                many,
                Tone.BAD if blocking else Tone.GOOD,
            ),
            _repairable(blocking),
            _sure(blocking, engine, target),
        ),
        facts=(
            ("Model", printable(path)),
            ("Target", target),
            ("Nodes", str(len(proto.graph.node))),
        ),
        sections=(
            Section("problems", "Findings", cards=cards),
            Section(
                "explained",
                "What a run would do",
                tuple(line.strip() for line in explanation_lines(explanations, PLAIN) if line),
            ),
            Section("named", "Passes by name", tuple(named_pattern_texts(named))),
            Section(
                "map",
                "The whole graph",
                ("Read it column by column.",),
                overview=overview(
                    proto.graph,
                    marked({"left": [c for c in cards if c.tone is not Tone.GOOD]}),
                    left="has a finding",
                ),
            ),
            Section("notes", "Notes", tuple(map(printable, notes))),
            Section(
                "next",
                "Next",
                commands=(command,) if command and any(f.removed_by for f in blocking) else (),
            ),
        ),
        version=__version__,
    )


def _repairable(blocking: Sequence[Finding]) -> Answer:
    question = "What can be repaired?"
    if not blocking:
        return Answer(question, "Nothing has to be", "No finding blocks it.", Tone.GOOD)
    able = [f for f in blocking if f.removed_by]
    names = distinct(f.removed_by[0] for f in able)
    word = "All of it" if len(able) == len(blocking) else f"{len(able)} of {len(blocking)}"
    text = f"Passes that remove what was found: {', '.join(names)}." if names else "No pass does."
    tone = Tone.GOOD if len(able) == len(blocking) else Tone.CAREFUL if able else Tone.BAD
    return Answer(question, word if able else "None of it", text, tone)


def _sure(blocking: Sequence[Finding], engine: EngineAsked | None, target: str) -> Answer:
    question = "How sure is that?"
    asked = printable(engine_sentence(engine, target, "the file"))
    if engine is not None and engine.did is not Asked.NOT_RUN:
        return Answer(question, "The engine was asked", asked, Tone.GOOD)
    doubtful = [f for f in blocking if not f.certain]
    if doubtful:
        missing = ", ".join(distinct(f.missing for f in doubtful)[:4])
        some = count(len(doubtful), "finding")
        text = f"{some} depend on what the file does not say: {missing}. {asked}"
        return Answer(question, "Some is only possible", printable(text), Tone.CAREFUL)
    return Answer(question, "As sure as the rules", asked, Tone.GOOD)
