"""Sites that differ in constants alone: proved together, and distinguished where one is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.alike import certify_alike, groups_of
from graphfix.proving.sites.shorter import shorter
from graphfix.proving.sites.site_proof import Case
from graphfix.proving.values.kinds import Feed
from graphfix.report import Verdict

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '


def model(text: str) -> ModelProto:
    return parser.parse_model(HEAD + text)


def case(before: str, after: str) -> Case:
    models = model(before), model(after)
    return Case(*models, short=shorter(*models))


def scaled(scale: float, other: float | None = None, size: str = "1,16,200,300") -> Case:
    """Return a division and the product that stands for it."""
    head = f"g (float[{size}] x) => (float[a,b,c,d] y) "
    before = f"<float s = {{{scale}}}> {{ y = Div (x, s) }}"
    after = f"<float s = {{{1 / (other or scale)}}}> {{ y = Mul (x, s) }}"
    return case(head + before, head + after)


def test_sites_of_other_constants_and_sizes_are_alike() -> None:
    cases = [scaled(2), scaled(4), scaled(8, size="1,32,100,150"), scaled(2, size="1,5,5,5")]
    assert list(groups_of(cases)) == [[0, 1, 2]]


def test_what_decides_is_no_number() -> None:
    head = "g (float[2,3,4] x) => (float[a,b,c] y) "
    sums = [
        case(
            head + f"<int64[1] a = {{{axis}}}> {{ y = ReduceSum (x, a) }}", head + "{ y = Neg (x) }"
        )
        for axis in (0, 1, 1)
    ]
    assert list(groups_of(sums)) == [[1, 2]]
    head = "g (float[2,3,4] x) => (bool[a,b,c] y) "
    compared = [
        case(head + f"<float t = {{{t}}}> {{ y = Less (x, t) }}", head + "{ y = IsNaN (x) }")
        for t in (1, 2)
    ]
    assert list(groups_of(compared)) == []


def test_each_is_proved_and_the_wrong_one_is_looked_at_alone() -> None:
    cases = [scaled(2), scaled(4), scaled(8, other=8.5), scaled(16)]
    found = certify_alike(cases, Evaluators({}))
    assert [each and each.status for each in found] == [
        *(Verdict.EQUAL, Verdict.EQUAL, None, Verdict.EQUAL),
    ]
    right = found[0]
    assert right is not None
    assert right.samples >= 10
    assert right.shorter
    assert len(right.sizes[0].shapes) == 3


def test_own_values_are_those_of_each_site() -> None:
    cases = [scaled(2), scaled(4)]
    short = cases[0].short
    assert short is not None
    own: Feed = {"x": np.full((1, *short.sizes[0].values()), 0.5, np.float32)}
    with_own = [Case(c.before, c.after, own=own, short=c.short) for c in cases[:1]] + cases[1:]
    first, second = certify_alike(with_own, Evaluators({}))
    assert first is not None
    assert second is not None
    assert (first.own, second.own) == (1, 0)
    assert first.samples == second.samples + 1


@pytest.mark.parametrize("op", ["Nothing", "Mod"])
def test_a_group_that_does_not_load_is_looked_at_alone(op: str) -> None:
    head = "g (float[2,3] x) => (float[a,b] y) "
    cases = [
        case(head + f"<float s = {{{s}}}> {{ y = {op} (x, s) }}", head + "{ y = Neg (x) }")
        for s in (2, 3)
    ]
    assert certify_alike(cases, Evaluators({})) == [None, None]
