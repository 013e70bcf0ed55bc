"""What a numpy model reads of a node must not depend on the numbers that are drawn for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.coverage.contrib.form import Const
from graphfix.authoring.accounted_models import modelled
from graphfix.authoring.registry import shipped_passes
from tests.passes.contrib_models import FORMS, REFUSED, Form, name_of, pass_of

PASSES = Path(__file__).parents[3] / "passes"
FAMILIES = ("aten", "contrib", "detection", "ml", "quantization")


def holders(function: ast.FunctionDef) -> set[str]:
    """Return the parameters of a numpy model that hold its arguments; none for another function."""
    return {
        one.arg
        for one in function.args.args
        if one.arg == "attributes"
        or (one.annotation is not None and "ArrayCall" in ast.unparse(one.annotation))
    }


def repeated(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, set[str]]]:
    """Yield what is done once for each of several things, and what these are called."""
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            names = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
            yield from ((statement, names) for statement in node.body)
        elif isinstance(node, ast.While):
            yield from ((statement, set[str]()) for statement in node.body)
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            targets = [n for g in node.generators for n in ast.walk(g.target)]
            yield node.elt, {n.id for n in targets if isinstance(n, ast.Name)}


def reads_in_loops(source: str) -> list[str]:
    """Return the reads of arguments that are not made where a loop has nothing to go over.

    A read by a name that is computed, as that of each of several arguments, is what such a loop is
    for.
    """
    found: list[str] = []
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        held = holders(function)
        for statement, names in repeated(function) if held else ():
            for node in ast.walk(statement):
                if not isinstance(node, ast.Call | ast.Subscript):
                    continue
                inner = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
                direct = node.func if isinstance(node, ast.Call) else node.value
                owner = direct.value if isinstance(direct, ast.Attribute) else direct
                passed = list(node.args) if isinstance(node, ast.Call) else [node.slice]
                holds = [isinstance(one, ast.Name) and one.id in held for one in (owner, *passed)]
                named = not holds[0] or isinstance(passed[0], ast.Constant)
                if any(holds) and named and not names & inner:
                    found.append(f"{function.name}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_no_model_reads_an_argument_only_where_there_are_numbers(family: str) -> None:
    found = [
        f"{path.name}: {read}"
        for path in sorted((PASSES / family).glob("*.py"))
        for read in reads_in_loops(path.read_text(encoding="utf-8"))
    ]
    assert not found, found


def test_what_the_search_finds() -> None:
    source = """
def model(inputs, attributes):
    for row in inputs[0]:
        row * attributes.get("factor", 1)
    for name in ("a", "b"):
        attributes[name]
    return [helper(attributes, 2) for _ in inputs[0]]
"""
    assert reads_in_loops(source) == [
        "model: attributes.get('factor', 1)",
        "model: helper(attributes, 2)",
    ]


EVALUATED = {one.id: one.evaluate for one in shipped_passes() if one.evaluate is not None}


@pytest.mark.parametrize(
    "form",
    [
        one
        for one in FORMS
        if one.runs and (one.operator, one.name) not in REFUSED and pass_of(one) in EVALUATED
    ],
    ids=name_of,
)
def test_a_model_reads_whatever_the_repair_takes(form: Form) -> None:
    """A form that is repaired is not refused for what the numpy model leaves unread."""
    evaluate = EVALUATED[pass_of(form)]
    inputs: list[Any] = [
        np.asarray(one.array) if isinstance(one, Const) else one for one in form.inputs
    ]
    results = modelled(evaluate, form.operator, form.domain, inputs, form.attributes)
    assert len(results) >= sum(kind is not None for kind in form.outputs[:1])
