"""matmul-of-integers-to-sum: products of all pairs, summed."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "matmul-of-integers-to-sum"
RNG = np.random.default_rng(5)
SHAPES = [
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (6, 3, 4)),
    ((1, 1), (1, 4)),
    ((2, 7), (7, 1)),
    ((0, 3), (3, 4)),
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((3,), (5, 3, 4)),
    ((2, 3), (3,)),
    ((5, 2, 3), (3,)),
]


@pytest.mark.parametrize("opset", [9, 12, 13])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_integers(
    left: tuple[int, ...], right: tuple[int, ...], dtype: Any, known: bool, opset: int
) -> None:
    kind = np.dtype(dtype).name
    most = np.iinfo(dtype).max
    feed: dict[str, Any] = {
        "v": RNG.integers(-most, most, left, dtype=dtype),
        "w": RNG.integers(-most, most, right, dtype=dtype),
    }
    wanted = np.matmul(feed["v"], feed["w"])
    dims = [
        [str(size) if known else f"{name}{axis}" for axis, size in enumerate(shape)]
        for name, shape in (("v", left), ("w", right))
    ]
    inputs = f"{kind}[{','.join(dims[0])}] v, {kind}[{','.join(dims[1])}] w"
    out = f"{kind}[{', '.join(f'z{axis}' for axis in range(wanted.ndim))}]" if wanted.ndim else kind
    text = written("@y = MatMul (v, w)", inputs, out, opset=opset)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)


@pytest.mark.parametrize("known", [True, False])
def test_long_sums_of_int32_are_whole_where_float64_is_not(known: bool) -> None:
    count = 2**21 + 5
    size = str(count) if known else "k"
    text = written("@y = MatMul (v, w)", f"int32[1, {size}] v, int32[{size}, 1] w", "int32[1, 1]")
    done = run_pass(PASS, text)
    v, w = np.full((1, count), 2**31 - 1, np.int32), np.ones((count, 1), np.int32)
    found = outputs_of(done.after, {"v": v, "w": w})["y"]
    assert found.tolist() == [[int(np.matmul(v, w)[0, 0])]]
