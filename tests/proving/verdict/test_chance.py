"""Tensors drawn at random are compared by distribution."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from graphfix.proving.models import compare_files
from graphfix.proving.values.kinds import Array
from graphfix.proving.verdict.chance import differing, repetitions
from graphfix.report import Verdict, Verification

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g'
P = np.array([0.02, 0.3, 0.5, 0.9, 0.0, 1.0])


def draws(kind: str, seed: int, runs: int = 4000) -> Array:
    rng = np.random.default_rng(seed)
    shape = (runs, 6)
    uniform = rng.random(shape)
    normal = rng.standard_normal(shape)
    kinds: dict[str, Array] = {
        "normal": normal,
        "wider": normal * 1.3,
        "moved": normal + 0.3,
        "flat": (uniform - 0.5) * 12**0.5,
        "copies": np.repeat(normal[:, :1], 6, axis=1),
        "coins": (uniform < P) * 1.0,
        "turned": (uniform < P[::-1]) * 1.0,
        "rare": (uniform < 0.0005) * 1.0,
    }
    return kinds[kind]


@pytest.mark.parametrize("kind", ["normal", "flat", "coins", "rare"])
def test_one_distribution_does_not_differ(kind: str) -> None:
    for seed in range(20):
        assert differing(draws(kind, seed), draws(kind, 100 + seed)) == ""


@pytest.mark.parametrize(
    ("one", "two", "reason"),
    [
        ("normal", "wider", "mean square"),
        ("normal", "moved", "mean"),
        ("normal", "flat", "distribution"),
        ("normal", "copies", "independently"),
        ("coins", "turned", "mean differs"),
    ],
)
def test_others_do(one: str, two: str, reason: str) -> None:
    assert reason in differing(draws(one, 1), draws(two, 2))
    assert reason in differing(draws(two, 1), draws(one, 2))


def test_what_is_swapped_between_elements_differs() -> None:
    # All numbers together are the same.
    left, right = draws("coins", 1)[:, 1:4], draws("coins", 2)[:, [3, 2, 1]]
    assert "mean differs" in differing(left, right)


def test_an_element_that_never_varies_has_one_value() -> None:
    left = draws("normal", 1)
    left[:, 2] = 1.0
    right = draws("normal", 2)
    right[:, 2] = 1.0
    assert differing(left, right) == ""
    right[:, 2] = 1.0 + 1e-6
    assert "does not vary" in differing(left, right)


def test_nothing_and_what_is_not_finite() -> None:
    assert differing(np.zeros((60, 0)), np.zeros((60, 0))) == ""
    assert "finite" in differing(np.full((60, 1), np.nan), np.zeros((60, 1)))
    assert [repetitions(n) for n in (0, 1, 100, 10**6)] == [2000, 2000, 400, 60]


def compare(tmp_path: Path, before: str, after: str) -> Verification:
    one, two = tmp_path / "before.onnx", tmp_path / "after.onnx"
    for path, text in ((one, before), (two, after)):
        path.write_bytes(parser.parse_model(HEAD + text).SerializeToString())
    return compare_files(one, two)


COINS = """(float[3, 4] x) => (float[3, 4] y, float[3, 4] d)
{ p = Sigmoid(x) d = Bernoulli(p) y = Add(d, x) }"""
SHARES = """(float[3, 4] x) => (float[3, 4] y, float[3, 4] d)
{ p = Sigmoid(x) u = RandomUniformLike%s(p) c = %s d = Cast<to = 1>(c) y = Add(d, x) }"""


def test_coins_are_compared_with_shares(tmp_path: Path) -> None:
    found = compare(tmp_path, COINS, SHARES % ("", "Less(u, p)"))
    assert found.status is Verdict.EQUAL
    assert "d: drawn at random, compared by distribution, not by value" in found.reason
    # 1 with probability 1 - p, and another range.
    assert compare(tmp_path, COINS, SHARES % ("", "Less(p, u)")).status is Verdict.MISMATCH
    other = compare(tmp_path, COINS, SHARES % ("<high = 1.2>", "Less(u, p)"))
    assert other.status is Verdict.MISMATCH
    assert "drawn otherwise: d: the " in other.reason


def test_one_number_for_all_elements_is_noticed(tmp_path: Path) -> None:
    after = SHARES.replace("RandomUniformLike%s(p)", "RandomUniform%s<shape = [1]>()")
    found = compare(tmp_path, COINS, after % ("", "Less(u, p)"))
    assert found.status is Verdict.MISMATCH


def test_seeds_do_not_stop_the_draws(tmp_path: Path) -> None:
    before = COINS.replace("Bernoulli(p)", "Bernoulli<seed = 3.0>(p)")
    found = compare(tmp_path, before, SHARES % ("<seed = 3.0>", "Less(u, p)"))
    assert found.status is Verdict.EQUAL


def test_outputs_that_are_all_drawn(tmp_path: Path) -> None:
    text = "(float[2, 3] x) => (float[2, 3] y) { y = RandomNormalLike%s(x) }"
    found = compare(tmp_path, text % "", text % "")
    assert found.status is Verdict.EQUAL
    assert "by distribution" in found.reason
    assert compare(tmp_path, text % "", text % "<scale = 2.0>").status is Verdict.MISMATCH


def test_what_depends_on_more_is_not_reported(tmp_path: Path) -> None:
    before = """(float[4] x, float[4] z) => (float[4] y)
    { p = Sigmoid(x) d = Bernoulli(p) y = Add(d, z) }"""
    after = """(float[4] x, float[4] z) => (float[4] y)
    { p = Sigmoid(x) u = RandomUniformLike(z) c = Less(u, p) d = Cast<to = 1>(c) y = Add(d, z) }"""
    found = compare(tmp_path, before, after)
    assert found.status is Verdict.INCONCLUSIVE
    assert "it depends on z too" in found.reason


def test_what_only_a_shape_or_no_weight_decides_is_compared_exactly(tmp_path: Path) -> None:
    text = """(float[3, 3] x, float[1, 2, 3] s) => (float[3, 3] y, float[3, 3] z, float[1, 2] h)
    <float[1, 6, 3] w = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     float[1, 6, 2] r = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
     float[1, 12] b = {0, 0, 0, 0, %s, 1, 0, 0, 0, 0, 0, 0}, int64[1] first = {0}>
    { y = EyeLike<k = %s>(x) z = Neg(x) all = GRU<hidden_size = 2>(s, w, r, b)
      last = ReduceMax<axes = [0, 1], keepdims = 0>(all) h = Relu(last) }"""
    assert compare(tmp_path, text % (1, 0), text % (1, 0)).status is Verdict.EQUAL
    assert compare(tmp_path, text % (1, 0), text % (1, 1)).status is Verdict.MISMATCH
    assert compare(tmp_path, text % (1, 0), text % (2, 0)).status is Verdict.MISMATCH
