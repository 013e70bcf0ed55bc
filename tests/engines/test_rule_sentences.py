"""The sentence of each rule of a family names the engine and is short enough to read at once."""

from __future__ import annotations

import re

import pytest

from graphfix.engines.engine import Engine, engines
from graphfix.engines.known_rules import family_rules

# What a title says in other words: the runtime after onnx2tf, and engines without more.
OTHER_NAMES = {"tflite": ("LiteRT",), "qnn": ("QNN",), "xnnpack": ("XNNPACK",)}
FAMILIES = [engine for engine in engines() if family_rules(engine)]


def names_of(engine: Engine) -> tuple[str, ...]:
    return (*engine.title.removesuffix(" for RTX").split(" by "), *OTHER_NAMES.get(engine.name, ()))


@pytest.mark.parametrize("engine", FAMILIES, ids=[engine.name for engine in FAMILIES])
def test_each_sentence_names_the_engine(engine: Engine) -> None:
    names = names_of(engine)
    own = [rule for rule in family_rules(engine) if rule.versions != "*"]
    silent = [rule.id for rule in own if not any(name in rule.message for name in names)]
    assert silent == []


@pytest.mark.parametrize("engine", FAMILIES, ids=[engine.name for engine in FAMILIES])
def test_each_sentence_is_complete(engine: Engine) -> None:
    said = {rule.id: rule.message for rule in family_rules(engine)}
    assert [known for known, text in said.items() if not text.endswith(".")] == []
    # A placeholder that nothing fills would be shown as it is.
    known = re.compile(r"\{(?:op|name|since)\}")
    assert [each for each, text in said.items() if "{" in known.sub("", text)] == []
