"""Sites whose original rounding moves: what is left to compare must say something."""

from __future__ import annotations

import pytest

from graphfix.proving.runners.evaluators import Evaluators
from graphfix.proving.sites.one_site import certify
from graphfix.proving.sites.site_proof import Case
from graphfix.report import Verdict
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[n, 4] x) => (float[n, 4] y) '


@pytest.mark.parametrize(
    ("factor", "status"), [("1e20", Verdict.INCONCLUSIVE), ("1", Verdict.MISMATCH)]
)
def test_equal_zeros_alone_prove_nothing(factor: str, status: Verdict) -> None:
    # The sine of a large multiple is another one for each last digit; of 0 it is 0 either way.
    before = f"<float k = {{{factor}}}> {{ m = Mul (x, k)  y = Sin (m) }}"
    after = f"<float k = {{{factor}}}> {{ m = Mul (x, k)  s = Sin (m)  y = Neg (s) }}"
    found = certify(Case(parse(HEAD + before), parse(HEAD + after)), Evaluators({}))
    assert found.status is status
    if status is Verdict.INCONCLUSIVE:
        assert found.samples
        assert found.reason.startswith("rounding alone changes the result: output y")


def test_what_rounding_does_not_move_is_enough() -> None:
    # Where samples vary, others that rounding moves take nothing from them.
    before = "<float k = {1e20}> { m = Mul (x, k)  y = Sin (m) }"
    after = "<float k = {1e20}> { m = Mul (k, x)  y = Sin (m) }"
    found = certify(Case(parse(HEAD + before), parse(HEAD + after)), Evaluators({}))
    assert found.status is Verdict.EQUAL
