"""What made inputs have to show: large integers, indices from the end, what a pass claims."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, parser

from graphfix.authoring.building import Builder
from graphfix.authoring.declaring import rewrite
from graphfix.errors import PassBug
from graphfix.ir.views import NodeView, Value
from graphfix.proving.inputs import draws
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.indices import counted_from_the_end
from graphfix.proving.sites.one_site import certify
from graphfix.proving.sites.samples import SampleMaker, Style
from graphfix.proving.sites.site_proof import Case
from graphfix.proving.values.kinds import Array, Feed
from graphfix.report import APPROXIMATE, EXACT, Certificate, Verdict


def model(text: str, opset: int = 17) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : {opset}]> {text}')


def proof(before: str, after: str, *, approximate: bool = False, claims: str = "") -> Certificate:
    claimed = frozenset(claims.split())
    case = Case(model(before), model(after), APPROXIMATE if approximate else EXACT, claimed)
    return certify(case, Evaluators({}))


REMAINDER = "g (int32[N, 4] x) => (int32[N, 4] y) <int32 k = {7}> { y = Mod (x, k) }"
SMALL_REMAINDER = """
    g (int32[N, 4] x) => (int32[N, 4] y)
    <int32 k = {7}, int32 most = {1500000000}, int32 zero = {0}>
    { r = Mod (x, k)  small = Less (x, most)  y = Where (small, r, zero) }
"""
FLOAT_REMAINDER = "g (T[3, 4] x) => (T[3, 4] y) <T k = {3}> { y = Mod <fmod = 1> (x, k) }"
FLOAT_REMAINDER_OF_SMALL_QUOTIENTS = """
    g (T[3, 4] x) => (T[3, 4] y) <T k = {3}, T most = {50331648}, T zero = {0}>
    { r = Mod <fmod = 1> (x, k)  a = Abs (x)  small = Less (a, most)  y = Where (small, r, zero) }
"""
TAKEN = "g (float[5, 3] x, int64[4] i) => (float[4, 3] y) { y = Gather (x, i) }"
TAKEN_FORWARD = """
    g (float[5, 3] x, int64[4] i) => (float[4, 3] y) <int64 zero = {0}>
    { j = Max (i, zero)  y = Gather (x, j) }
"""
SAME = "g (float[4, 4] x) => (float[4, 4] y) { y = Identity (x) }"
LIMITED = """
    g (float[4, 4] x) => (float[4, 4] y) <float low = {-5000}, float high = {5000}>
    { y = Clip (x, low, high) }
"""


@pytest.mark.parametrize(
    ("before", "after", "approximate"),
    [(REMAINDER, SMALL_REMAINDER, False), (TAKEN, TAKEN_FORWARD, False), (SAME, LIMITED, True)],
    ids=["large integers", "indices from the end", "large numbers, though approximate"],
)
def test_a_difference_shows(before: str, after: str, approximate: bool) -> None:
    assert proof(before, before, approximate=approximate).status is Verdict.EQUAL
    assert proof(before, after, approximate=approximate).status is Verdict.MISMATCH


@pytest.mark.parametrize("element", ["int32", "int64"])
def test_integers_without_axes_are_drawn_in_every_style(element: str) -> None:
    text = f"g ({element}[2] x, {element}[] a) => ({element}[2] y) {{ y = Max (x, a) }}"
    assert proof(text, text).status is Verdict.EQUAL
    assert proof(text, text.replace("Max", "Min")).status is Verdict.MISMATCH


@pytest.mark.parametrize("element", ["float", "double"])
def test_quotients_have_more_bits_than_a_float(element: str) -> None:
    before = FLOAT_REMAINDER.replace("T", element)
    after = FLOAT_REMAINDER_OF_SMALL_QUOTIENTS.replace("T", element)
    assert proof(before, before, approximate=True).status is Verdict.EQUAL
    assert proof(before, after, approximate=True).status is Verdict.MISMATCH


NEGATED = "g (float[3, 4] x) => (float[3, 4] y) { y = Neg (x) }"
FINITE_ONLY = """
    g (float[3, 4] x) => (float[3, 4] y) <float zero = {0}>
    { a = Neg (x)  b = Mul (x, zero)  y = Add (a, b) }
"""


@pytest.mark.parametrize(
    ("claims", "status"),
    [
        ("", Verdict.EQUAL),
        ("nan", Verdict.EQUAL),
        ("inf", Verdict.MISMATCH),
        ("inf nan", Verdict.MISMATCH),
    ],
)
def test_infinities_are_tried_where_they_are_claimed(claims: str, status: Verdict) -> None:
    found = proof(NEGATED, FINITE_ONLY, claims=claims)
    assert found.status is status
    assert ("special values" in found.reason) == (status is Verdict.MISMATCH)
    assert proof(NEGATED, NEGATED, claims=claims).status is Verdict.EQUAL


def test_indices_name_the_same_places() -> None:
    rng = np.random.default_rng(1)
    table = np.arange(40.0, dtype=np.float32).reshape(8, 5)
    rows = np.stack([rng.integers(0, 8, 60), rng.integers(0, 5, 60)], axis=-1)
    text = "g (float[8, 5] x, int64[60, 2] i) => (float[60] y) { y = GatherND (x, i) }"
    found = counted_from_the_end(model(text), {"x": table, "i": rows}, rng)["i"]
    assert isinstance(found, np.ndarray)
    assert (found < 0).any(axis=0).all()
    np.testing.assert_array_equal(table[tuple(found.T)], table[tuple(rows.T)])
    old = "g (float[8, 5] x, int64[60] i) => (float[60, 5] y) { y = Gather (x, i) }"
    feed: Feed = {"x": table, "i": rows[:, 0]}
    assert counted_from_the_end(model(old, 10), feed, rng) is feed


def test_a_claim_is_one_of_two() -> None:
    with pytest.raises(PassBug, match="a pass claims one of inf, nan"):

        @rewrite("Neg", emits=("Neg",), claims="zero")
        def wrong(node: NodeView, build: Builder) -> Value:
            """Claim what no one can claim."""
            return build.Neg(node.need(0))


def test_floats_that_a_style_replaces_are_not_drawn_before(monkeypatch: pytest.MonkeyPatch) -> None:
    maker = SampleMaker(model("g (float[3, 4] x) => (float[3, 4] y) { y = Neg (x) }"))
    maker.styles = (Style.NATURAL, Style.TIES, Style.LARGE)
    expected = [maker.draw(number)["x"] for number in range(3)]
    calls: list[tuple[int, ...]] = []
    drawn = draws.floats

    def counted(shape: tuple[int, ...], *rest: Any) -> Array:
        calls.append(shape)
        return drawn(shape, *rest)

    monkeypatch.setattr(draws, "floats", counted)
    for number, value in enumerate(expected):
        np.testing.assert_array_equal(maker.draw(number)["x"], value)
    assert calls == [(3, 4)]
    assert len(np.unique(np.asarray(expected[2]))) == 12
