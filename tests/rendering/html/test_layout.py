"""Places of nodes: below what they read, apart from their neighbours, the same each time."""

from __future__ import annotations

from itertools import pairwise
from time import perf_counter

from hypothesis import given
from hypothesis import strategies as st

from graphfix.rendering.html.layout import depths, laid_out


def test_each_node_is_below_what_it_reads() -> None:
    assert depths(4, [(0, 1), (1, 2), (0, 2), (2, 3)]) == (0, 1, 2, 3)


def test_what_reads_nothing_is_just_above_its_first_reader() -> None:
    assert depths(5, [(0, 1), (1, 2), (3, 2), (2, 4)]) == (0, 1, 2, 1, 3)


def test_a_circle_ends() -> None:
    assert depths(2, [(0, 1), (1, 0)]) == (0, 0)


def test_a_chain_is_straight() -> None:
    placed = laid_out([10.0, 40.0, 20.0], [(0, 1), (1, 2)], 5)
    assert placed.centres == (20.0, 20.0, 20.0)
    assert placed.width == 40.0


def test_neighbours_do_not_overlap_and_children_stand_in_the_middle() -> None:
    placed = laid_out([10.0, 10.0, 10.0], [(0, 2), (1, 2)], 4)
    assert placed.centres == (5.0, 19.0, 12.0)


def test_an_edge_goes_around_what_is_between_its_ends() -> None:
    placed = laid_out([10.0, 10.0, 10.0], [(0, 1), (1, 2), (0, 2)], 4)
    ((way,),) = [way for way in placed.ways if way]
    assert abs(way - placed.centres[1]) >= 10 / 2 + 4


def test_without_ways_an_edge_is_a_line() -> None:
    assert laid_out([1.0] * 3, [(0, 1), (1, 2), (0, 2)], 1, around=False).ways == ((), (), ())


def test_an_empty_graph() -> None:
    assert laid_out([], [], 4).width == 0.0


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60))
def test_any_graph_is_placed_without_overlap(pairs: list[tuple[int, int]]) -> None:
    edges = [(min(pair), max(pair)) for pair in dict.fromkeys(pairs) if pair[0] != pair[1]]
    widths = [10.0 + n for n in range(31)]
    placed = laid_out(widths, edges, 4)
    assert all(placed.layers[start] < placed.layers[end] for start, end in edges)
    for layer in set(placed.layers):
        row = sorted((placed.centres[n], n) for n in range(31) if placed.layers[n] == layer)
        for (left, one), (right, other) in pairwise(row):
            assert right - left >= (widths[one] + widths[other]) / 2 + 4 - 1e-6
    assert placed == laid_out(widths, edges, 4)


def test_five_thousand_nodes_take_little_time() -> None:
    edges = [(n, n + 1) for n in range(4_999)] + [(n, n + 7) for n in range(0, 4_990, 3)]
    start = perf_counter()
    laid_out([10.0] * 5_000, edges, 4, around=False)
    assert perf_counter() - start < 10
