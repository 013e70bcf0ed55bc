"""The index of patterns: what it does not give cannot match, and what it gives are few."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import onnx
from hypothesis import given
from hypothesis import strategies as st

from graphfix.authoring import Builder, Find, Match, NodeView, Pattern, Sought, Value, rewrite
from graphfix.authoring.patterns.index import DEPTH, MOST_VARIANTS, Index
from graphfix.authoring.patterns.match import Unmatched
from graphfix.ir.model import Model
from graphfix.pipeline.sweep import PATTERN_ROUNDS
from graphfix.testing import assert_rewrite, run_pass

OPS = ("Add", "Mul", "Sub", "Neg", "Exp")
HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, float[2] z) => (float[2] y) '


def gated(find: Find, x: Sought, z: Sought) -> Sought:
    return x * find.Exp(find.either(z, find.Neg(z)) + x)


def folded(find: Find, x: Sought) -> Sought:
    return find.either(find.Neg(find.Exp(x)), find.Exp(find.Neg(x)), find.Add(x, x))


def deep(find: Find, x: Sought, z: Sought) -> Sought:
    return find.Neg(find.Neg(find.Neg(find.Neg(find.Neg(x + z)))))


def many(find: Find, x: Sought, z: Sought) -> Sought:
    either = find.either(find.Neg(x), find.Exp(x), x)
    other = find.either(find.Neg(z), find.Exp(z), z)
    return (either + other) * (find.Exp(either) + find.Neg(other))


def anything(find: Find, x: Sought, z: Sought) -> Sought:
    return find.Sub(x, find.value(z, lambda value: value.rank == 1, "a row"))


PATTERNS = [rewrite.pattern(one) for one in (gated, folded, deep, many, anything)]


def index_of(patterns: list[Pattern]) -> Index[str]:
    index: Index[str] = Index()
    for pattern in patterns:
        index.add(pattern.outputs, pattern.name)
    return index


def drawn(choices: list[tuple[int, int, int]]) -> Model:
    """Return a graph in which each node reads two of those before it."""
    names = ["x", "z"]
    nodes: list[str] = []
    for place, (op, one, two) in enumerate(choices):
        inputs = [names[-1 - one % len(names)], names[-1 - two % len(names)]]
        name = OPS[op]
        given = ", ".join(inputs[: 1 if name in ("Neg", "Exp") else 2])
        nodes.append(f"v{place} = {name} ({given})")
        names.append(f"v{place}")
    text = HEAD + "{ " + " ".join(nodes) + f" y = Identity ({names[-1]}) }}"
    return Model(onnx.parser.parse_model(text))


STEPS = st.tuples(st.integers(0, len(OPS) - 1), st.integers(0, 3), st.integers(0, 3))


@given(st.lists(STEPS, min_size=3, max_size=24))
def test_whatever_matches_is_in_the_index(choices: list[tuple[int, int, int]]) -> None:
    index = index_of(PATTERNS)
    for node in drawn(choices).nodes():
        reported = index.at(node)
        assert len(reported) == len(set(reported))
        for pattern in PATTERNS:
            try:
                pattern.match(NodeView(node))
            except Unmatched:
                continue
            assert pattern.name in reported


@given(st.lists(STEPS, min_size=3, max_size=12))
def test_a_match_names_what_it_stands_for(choices: list[tuple[int, int, int]]) -> None:
    for node in drawn(choices).nodes():
        try:
            match = PATTERNS[0].match(NodeView(node))
        except Unmatched:
            continue
        assert [inner.op for inner in match.nodes][:1] == ["Mul"]
        assert sorted({inner.op for inner in match.nodes} - {"Neg"}) == ["Add", "Exp", "Mul"]
        assert match["x"].tensor in node.inputs


def chain(index: int) -> Pattern:
    """Return a pattern of four operators that no other index has."""
    ops = [OPS[index // step % 5] for step in (1, 5, 25, 125)]

    def chained(find: Find, x: Sought, z: Sought) -> Sought:
        value = x
        for op in ops:
            unary = op in ("Neg", "Exp")
            value = getattr(find, op)(value) if unary else getattr(find, op)(value, z)
        return value

    return rewrite.pattern(chained)


def test_of_two_hundred_patterns_a_node_is_asked_for_few() -> None:
    index: Index[int] = Index()
    for number in range(200):
        index.add(chain(number).outputs, number)
    model = drawn([(number % 5, number // 5 % 3, number % 2) for number in range(100)])
    reported = [len(index.at(node)) for node in model.nodes()]
    assert DEPTH == 3
    assert 0 < max(reported) <= 12


def test_a_pattern_of_many_ways_is_tested_less_far_from_its_root() -> None:
    def wide(find: Find, x: Sought) -> Sought:
        value: Sought = find.either(*(getattr(find, op)(x, x) for op in ("Add", "Mul", "Sub")))
        for _ in range(2):
            value = value * find.either(value + x, value - x)
        return value

    index: Index[str] = Index()
    index.add(rewrite.pattern(wide).outputs, "wide")
    assert MOST_VARIANTS == 64
    text = HEAD + "{ a = Mul (x, x) b = Add (a, x) y = Mul (b, a) }"
    *_, last = Model(onnx.parser.parse_model(text)).nodes()
    assert index.at(last) == ["wide"]


def four(find: Find, x: Sought) -> Sought:
    return find.Neg(find.Neg(find.Neg(find.Neg(x))))


@rewrite(rewrite.pattern(four), emits="Neg", stage="named")
def pairs_of_neg(match: Match, build: Builder) -> Value:
    return build.Neg(build.Neg(match["x"]))


def test_what_a_site_makes_is_looked_at_again() -> None:
    names = ["x", *(f"n{i}" for i in range(40)), "y"]
    nodes = " ".join(f"{after} = Neg ({before})" for before, after in pairwise(names))
    feeds = [{"x": np.array([1.0, -2.0], np.float32), "z": np.zeros(2, np.float32)}]
    done = assert_rewrite(pairs_of_neg, HEAD + f"{{ {nodes} }}", feeds=feeds)
    assert done.ops == ["Neg"] * 3


def test_a_pattern_that_makes_what_it_looks_for_ends() -> None:
    @rewrite(rewrite.pattern(four), emits="Neg", stage="named")
    def same(match: Match, build: Builder) -> Value:
        return build.Neg(build.Neg(build.Neg(build.Neg(match["x"]))))

    nodes = "a = Neg (x) b = Neg (a) c = Neg (b) y = Neg (c)"
    done = run_pass(same, HEAD + f"{{ {nodes} }}")
    assert done.ops == ["Neg"] * 4
    assert [len(outcome.sites) for outcome in done.outcomes] == [PATTERN_ROUNDS]
