"""The page of a run: three answers, findings, repairs, the map, and nothing from outside."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from onnx import helper, parser

from graphfix.api import run
from graphfix.cli import main
from graphfix.engines.interface import NextStep
from graphfix.rendering.html.page import rendered
from graphfix.rendering.html.run_page import run_page
from graphfix.rendering.wording import Tone
from tests.rendering.html.pages import HOSTILE, Elements, model, repaired


@pytest.fixture(scope="module")
def text() -> str:
    return rendered(run_page(repaired()))


@pytest.fixture(scope="module")
def page(text: str) -> Elements:
    return Elements(text)


def test_it_opens_with_three_answers(page: Elements) -> None:
    answers = [reported for _, reported in page.of("article")]
    assert answers[0].startswith("Is it fixed? Yes 1 problem before, 0 after")
    assert answers[1].startswith("What changed? ")
    assert answers[2].startswith(
        "Can I trust it? Yes, it was run and compared It computes the same"
    )
    assert [reported for _, reported in page.of("h1")] == ["FIXED"]


def test_the_finding_has_the_words_of_the_engine(page: Elements) -> None:
    ((_, card),) = page.of("details", id="f1")
    assert "op:Mod: 1 node" in card
    assert "No importer registered for op: Mod" in card
    assert "reject" in card
    assert "repaired" in card


def test_the_repair_is_drawn_before_and_after_with_its_proof(page: Elements) -> None:
    ((attrs, card),) = page.of("details", id="s1")
    assert attrs["class"] == "card good"
    assert "worst error: " in card
    assert re.search(r"equal on \d+ samples", card)
    captions = [attrs["aria-label"] for attrs, _ in page.of("div", kind="canvas")]
    assert captions[0] == "Before: Mod, Add, input, Relu"
    assert captions[1].startswith("After: ")
    assert next(reported for _, reported in page.of("g", kind="removed")) == "Modfmod=1"
    assert "float32[N,4]" in [reported for _, reported in page.of("text")]


def test_the_map_has_each_node_and_leads_to_its_repair(page: Elements) -> None:
    places = [attrs.get("id", "") for _, attrs, _ in page.found]
    nodes = [place for place in places if re.fullmatch(r"n\d+", place)]
    assert nodes == ["n0", "n1", "n2"]
    ((attrs, reported),) = page.of("a", id="n1")
    assert attrs["href"] == "#s1"
    assert attrs["class"] == "fixed"
    assert reported.startswith("Mod modulo")


def test_each_link_leads_somewhere(page: Elements) -> None:
    places = {attrs["id"] for _, attrs, _ in page.found if "id" in attrs}
    leads = {attrs["href"] for attrs, _ in page.of("a")}
    assert leads <= {f"#{place}" for place in places}
    used = [attrs["href"] for attrs, _ in page.of("use")]
    assert set(used) <= {f"#{place}" for place in places}


def test_each_id_is_there_once(page: Elements) -> None:
    places = [attrs["id"] for _, attrs, _ in page.found if "id" in attrs]
    assert len(places) == len(set(places))


def test_nothing_is_fetched(text: str, page: Elements) -> None:
    for _, attrs, _ in page.found:
        assert "src" not in attrs
        assert attrs.get("href", "#").startswith(("#", "data:"))
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text


def test_time_is_reported_by_stage(page: Elements) -> None:
    rows = [reported for _, reported in page.of("tr")]
    assert any(re.fullmatch(r"verify\d+\.\d\d", row) for row in rows)


def test_what_opens_is_closed(page: Elements) -> None:
    assert page.closed()


def test_no_name_becomes_markup() -> None:
    proto = model(HOSTILE)
    for node in proto.graph.node:
        for names in (node.input, node.output):
            for at, name in enumerate(names):
                names[at] = name and f"{name}{HOSTILE}"
    for value in (*proto.graph.input, *proto.graph.output):
        value.name = f"{value.name}{HOSTILE}"
    proto.graph.initializer[0].name += HOSTILE
    proto.graph.node[1].attribute.append(helper.make_attribute(HOSTILE, HOSTILE))
    proto.graph.node.add(op_type=HOSTILE, domain=HOSTILE, input=["a" + HOSTILE], output=["q"])
    proto.opset_import.add(domain=HOSTILE, version=1)
    result = run(proto, target="trt8.4")
    said = replace(result, report=replace(result.report, notes=(HOSTILE,), seconds={HOSTILE: 1.0}))
    text = rendered(run_page(said))
    page = Elements(text)
    assert page.closed()
    assert len(list(page.of("script"))) == 1
    assert not list(page.of("img"))
    assert text.count("<script") == 1
    assert "&lt;script&gt;" in text


def test_what_is_left_is_reported_with_its_tone() -> None:
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17, "acme" : 1]> '
        "g (float[2] x) => (float[2] y) { y = acme.Warp (x) }"
    )
    made = run_page(run(proto, target="trt8.4"))
    assert made.word == "PROBLEMS"
    assert made.answers[0].word == "No"
    assert made.answers[0].tone is Tone.BAD
    assert [s.place for s in made.shown].count("left") == 1
    (spot,) = next(s.overview for s in made.sections if s.place == "map" and s.overview).spots
    assert spot.mark == "left"


def test_sites_that_were_not_to_be_proved_are_reported_without_a_drawing() -> None:
    result = run(model(), target="trt8.4", verify="off")
    made = run_page(result)
    cards = next(s.cards for s in made.sections if s.place == "repairs")
    assert cards[0].pictures == ()
    assert made.answers[2].tone is Tone.CAREFUL


def test_many_changes_that_no_finding_asked_for_share_a_card() -> None:
    lines = "\n".join(
        f"c{n} = Constant <value = float[1] {{{n}.0}}> ()\n a{n + 1} = Add (a{n}, c{n})"
        for n in range(60)
    )
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 13]> g (float[N] a0) => (float[N] a60) {' + lines + "}"
    )
    made = run_page(run(proto, target="trt8.4"))
    (card,) = next(s.cards for s in made.sections if s.place == "tidied")
    assert card.title == "constant-to-initializer: 60 places"
    assert card.table is not None
    assert len(card.table.rows) == len(card.links) == 60
    assert len(rendered(made)) < 120_000


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, html, markdown = (tmp_path / name for name in ("m.onnx", "r.html", "r.md"))
    path.write_bytes(model().SerializeToString())
    words = [
        "run",
        str(path),
        "--target",
        "trt8.4",
        "--report",
        str(html),
        "--report",
        str(markdown),
    ]
    assert main(words) == 0
    capsys.readouterr()
    assert html.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "m.onnx for trt8.4" in html.read_text(encoding="utf-8")
    assert markdown.read_text(encoding="utf-8").startswith("# FIXED")


def test_what_is_between_backticks_is_code_and_escaped() -> None:
    shown = run_page(repaired())
    said = f"see `graphfix targets {HOSTILE}`, not ` this"
    found = Elements(rendered(replace(shown, sentence=said)))
    assert f"graphfix targets {HOSTILE}" in [reported for _, reported in found.of("code")]
    assert len(list(found.of("script"))) == 1
    assert not list(found.of("img"))


def test_what_comes_next_says_what_its_command_is_for() -> None:
    step = NextStep("trtexec --onnx=a.onnx", "Build the engine", "put the plugins in first")
    fixed, left = repaired(), run(model(), target="trt8.4", passes=[])
    for result, intent in (
        (fixed, "Build the engine:"),
        (left, "See what the engine itself says:"),
    ):
        found = Elements(rendered(run_page(result, step=step)))
        ((_, chapter),) = found.of("section", id="next")
        assert f"put the plugins in first {intent} trtexec --onnx=a.onnx" in chapter
