"""batch-normalization-to-arithmetic: subtract, divide, scale and shift."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, Array, written

PASS = "batch-normalization-to-arithmetic"
RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
S, B, M = (RNG.standard_normal(3).astype(np.float32) for _ in range(3))
V = RNG.random(3).astype(np.float32) + 0.5
PARAMETERS = "float[3] s, float[3] b, float[3] m, float[3] v"
BODY = "@y = BatchNormalization <epsilon = 0.01> (x, s, b, m, v)"


def reference(x: Array) -> Array:
    shape = (-1, *[1] * (x.ndim - 2))
    s, b, m, v = (p.reshape(shape) for p in (S, B, M, V))
    found: Array = (x - m) / np.sqrt(v + 0.01) * s + b
    return found


@pytest.mark.parametrize("opset", [9, 14, 15, 17])
@pytest.mark.parametrize("rank", [2, 3, 4])
def test_values(opset: int, rank: int) -> None:
    x = X.reshape(2, 3, *[(), (20,), (4, 5)][rank - 2]) if rank > 2 else X[:, :, 0, 0]
    dims = ",".join(["N", "3", "H", "W"][:rank])
    model = written(BODY, f"float[{dims}] x, {PARAMETERS}", f"float[{dims}]", opset=opset)
    feed = {"x": x, "s": S, "b": B, "m": M, "v": V}
    done = assert_rewrite(PASS, model, feeds=[feed], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        outputs_of(done.after, feed)["y"], reference(x), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("place", PLACES[:2])
def test_places(place: str) -> None:
    model = written(BODY, f"float[2,3,4,5] x, {PARAMETERS}", "float[2,3,4,5]", place=place)
    feed = {"x": X, "s": S, "b": B, "m": M, "v": V}
    feed |= {"c": np.array(True)} if place == "branch" else {}
    assert_rewrite(PASS, model, feeds=[feed], rtol=1e-4, atol=1e-5)
