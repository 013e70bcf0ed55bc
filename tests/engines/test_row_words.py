"""Each word of each row is needed: without it, turned round or off by one, a probe shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, cast

import pytest

from graphfix.authoring.declaring import Unknown
from graphfix.engines.engine import Engine
from graphfix.engines.known_rules import KNOWN_WRONG, rows_of
from graphfix.engines.known_rules import ROWS as FILE
from graphfix.engines.profile import Target
from graphfix.engines.rule import Rule, answer_of
from graphfix.engines.rule_rows import SHARED, rows_of_table
from graphfix.errors import PassBug
from graphfix.ir.model import Model
from graphfix.ir.storage.toml_files import read_toml
from tests.engines.test_rows import TARGETS, first_of_each_folder, inferred, nodes_of

Path = tuple[str, ...]
Table = dict[str, Any]
CONDITIONS = ("opset", "attribute", "input", "output")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)")


def leaves(table: Table, path: Path = ()) -> Iterator[tuple[Path, object]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(cast("Table", value), (*path, key))
        else:
            yield (*path, key), value


def changed(table: Table, path: Path, value: object) -> Table:
    """Return a table with another value at a path; None drops it, and what is empty then."""
    key, rest = path[0], path[1:]
    new = deepcopy(table)
    inner = changed(new[key], rest, value) if rest else value
    if inner in (None, {}):
        del new[key]
    else:
        new[key] = inner
    return new


def mutants(row: Table) -> Iterator[tuple[str, Table]]:
    """Yield the row without each word, with it turned round, and with its numbers off by one."""
    for path, value in leaves({key: row[key] for key in CONDITIONS if key in row}):
        at = ".".join(path)
        yield f"without {at}", changed(row, path, None)
        if isinstance(value, bool):
            yield f"{at} is {not value}", changed(row, path, not value)
            continue
        text = str(value)
        turned = text.removeprefix("not ") if text.startswith("not ") else f"not {text}"
        texts = [turned]
        for match in NUMBER.finditer(text):
            for step in (1, -1):
                number = f"{float(match[0]) + step:g}"
                texts.append(text[: match.start()] + number + text[match.end() :])
        yield from ((f"{at} is {each}", changed(row, path, each)) for each in texts)


def answers(rule: Rule, models: list[Model], target: Target) -> list[str]:
    """Return what a rule says of the nodes of models that are of its operators."""
    found: list[str] = []
    for model in models:
        for node in nodes_of(model):
            if not rule.ops or (node.domain, node.op) in rule.ops:
                answer = answer_of(rule.check, rule.id, node, target)
                known = (
                    "unknown" if isinstance(answer, Unknown) else str(answer not in (None, False))
                )
                found.append(known)
    return found


ENGINES = [engine for engine in first_of_each_folder() if rows_of(engine)]


@pytest.mark.parametrize("engine", ENGINES, ids=[engine.name for engine in ENGINES])
def test_no_word_could_be_another(engine: Engine) -> None:
    assert engine.folder is not None
    table: Table = {}
    for name in (FILE, KNOWN_WRONG):
        if (engine.folder / name).is_file():
            table |= read_toml(engine.folder / name)[0]
    unseen: list[str] = []
    for row in rows_of(engine):
        models = [inferred(probe) for probe in (*row.fires, *row.silent, *row.unsure)]
        held = [target for target in TARGETS if row.rule.holds_for(target)]
        ends = (held[0], held[-1])
        as_it_is = [answers(row.rule, models, target) for target in ends]
        for what, mutant in mutants(table[row.rule.id]):
            try:
                (other,) = rows_of_table(
                    {SHARED: table.get(SHARED, {}), row.rule.id: mutant}, "a mutant"
                )
            except PassBug:  # it is not even a row
                continue
            if [answers(other.rule, models, target) for target in ends] == as_it_is:
                unseen.append(f"{row.rule.id} {what}")
    assert unseen == []
