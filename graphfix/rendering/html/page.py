"""What is on a page, and its rendering: every text goes through the template, which escapes it."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from graphfix.rendering.html.drawing import Picture
from graphfix.rendering.html.gauge import Gauge
from graphfix.rendering.html.overview import Overview
from graphfix.rendering.html.plot import Plot
from graphfix.rendering.wording import Tone

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_FOLDER = Path(__file__).parent
_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True, slots=True)
class Answer:
    """One of the three answers that a page opens with."""

    question: str
    word: str
    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Link:
    """A word that leads to a place of the page; without a place it is only a word."""

    label: str
    place: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a heading; `bars` gives each row a bar, as a share of 1."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bars: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """One finding, repair or step.

    Attributes:
        place: Its id on the page.
        title: What it is about.
        tags: What it can be filtered by; shown as badges.
        tone: Its colour.
        lines: Sentences.
        quote: The words of an engine; empty where there are none.
        facts: Pairs of a label and a text.
        links: Where the nodes are.
        pictures: Captions and drawings.
        gauge: The worst error of its proof.
        table: Further rows.
    """

    place: str
    title: str
    tags: tuple[str, ...] = ()
    tone: Tone = Tone.CAREFUL
    lines: tuple[str, ...] = ()
    quote: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    links: tuple[Link, ...] = ()
    pictures: tuple[tuple[str, Picture], ...] = ()
    gauge: Gauge | None = None
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A chapter of a page.

    Attributes:
        place: Its id.
        title: Its heading.
        lead: Sentences below the heading.
        cards: What can be filtered and opened.
        table: Rows.
        overview: The map of a graph.
        plot: Errors along the depth.
        commands: Lines to be copied into a shell.
    """

    place: str
    title: str
    lead: tuple[str, ...] = ()
    cards: tuple[Card, ...] = ()
    table: Table | None = None
    overview: Overview | None = None
    plot: Plot | None = None
    commands: tuple[str, ...] = ()

    @property
    def filled(self) -> bool:
        """Whether there is anything to show."""
        return bool(
            self.lead
            or self.cards
            or (self.table is not None and self.table.rows)
            or self.overview
            or self.plot
            or self.commands
        )


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report.

    Attributes:
        title: The name of the model, and what was done.
        word: The verdict in a word or two.
        tone: How it sounds.
        sentence: What it means.
        answers: Three.
        facts: Pairs of a label and a text, about files and target.
        sections: Chapters; empty ones are not shown.
        version: graphfix's.
        groups: Of tags: those of one group are alternatives, as all others are together, and
            groups narrow each other.
    """

    title: str
    word: str
    tone: Tone
    sentence: str
    answers: tuple[Answer, ...]
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    version: str
    groups: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def shown(self) -> tuple[Section, ...]:
        """The chapters with anything in them."""
        return tuple(section for section in self.sections if section.filled)

    @property
    def has_map(self) -> bool:
        """Whether there is a map in which nodes can be searched."""
        return any(section.overview is not None for section in self.sections)

    @property
    def tags(self) -> tuple[tuple[str, int], ...]:
        """What cards can be filtered by, with how many there are of each."""
        counts: dict[str, int] = {}
        for section in self.sections:
            for card in section.cards:
                for tag in card.tags:
                    counts[tag] = counts.get(tag, 0) + 1
        return tuple(counts.items())


def rendered(page: Page) -> str:
    """Return a page as HTML.

    Nothing is fetched, and a policy in the page keeps a browser from it; of scripts it runs the one
    that is in the page alone.
    """
    from markupsafe import Markup

    script = Markup((_FOLDER / "page.js").read_text(encoding="utf-8"))
    digest = b64encode(sha256(script.encode()).digest()).decode()
    template = _environment().get_template("page.html.j2")
    return template.render(page=page, script=script, script_hash=digest)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["coded"] = _coded
    return made


def _coded(text: str) -> Markup:
    """Return a text, escaped, in which what is between backticks is code."""
    from markupsafe import Markup, escape

    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))
