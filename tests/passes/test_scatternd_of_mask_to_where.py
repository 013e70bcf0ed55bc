"""scatternd-of-mask-to-where: x[mask] = value as PyTorch's exporter writes it."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

PASS = "scatternd-of-mask-to-where"
BODY = (
    "@m = Less (x, z)\n@n = NonZero (@m)\n@p = Transpose <perm = [1, 0]> (@n)\n"
    "@c = Cast <to = 7> (@m)\n@a = Constant <value_ints = [-1]> ()\n@f = Reshape (@c, @a)\n"
    "@k = ReduceSum <keepdims = 1> (@f)\n@e = Expand (v, @k)\n@y = ScatterND (x, @p, @e)"
)
INPUTS = "float[3, 5] x, float z, float v"
DATA = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)


def feed(limit: float) -> dict[str, Any]:
    return {"x": DATA, "z": np.array(limit, np.float32), "v": np.array(0.25, np.float32)}


@given(st.floats(-3, 3, width=32), st.floats(width=32))
def test_any_value(limit: float, value: float) -> None:
    text = written(BODY, INPUTS, "float[3, 5]")
    assert_rewrite(PASS, text, feeds=[{**feed(limit), "v": np.array(value, np.float32)}])
