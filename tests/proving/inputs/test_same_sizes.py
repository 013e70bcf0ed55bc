"""Whether two graphs compute the same with sizes."""

from __future__ import annotations

import pytest
from onnx import GraphProto, parser

from graphfix.proving.inputs.same_sizes import does_the_same_with_sizes

HEAD = (
    '<ir_version: 8, opset_import: ["" : 17]> g (float[N, M] x, float[K] t) => (float[A, B] y) '
    "<int64[1] k = {7}, int64[1] other = {8}, int64[1] rest = {-1}, int64[1] zero = {0}> "
)
ROWS = "s = Shape (x) r = Gather (s, zero)"
SHAPED = f"{ROWS} d = Concat <axis = 0> (r, rest)"


def graph(body: str) -> GraphProto:
    return parser.parse_model(f"{HEAD} {{ {body} }}").graph


def same(one: str, two: str) -> bool:
    found = does_the_same_with_sizes(graph(one), graph(two))
    assert found is does_the_same_with_sizes(graph(two), graph(one))
    return found


def test_other_names_and_other_values_are_no_matter() -> None:
    before = f"{SHAPED} a = Neg (x) y = Reshape (a, d)"
    renamed = "p = Shape (x) q = Gather (p, zero) w = Concat <axis = 0> (q, rest)"
    assert same(before, f"b = Abs (x) c = Exp (b) {renamed} y = Reshape (c, w)")


def test_graphs_without_sizes_are_the_same() -> None:
    assert same("y = Neg (x)", "y = Abs (x)")


@pytest.mark.parametrize(
    "after",
    [
        "y = Neg (x)",  # no size any more
        f"{ROWS} d = Concat <axis = 0> (rest, r) y = Reshape (x, d)",
        "s = Shape (x) r = Gather (s, k) d = Concat <axis = 0> (r, rest) y = Reshape (x, d)",
        f"{ROWS} p = Cast <to = 6> (r) q = Cast <to = 7> (p) "
        "d = Concat <axis = 0> (q, rest) y = Reshape (x, d)",
        f"{SHAPED} y = Expand (x, d)",
        f"{SHAPED} y = Reshape <allowzero = 1> (x, d)",
        "a = Neg (x) s = Shape (a) r = Gather (s, zero) d = Concat <axis = 0> (r, rest) "
        "y = Reshape (x, d)",
    ],
)
def test_any_other_arithmetic_or_use_is_another(after: str) -> None:
    assert not same(f"{SHAPED} y = Reshape (x, d)", after)


def test_sizes_that_become_numbers_are_followed_to_the_end() -> None:
    scaled = "s = Size (x) f = Cast <to = 1> (s) m = Mul (x, f)"
    assert same(f"{scaled} y = Neg (m)", f"{scaled} y = Neg (m)")
    assert not same(f"{scaled} y = Neg (m)", f"{scaled} y = Abs (m)")
    assert not same(f"{scaled} y = Neg (m)", "s = Size (x) f = Cast <to = 1> (s) y = Div (x, f)")


def test_places_and_tables_are_compared() -> None:
    assert not same("p = ArgMax (x) y = Gather (t, p)", "p = ArgMin (x) y = Gather (t, p)")
    assert same("p = ArgMax (x) y = Gather (t, p)", "q = ArgMax (x) y = Gather (t, q)")


def test_bounds_of_slices_are_compared_with_what_they_cut() -> None:
    cut = "c = Slice (x, zero, k) y = Neg (c)"
    assert same(cut, "b = Slice (x, zero, k) y = Abs (b)")
    assert not same(cut, "b = Slice (x, zero, other) y = Neg (b)")
    assert not same(cut, "a = Neg (x) y = Slice (a, zero, k)")


def test_subgraphs_are_not_looked_into() -> None:
    branches = (
        "c = Cast <to = 9> (k) y = If (c) <then_branch = a () => (float[A, B] p) "
        "{ p = Neg (x) }, else_branch = b () => (float[A, B] q) { q = Abs (x) }>"
    )
    assert not same(branches, branches)
