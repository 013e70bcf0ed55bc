"""integer-resize-through-float: means of integers without their fractions."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "integer-resize-through-float"
BODY = "@k = Constant <value = float[4] {{1, 1, {sizes}}}> ()\n@y = Resize <{attributes}> (x, , @k)"


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32"])
@pytest.mark.parametrize("sizes", ["2, 2", "0.6, 1.7"])
@pytest.mark.parametrize("where", ["half_pixel", "align_corners", "asymmetric"])
def test_as_onnxruntime_cuts_off(kind: str, sizes: str, where: str) -> None:
    attributes = f'mode = "linear", coordinate_transformation_mode = "{where}"'
    text = written(
        BODY.format(sizes=sizes, attributes=attributes),
        f"{kind}[1, N, 5, 6] x",
        f"{kind}[a, b, c, d]",
    )
    info = np.iinfo(kind)
    rng = np.random.default_rng(1)
    low, high = max(info.min, -(2**20)), min(info.max, 2**20)
    feed = {"x": rng.integers(low, high, (1, 2, 5, 6), endpoint=True).astype(kind)}
    done = assert_rewrite(PASS, text, feeds=[feed], after=["Constant", "Cast", "Resize", "Cast"])
    assert len(np.unique(outputs_of(done.after, feed)["y"])) > 1


def test_antialias_is_refused() -> None:
    body = BODY.format(sizes="0.5, 0.5", attributes='mode = "linear", antialias = 1')
    text = written(body, "uint8[1, 1, 4, 4] x", "uint8[1, 1, 2, 2]", opset=18)
    assert run_pass(PASS, text).reasons == [
        "the mode must be linear, without antialias; it is linear"
    ]
