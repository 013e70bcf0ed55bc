"""lp-normalization-to-div: by the norm, and 0 where there is none."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of

PASS = "lp-normalization-to-div"


def _model(kind: str = "float", attributes: str = "axis = 1", opset: int = 7) -> str:
    return (
        f'<ir_version: 7, opset_import: ["" : {opset}]> g ({kind}[N, K, 2] x) => '
        f"({kind}[N, K, 2] y) {{ y = LpNormalization <{attributes}> (x) }}"
    )


@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("opset", [7, 13, 22])
def test_each_norm(opset: int, p: int, kind: str) -> None:
    x = np.array([[[3, 0], [-4, 0]], [[0, 0], [0, 2]]], np.float32 if kind == "float" else float)
    model = _model(kind, f"axis = -2, p = {p}", opset)
    done = assert_rewrite(PASS, model, feeds=[{"x": x}], rtol=1e-6)
    size = 7 if p == 1 else 5
    given = outputs_of(done.after, {"x": x})["y"]
    np.testing.assert_allclose(given[0, :, 0], [3 / size, -4 / size], rtol=1e-6)
    assert given[:, :, 1].tolist() == [[0, 0], [0, 1]]
