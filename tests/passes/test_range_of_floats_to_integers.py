"""range-of-floats-to-integers: counted in int32."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Accuracy
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "range-of-floats-to-integers"


def body(step: float) -> str:
    return f"@d = Constant <value = float {{{step}}}> ()\n@y = Range (a, b, @d)"


@given(st.integers(-20, 20), st.integers(-20, 20), st.sampled_from([1, 2, -1, 0.25, -4]))
def test_any_bounds(first: int, last: int, step: float) -> None:
    feed = {"a": np.array(first / 4, np.float32), "b": np.array(last / 4, np.float32)}
    assert_rewrite(PASS, written(body(step), "float a, float b", "float[n]"), feeds=[feed])


def test_a_start_of_zero_is_not_added() -> None:
    text = written(
        "@a = Constant <value = float {0}> ()\n" + body(1).replace("(a", "(@a"),
        "float b",
        "float[n]",
    )
    done = assert_rewrite(PASS, text, feeds=[{"b": np.array(3, np.float32)}])
    assert "Add" not in done.ops
    assert "Sub" not in done.ops
    assert done.outcomes[0].sites[0].accuracy is Accuracy.EXACT


def test_other_starts_round() -> None:
    text = written(body(0.5), "float a, float b", "float[n]")
    done = run_pass(PASS, text)
    (site,) = done.outcomes[0].sites
    assert site.accuracy is Accuracy.APPROXIMATE
    assert "one element more or less" in site.note
    # The difference of these bounds is 100 in float32, and a bit more in float64.
    feed = {"a": np.array(-100, np.float32), "b": np.array(1e-6, np.float32)}
    sizes = [outputs_of(model, feed)["y"].size for model in (done.before, done.after)]
    assert sizes == [201, 200]
