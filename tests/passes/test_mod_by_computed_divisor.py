"""mod-by-computed-divisor: the remainder by Div, for divisors that are not constants."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "mod-by-computed-divisor"


def test_smallest_by_minus_one_leaves_nothing() -> None:
    from graphfix.testing import outputs_of, run_pass

    text = written("@y = Mod (a, b)", "int32[1] a, int32[1] b", "int32[1]")
    done = run_pass(PASS, text)
    feed = {"a": np.array([-(2**31)], np.int32), "b": np.array([-1], np.int32)}
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], [0])


@given(
    st.lists(
        st.tuples(
            st.integers(-(2**62), 2**62), st.integers(-(2**62), 2**62).filter(lambda b: b != 0)
        ),
        min_size=1,
        max_size=5,
    )
)
def test_any_operands(pairs: list[tuple[int, int]]) -> None:
    text = written("@y = Mod (a, b)", "int64[N] a, int64[N] b", "int64[N]")
    a, b = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    assert_rewrite(PASS, text, feeds=[{"a": a, "b": b}])


def test_the_domain_is_stated() -> None:
    text = written("@y = Mod (a, b)", "int32[2] a, int32[2] b", "int32[2]")
    feed = {"a": np.array([7, -7], np.int32), "b": np.array([3, 2], np.int32)}
    done = assert_rewrite(PASS, text, feeds=[feed])
    (site,) = (site for outcome in done.outcomes for site in outcome.sites)
    stated = "for divisors other than 0; Mod gives no number for 0"
    assert (site.accuracy, site.note) == ("exact", stated)
