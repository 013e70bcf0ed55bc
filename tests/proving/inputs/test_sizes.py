"""Free sizes distinguishes dimensions; 0 and 1 are sizes too."""

from __future__ import annotations

from itertools import combinations
from math import gcd

import numpy as np
import pytest
from onnx import parser

from graphfix.proving.inputs import FeedMaker
from graphfix.proving.inputs.sizes import FREE_PATTERNS, choose, edges

IMAGE = {"N": "batch", "C": "other", "H": "spatial", "W": "spatial"}
MANY = {f"{kind}{n}": kind for kind in ("batch", "spatial", "other") for n in range(4)}


@pytest.mark.parametrize("symbols", [IMAGE, MANY], ids=["image", "many"])
@pytest.mark.parametrize("sample", range(12))
def test_no_two_free_sizes_have_a_common_factor(symbols: dict[str, str], sample: int) -> None:
    sizes = choose(symbols, sample, 0)
    assert set(sizes) == set(symbols)
    assert all(gcd(a, b) == 1 for a, b in combinations(sizes.values(), 2))
    assert min(sizes.values()) > 1


def test_sides_differ_in_both_directions() -> None:
    pairs = [(c["H"], c["W"]) for c in (choose(IMAGE, sample, 0) for sample in range(5))]
    assert any(high < wide for high, wide in pairs)
    assert any(high > wide for high, wide in pairs)


def test_networks_that_halve_five_times_get_sides_that_differ() -> None:
    for sample in range(5):
        sizes = choose(IMAGE, sample, 1)
        assert sizes["H"] != sizes["W"]
        assert sizes["H"] % 32 == sizes["W"] % 32 == 0


def test_square_images_still_have_their_turn() -> None:
    for attempt in range(2, FREE_PATTERNS):
        sizes = choose(IMAGE, 0, attempt)
        assert sizes["H"] == sizes["W"]


def test_each_dimension_is_0_and_1_alone_and_all_are_together() -> None:
    assert edges(["a", "b"], (1, 0)) == [
        {"a": 1, "b": 1},
        {"a": 0, "b": 0},
        {"a": 1},
        {"b": 1},
        {"a": 0},
        {"b": 0},
    ]
    assert edges(["a"], (1,)) == [{"a": 1}]
    assert edges([], (1, 0)) == []


def test_an_edge_goes_before_every_attempt() -> None:
    for attempt in (0, 1, 2, FREE_PATTERNS, 40):
        assert choose(IMAGE, 3, attempt, {"H": 0})["H"] == 0


def test_a_past_of_nothing_is_all_that_the_total_lacks() -> None:
    symbols = dict.fromkeys(["seq_len", "past_len", "total_len"], "other")
    sizes = choose(symbols, 0, 0, {"past_len": 0})
    assert sizes["total_len"] == sizes["seq_len"]


def test_inputs_of_size_0_are_made_for_every_role() -> None:
    model = parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
        g (float[N, M] x, int64[K] i, int64[N, 2] at, float[N] u, int64[J] s, bool[N] b)
          => (float[A, B] g0, float[C, D] g1, float[E, F] g2)
        { g0 = Gather (x, i)  g1 = ScatterND (x, at, u)  g2 = Reshape (x, s) }"""
    )
    maker = FeedMaker(model)
    for edge in maker.edges((0, 1)):
        feed = maker.draw(0, edge=edge)
        for symbol, size in edge.items():
            place = {"N": ("x", 0), "M": ("x", 1), "K": ("i", 0), "J": ("s", 0)}[symbol]
            assert np.asarray(feed[place[0]]).shape[place[1]] == size
