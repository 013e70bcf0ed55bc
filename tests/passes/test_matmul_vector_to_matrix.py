"""matmul-vector-to-matrix: a vector is a matrix of one row or one column."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "matmul-vector-to-matrix"
RNG = np.random.default_rng(3)
SHAPES = [
    ((4,), (2, 4, 3)),
    ((4,), (1, 4, 3)),
    ((4,), (5, 2, 4, 3)),
    ((4,), (4, 3)),
    ((4,), (4,)),
    ((2, 3, 4), (4,)),
    ((3, 4), (4,)),
]


@pytest.mark.parametrize("opset", [9, 13])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int64])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_vectors(
    left: tuple[int, ...], right: tuple[int, ...], dtype: Any, known: bool, opset: int
) -> None:
    kind = {"float32": "float", "float64": "double"}.get(np.dtype(dtype).name, np.dtype(dtype).name)
    feed: dict[str, Any] = {
        "v": RNG.integers(-9, 9, left).astype(dtype),
        "w": RNG.integers(-9, 9, right).astype(dtype),
    }
    wanted = np.matmul(feed["v"], feed["w"])
    types = [
        f"{kind}[{', '.join(str(size) if known else f'{name}{size}' for size in shape)}] {name}"
        for name, shape in (("v", left), ("w", right))
    ]
    out = f"{kind}[{', '.join(f'z{axis}' for axis in range(wanted.ndim))}]" if wanted.ndim else kind
    text = written("@y = MatMul (v, w)", ", ".join(types), out, opset=opset)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
