"""maxpool-end-pads-more: the windows stay the same."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_same, outputs_of, run_pass

SIDES = st.integers(2, 9)


@given(
    size=st.tuples(SIDES, SIDES),
    kernel=st.integers(2, 4),
    step=st.integers(1, 3),
    begin=st.integers(0, 2),
    end=st.integers(0, 2),
)
def test_any_window(size: tuple[int, int], kernel: int, step: int, begin: int, end: int) -> None:
    begin, end = min(begin, kernel - 1), min(end, kernel - 1)
    if min(size) + begin + end < kernel:
        return
    text = (
        '<ir_version: 8, opset_import: ["" : 17]>'
        f" g (float[1,2,{size[0]},{size[1]}] x) => (float[1,2,A,B] y) {{ y = MaxPool"
        f" <kernel_shape = [{kernel}, {kernel}], strides = [{step}, {step}],"
        f" pads = [{begin}, {begin}, {end}, {end}]> (x) }}"
    )
    done = run_pass("maxpool-end-pads-more", text)
    feed = {"x": np.random.default_rng(5).standard_normal((1, 2, *size)).astype(np.float32) - 4}
    assert_same(outputs_of(done.before, feed), outputs_of(done.after, feed), rtol=0, atol=0)
