"""The page of the first repair of a run that breaks the outputs."""

from __future__ import annotations

from os.path import basename

from onnx import ModelProto

from graphfix.bisection.bisecting import Blamed, RunBisection
from graphfix.ir.version import __version__
from graphfix.rendering.grouping import node_label
from graphfix.rendering.html.finding_cards import node_links
from graphfix.rendering.html.gauge import gauge
from graphfix.rendering.html.marks import marked
from graphfix.rendering.html.overview import overview
from graphfix.rendering.html.page import Answer, Card, Page, Section, Table
from graphfix.rendering.html.places import Places
from graphfix.rendering.html.repair_cards import became, proof_text
from graphfix.rendering.style import count, printable
from graphfix.rendering.wording import Tone, number
from graphfix.report import Verdict, Verification

_TONES = {Verdict.EQUAL: Tone.GOOD, Verdict.MISMATCH: Tone.BAD}


def bisect_run_page(model: str, proto: ModelProto, found: RunBisection) -> Page:
    """Return the page of where a run breaks the outputs.

    Args:
        model: The model.
        proto: The model as it came.
        found: What was found.
    """
    places = Places(proto)
    blamed = () if found.first is None else (found.first, *found.together)
    cards = tuple(_card(each, at, places) for at, each in enumerate(blamed, 1))
    tone = _TONES.get(found.status, Tone.CAREFUL)
    verification = found.verification
    looked = f"{count(found.sites, 'site')}, {count(found.comparisons, 'comparison')}"
    looked = printable(f"{looked}: {verification.method}." if verification.method else f"{looked}.")
    return Page(
        title=printable(f"{basename(model)} for {found.target}" if found.target else model),
        word=str(found.status).upper(),
        tone=tone,
        sentence=printable(verification.reason) or f"The outputs are {verification.status}.",
        answers=(
            Answer(
                "Do repairs break it?", _broken(found.status), printable(verification.reason), tone
            ),
            Answer(
                "Which one?",
                cards[0].title if cards else "None was found",
                f"Wrong from site {found.place} on." if found.place else "",
                Tone.BAD if cards else tone,
            ),
            Answer("How was it looked for?", "By running both", looked, tone),
        ),
        facts=(("Model", printable(model)), ("Target", found.target or "none")),
        sections=(
            Section("blamed", "First site that breaks the outputs", cards=cards),
            _outputs("with", "Outputs with it", found.wrong),
            _outputs("without", "Outputs without it", found.right),
            Section(
                "map",
                "The whole graph",
                ("As it came in; read it column by column.",),
                overview=overview(proto.graph, marked({"left": cards}), left="breaks it"),
            ),
        ),
        version=__version__,
    )


def _broken(status: Verdict) -> str:
    same = {Verdict.EQUAL: "No", Verdict.MISMATCH: "Yes", Verdict.LOSSY: "Within a loss"}
    return same.get(status, f"That was not shown ({status})")


def _card(blamed: Blamed, at: int, places: Places) -> Card:
    site = blamed.site
    label = node_label(site.node) or "the whole file"
    facts = (("became", became(site.removed, site.added)), ("proof", proof_text(site.certificate)))
    return Card(
        f"b{at}",
        printable(f"{', '.join(blamed.passes)} at {label}"),
        ("first" if at == 1 else "made in the same step", str(site.accuracy)),
        Tone.BAD if at == 1 else Tone.CAREFUL,
        (printable(site.note),) if site.note else (),
        facts=tuple((name, text) for name, text in facts if text),
        links=node_links((site.node,), places),
        gauge=gauge(site.certificate, wrong=True) if site.certificate is not None else None,
    )


def _outputs(place: str, title: str, found: Verification | None) -> Section:
    rows = () if found is None else found.outputs
    shown = tuple(
        (printable(o.name), str(o.status), number(o.max_abs), number(o.max_rel)) for o in rows
    )
    return Section(place, title, table=Table(("output", "status", "max abs", "max rel"), shown))
