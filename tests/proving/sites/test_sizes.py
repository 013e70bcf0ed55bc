"""What rewrites take one size for another with, and sizes of 0 and 1."""

from __future__ import annotations

import pytest
from onnx import ModelProto, parser

from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.one_site import certify
from graphfix.proving.sites.site_proof import Case
from graphfix.report import APPROXIMATE, EXACT, Certificate, Verdict


def model(text: str) -> ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')


def proof(before: str, after: str, *, approximate: bool = False) -> Certificate:
    return certify(
        Case(model(before), model(after), APPROXIMATE if approximate else EXACT), Evaluators({})
    )


SIDE = (
    "g (float[1, 2, {sides}] x) => (int64[1] y) {{ y = Shape <start = {axis}, end = {end}> (x) }}"
)


@pytest.mark.parametrize("sides", ["H, W", "?, ?"], ids=["names", "unknown"])
def test_two_dims_that_were_swapped_show(sides: str) -> None:
    before, after = (SIDE.format(sides=sides, axis=axis, end=axis + 1) for axis in (2, 3))
    assert proof(before, before).status is Verdict.EQUAL
    assert proof(before, after).status is Verdict.MISMATCH


SUM = "g (float[N, 3] x) => (float[3] y) <int64[1] a = {0}> { y = ReduceSum <keepdims = 0> (x, a) }"
BY_THE_FIRST = """
    g (float[N, 3] x) => (float[3] y) <int64[1] a = {0}, int64[1] one = {1}>
    { r = ReduceSum <keepdims = 0> (x, a)  f = Slice (x, a, one, a)  g = Squeeze (f, a)
      d = Sub (g, g)  y = Add (r, d) }
"""


def test_a_rewrite_that_breaks_on_nothing_shows() -> None:
    assert proof(SUM, SUM).status is Verdict.EQUAL
    found = proof(SUM, BY_THE_FIRST)
    assert found.status is Verdict.MISMATCH
    assert "the result fails where the original runs (@x@ = float32[0, 3])" in found.reason


def test_an_axis_of_1_that_is_dropped_shows() -> None:
    after = "g (float[N, M] x) => (int64[A] y) { z = Squeeze (x)  y = Shape (z) }"
    ranks = "g (float[N, M] x) => (int64[A] y) { y = Shape (x) }"
    assert proof(ranks, ranks).status is Verdict.EQUAL
    assert proof(ranks, after).status is Verdict.MISMATCH


KEPT = "g (float[N, M] x) => (float[A, B] y) <int64[2] s = {0, 0}> { y = Reshape (x, s) }"
LEFT = "g (float[N, M] x) => (float[A, B] y) <int64[2] s = {0, -1}> { y = Reshape (x, s) }"


def test_an_empty_input_is_outside_of_what_an_approximate_site_claims() -> None:
    assert proof(KEPT, LEFT).status is Verdict.MISMATCH
    assert proof(KEPT, LEFT, approximate=True).status is Verdict.EQUAL


def test_samples_of_0_and_1_alone_are_no_proof() -> None:
    # Runs with nothing else than an empty input.
    text = """
        g (float[N, 3] x) => (float[A] y) <int64[1] s = {0}>
        { y = Reshape <allowzero = 1> (x, s) }
    """
    assert proof(text, text).status is Verdict.INCONCLUSIVE


NEGATED = "g (float[N] x) => (float[A] y) { y = Neg (x) }"
FIRST_BLOCK = """
    g (float[N] x) => (float[A] y)
    <int64[1] a = {0}, int64[1] b = {300}, int64[1] e = {9000000000}>
    { f = Slice (x, a, b, a)  g = Slice (x, b, e, a)  h = Neg (f)  y = Concat <axis = 0> (h, g) }
"""


def test_a_size_past_the_bound_of_a_slice_is_tried() -> None:
    assert proof(NEGATED, NEGATED).status is Verdict.EQUAL
    found = proof(NEGATED, FIRST_BLOCK)
    assert found.status is Verdict.MISMATCH
    assert "float32[301]" in found.reason
