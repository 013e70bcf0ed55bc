"""reduce-axes-explicit: no axes means nothing or everything."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.shape_models import text

PASS = "reduce-axes-explicit"


@given(sizes=st.lists(st.integers(1, 3), max_size=4), keepdims=st.integers(0, 1))
def test_any_rank(sizes: list[int], keepdims: int) -> None:
    out = ",".join("1" for _ in sizes) if keepdims else ""
    model = text(
        f"g (int64[{','.join(map(str, sizes))}] x) => (int64[{out}] y) <int64[0] a = {{}}> "
        f"{{ y = ReduceSum <keepdims = {keepdims}> (x, a) }}"
    )
    for info in (model.graph.input[0], model.graph.output[0]):
        info.type.tensor_type.shape.SetInParent()
    x = np.arange(int(np.prod(sizes))).reshape(sizes)
    done = assert_rewrite(PASS, model, feeds=[{"x": x}])
    assert int(outputs_of(done.after, {"x": x})["y"].reshape(())) == int(x.sum())
