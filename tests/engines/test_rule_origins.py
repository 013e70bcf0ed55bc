"""Each rule was read in its engine's source or asked of it, and what the engine refutes is gone."""

from __future__ import annotations

import json

import pytest

from graphfix.engines.engine import Engine, engines
from graphfix.engines.known_rules import family_rules
from graphfix.engines.targets import load_target
from graphfix.rendering.rule_origins import GONE, PROBED, origins
from graphfix.rendering.target_pages import page

WITH_RULES = [each for each in engines() if each.names() and family_rules(each)]
FAMILIES = pytest.mark.parametrize("engine", WITH_RULES, ids=lambda each: each.family)


@FAMILIES
def test_no_rule_is_neither_read_nor_asked(engine: Engine) -> None:
    for name in engine.names():
        line = origins(load_target(name))
        assert line == "" or ", 0 neither; " in line, line


@FAMILIES
def test_what_was_asked_again_is_a_rule_and_the_engine_agrees(engine: Engine) -> None:
    path = None if engine.folder is None else engine.folder / PROBED
    if path is None or not path.is_file():
        pytest.skip("it is not an engine that this project can ask")
    found = json.loads(path.read_text(encoding="utf-8"))
    known = {each.id for each in family_rules(engine)}
    assert not set(found.get(GONE, {})) & known
    for name in found.keys() - {GONE}:
        assert name in engine.names()
        for rule, (asked, agreeing) in found[name].items():
            assert rule in known
            assert (rule, asked) == (rule, agreeing)
            assert asked > 0


def test_a_page_says_how_many() -> None:
    text = page(load_target("tract0.23"))
    (line,) = (each for each in text.splitlines() if each.startswith("- Rules: "))
    assert line == (
        "- Rules: 27 of its own: 27 asked of the engine, 0 read in its source, 0 neither; 1 gone."
        " Their examples were put to it again: 10 of 10 agree"
    )
