"""The mutator of `benchmarks/mutants/`: every kind of change, the same each time."""

from __future__ import annotations

import ast

import pytest

from benchmarks.mutants import changes

SOURCE = '''"""Docstring: build.Sub(a, b) stays."""

import numpy as np
from onnx import TensorProto

LIMIT = 2.5
UNUSED = 3


def infer(node):
    return 1 - 2


@rewrite("Mean", removes="op:Mean", emits=("Sub",))
def sample(node, build):
    """Docstring."""
    if node.rank < 3:
        raise Refuse("the rank is below 3")
    x = build.Cast(node.need(0), to=TensorProto.FLOAT)
    whole = build.Floor(build.Div(x, LIMIT))
    return helper(build, build.Sub(x, whole), axis=node.axis)


def helper(build, x, axis: int = 1 - 1):
    return build.ReduceSum(x, axes=[axis], keepdims=1)
'''
SIZES = """
@rewrite("Mean", removes="op:Mean", emits=("Sub",))
def sample(node, build):
    x, given = node.need(0), node.need(1)
    rows = x.dim(axis)
    last = build.Gather(build.Shape(x), 2)
    y = build.Pad(x, given)
    z = build.Neg(build.Add(y, 3))
    return build.Reshape(z, [rows, -1, x.shape[1]])
"""


def texts(kind: str) -> list[str]:
    found = changes.points({"sample": SOURCE}, ["sample"])
    return sorted(point.text for point in found if point.kind == kind)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("swapped operands", "build.Sub(x, whole) -> build.Sub(whole, x)"),
        ("swapped operands", "build.Div(x, LIMIT) -> build.Div(LIMIT, x)"),
        ("off by one", "node.rank < 3 -> node.rank <= 3"),
        ("wrong axis", "axes=[axis] -> axes=[a - 1 for a in [axis]]"),
        ("wrong axis", "axis=node.axis -> axis=node.axis - 1"),
        ("wrong rounding", "build.Floor(build.Div(x, LIMIT)) -> build.Ceil(build.Div(x, LIMIT))"),
        ("dropped Cast", "build.Cast(node.need(0), to=TensorProto.FLOAT) -> node.need(0)"),
        ("wrong dtype", "TensorProto.FLOAT -> TensorProto.FLOAT16"),
        ("changed constant", "2.5 -> 5.0"),
        ("dropped Refuse", "raise Refuse('the rank is below 3') -> pass"),
    ],
)
def test_every_kind_of_change_is_found(kind: str, text: str) -> None:
    assert any(known.startswith(text) for known in texts(kind)), texts(kind)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("wrong size", "x.dim(axis) -> x.dim(axis - 1)"),
        ("wrong size", "x.shape[1] -> x.shape[1 - 1]"),
        ("wrong size", "build.Gather(build.Shape(x), 2) -> build.Gather(build.Shape(x), 2 - 1)"),
        ("broken on 0", "build.Shape(x) -> build.Max(build.Shape(x), 1)"),
        ("broken on 0", "build.Reshape(z, [rows, -1, x.shape[1]]) -> build.Reshape(z, [rows, 0, "),
        ("swapped dims", "[rows, -1, x.shape[1]] -> [-1, rows, x.shape[1]]"),
        ("dropped sign", "build.Pad(x, given) -> build.Pad(x, build.Abs(given))"),
        ("dropped sign", "build.Neg(build.Add(y, 3)) -> build.Add(y, 3)"),
        ("through floats", "build.Add(y, 3) -> (lambda value: build.Cast(build.Cast(value, to=1)"),
    ],
)
def test_every_change_of_sizes_and_signs_is_found(kind: str, text: str) -> None:
    found = changes.points({"sample": SIZES}, ["sample"])
    known = [point.text for point in found if point.kind == kind]
    assert any(one.startswith(text) for one in known), known
    for point in found:
        compile(changes.changed(SIZES, point.place), "mutant", "exec")


def test_what_is_no_part_of_the_rewriting_stays() -> None:
    found = changes.points({"sample": SOURCE}, ["sample"])
    lines = {point.line for point in found}
    assert not lines & {1, 7, 10, 11, 14, 16}, "docstrings, unused constants, infer, the decorator"
    assert not [p for p in found if "Refuse('the rank is below 4')" in p.text]


def test_each_change_is_made_in_one_place_and_compiles() -> None:
    found = changes.points({"sample": SOURCE}, ["sample"])
    plain = ast.unparse(ast.parse(SOURCE)).splitlines()
    made = [changes.changed(SOURCE, point.place) for point in found]
    assert len(set(made)) == len(made) == 21
    for text in made:
        compile(text, "mutant", "exec")
        differing = [a for a, b in zip(plain, text.splitlines(), strict=True) if a != b]
        assert len(differing) == 1, differing


def test_the_choice_is_the_same_each_time_and_has_all_kinds() -> None:
    found = changes.points({"sample": SOURCE}, ["sample"])
    first, again = (changes.chosen(found, 12, 3) for _ in range(2))
    assert first == again
    assert {point.kind for point in first} == {point.kind for point in found}
    assert changes.chosen(found, 12, 4) != first
    assert len(changes.chosen(found, 1000, 3)) == len(found)
