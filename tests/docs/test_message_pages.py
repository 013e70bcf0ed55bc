"""The pages on messages: every rule has one, found by what the engine says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from graphfix.engines.known_rules import all_rules
from graphfix.engines.targets import load_target, target_names
from graphfix.rendering import message_pages, pages


@cache
def made() -> Mapping[str, str]:
    return message_pages.pages()


@cache
def titles() -> dict[str, str]:
    return {name: text.partition("\n")[0] for name, text in made().items()}


def test_every_rule_is_on_one_page() -> None:
    reported = [
        rule for text in made().values() for rule in re.findall(r"\| rule \| `(.+?)` \|", text)
    ]
    said_when_asked = {"engine-says"}
    known = sorted(rule.id for rule in all_rules() if rule.id not in said_when_asked)
    assert sorted(reported) == known


def test_every_text_of_an_engine_is_there_as_it_is() -> None:
    blocks = {
        block
        for text in made().values()
        for block in re.findall(r"```text\n(.*?)\n```", text, re.S)
    }
    assert blocks == {rule.text for rule in all_rules() if rule.text}


def test_what_differs_from_model_to_model_is_not_in_a_title() -> None:
    assert not [title for title in titles().values() if re.search(r"\{\w*\}", title)]
    assert len(set(titles().values())) > 0.9 * len(titles())


def test_links_lead_to_pages() -> None:
    known = set(pages.pages())
    for name, text in made().items():
        for link in re.findall(r"\]\(([^)#]+\.md)\)", text):
            there = link.removeprefix("../") if link.startswith("../") else f"messages/{link}"
            assert there in known, (name, link)


def test_each_page_is_in_the_index() -> None:
    index = made()["index.md"]
    assert not [name for name in made() if name != "index.md" and f"]({name})" not in index]


def test_a_page_names_the_repairs_and_a_target_that_the_rule_holds_for() -> None:
    (rule,) = (r for r in all_rules() if r.id == "instancenormalization-scale-constant")
    targets = [load_target(name) for name in target_names()]
    text = message_pages.page([rule], targets)
    assert "The scale tensor is required to be an initializer." in text.splitlines()[0]
    assert "(../passes/instance-normalization-to-arithmetic.md)" in text
    (named,) = re.findall(r"graphfix run model\.onnx --target (\S+)", text)
    assert rule.holds_for(load_target(named))


def test_a_rule_without_a_text_says_whether_the_engine_is_silent() -> None:
    silent = next(r for r in all_rules() if r.id == "arg-last")
    targets = [load_target(name) for name in target_names()]
    text = message_pages.page([silent], targets)
    assert "without a word, and computes something else." in text


def test_the_page_of_every_operator_names_the_repairs_of_each() -> None:
    (text,) = (text for text in made().values() if "| rule | `operator-not-supported` |" in text)
    _, _, part = text.partition("| rule | `operator-not-supported` |")
    assert "graphfix run model.onnx --target trt8.6" in part
    assert "No pass removes it" not in part
    (row,) = (line for line in part.splitlines() if line.startswith("| `Mod` |"))
    assert "(../passes/mod-elimination.md)" in row
    (aten,) = (line for line in part.splitlines() if line.startswith("Operators of `aten`"))
    assert "`linalg_inv`" in aten
