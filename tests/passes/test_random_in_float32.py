"""random-in-float32: drawn in float32, converted."""

import numpy as np
import pytest

from graphfix.testing import outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "random-in-float32"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", ["RandomUniformLike", "RandomNormalLike"])
def test_like(op: str, place: str) -> None:
    low = "low = 2.0, high = 3.0" if "Uniform" in op else "mean = 50.0, scale = 2.0"
    text = written(f"@y = {op} <dtype = 11, {low}> (x)", "float[N] x", "double[N]", place=place)
    done = run_pass(PASS, text)
    feed = {"x": np.ones(4000, np.float32), **({"c": np.array(True)} if place == "branch" else {})}
    drawn = outputs_of(done.after, feed)["y"]
    assert drawn.dtype == np.float64
    middle, width = (2.5, 0.3) if "Uniform" in op else (50, 2)
    assert abs(drawn.mean() - middle) < 6 * width / 4000**0.5
    assert drawn.std() == pytest.approx(width, rel=0.1)


def test_a_given_shape() -> None:
    text = '<ir_version: 8, opset_import: ["" : 17]> g () => (double[2, 3] y) '
    text += "{ y = RandomUniform <shape = [2, 3], dtype = 11, seed = 5.0> () }"
    done = run_pass(PASS, text)
    assert done.ops == ["RandomUniform", "Cast"]
    assert outputs_of(done.after, {})["y"].shape == (2, 3)
