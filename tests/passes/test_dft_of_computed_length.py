"""dft-of-computed-length: matrices computed at run time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "dft-of-computed-length"


@given(st.integers(1, 12), st.integers(1, 16))
def test_any_length(size: int, length: int) -> None:
    text = written(
        "@k = Constant <value_int = -2> ()\n@y = DFT (x, n, @k)",
        f"float[1, {size}, 1] x, int64 n",
        "float[1, L, 2]",
        opset=20,
    )
    data = np.random.default_rng(size).standard_normal((1, size, 1)).astype(np.float32)
    assert_rewrite(PASS, text, feeds=[{"x": data, "n": np.array(length)}], rtol=1e-3, atol=1e-4)
