"""integer-pow-through-float: whole powers, rounded, and said so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import APPROXIMATE
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "integer-pow-through-float"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_values(kind: str, place: str) -> None:
    text = written("@y = Pow (a, b)", f"{kind}[4] a, {kind}[4] b", f"{kind}[4]", place=place)
    feed = {"a": np.array([3, -2, 7, 0], kind), "b": np.array([6, 5, 0, 3], kind)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].tolist() == [729, -32, 1, 0]
    assert done.outcomes[0].sites[0].accuracy is APPROXIMATE


@given(st.integers(-15, 15), st.integers(0, 5))
def test_any_small_power(base: int, exponent: int) -> None:
    text = written("@y = Pow (a, b)", "int64[1] a, int64[1] b", "int64[1]", opset=13)
    feed = {"a": np.array([base]), "b": np.array([exponent])}
    assert_rewrite(PASS, text, feeds=[feed])
