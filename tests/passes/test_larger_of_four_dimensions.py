"""larger-of-four-dimensions: Max and Min of five dimensions."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of

PASS = "larger-of-four-dimensions"
X = np.random.default_rng(0).normal(size=(2, 3, 1, 2, 2))


def _text(body: str, kind: str = "float", sizes: str = "2,3,1,2,2", opset: int = 17) -> str:
    return (
        f'<ir_version: 8, opset_import: ["" : {opset}]> g ({kind}[{sizes}] x, {kind}[{sizes}] z) '
        f"=> ({kind}[{sizes}] y) <{kind} k = {{1}}, {kind}[1,1,1,1,1] o = {{2}}, "
        f"{kind}[2] r = {{1, 2}}> {{ {body} }}"
    )


@pytest.mark.parametrize("opset", [8, 12, 17])
@pytest.mark.parametrize("op", ["Max", "Min"])
@pytest.mark.parametrize("given", ["x, k", "o, x", "x, z", "k, x, z", "x"])
def test_values(given: str, op: str, opset: int) -> None:
    feed = {"x": X.astype(np.float32), "z": -X.astype(np.float32)}
    done = assert_rewrite(PASS, _text(f"y = {op} ({given})", opset=opset), feeds=[feed])
    assert done.ops[-2:] == [op, "Reshape"]
    assert outputs_of(done.after, feed)["y"].shape == X.shape


@pytest.mark.parametrize("kind", ["double", "float16", "int64"])
def test_other_types(kind: str) -> None:
    dtype = {"double": "float64"}.get(kind, kind)
    feed = {"x": (X * 3).astype(dtype), "z": np.zeros_like(X, dtype)}
    assert_rewrite(PASS, _text("y = Max (x, z)", kind), feeds=[feed])
