"""pow-of-integers-by-squaring: every power that fits, to the last digit."""

import numpy as np
import pytest

from graphfix.report import EXACT
from graphfix.testing import outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "pow-of-integers-by-squaring"


def _fits(base: int, exponent: int, most: int) -> bool:
    if abs(base) <= 1 or exponent < 0:
        return True
    return exponent < 64 and abs(base**exponent) <= most


def _small(base: int, exponent: int) -> int:
    """Return a power of -1, 0 or 1, or one below 0."""
    if abs(base) == 1:
        return base if exponent % 2 else 1
    return int(exponent == 0)


@pytest.mark.parametrize("kind", ["int32", "int64"])
@pytest.mark.parametrize("other", ["int32", "int64"])
def test_every_power_that_fits(kind: str, other: str) -> None:
    most = np.iinfo(kind).max
    pairs = [
        (b, e)
        for b in (*range(-12, 13), 46340, -46341, 3037000499, 2**31 - 1)
        for e in (*range(-3, 64), 101, 2**31 - 1)
        if abs(b) <= most and _fits(b, e, int(most)) and (b or e >= 0)
    ]
    a, n = np.array([p[0] for p in pairs], kind), np.array([p[1] for p in pairs], other)
    text = written("@y = Pow (a, n)", f"{kind}[N] a, {other}[N] n", f"{kind}[N]")
    done = run_pass(PASS, text)
    given = outputs_of(done.after, {"a": a, "n": n})["y"].tolist()
    wanted = [b**e if abs(b) > 1 and e >= 0 else _small(b, e) for b, e in pairs]
    assert given == wanted
    assert done.outcomes[0].sites[0].accuracy is EXACT
