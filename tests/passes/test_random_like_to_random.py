"""random-like-to-random: the shape becomes an attribute."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "random-like-to-random"


@pytest.mark.parametrize("opset", [9, 13, 21])
@pytest.mark.parametrize(
    ("op", "mean"),
    [
        ("RandomNormalLike <mean = 2.0, scale = 0.5, seed = 1.0>", 2.0),
        ("RandomUniformLike <low = -1.0, high = 5.0>", 2.0),
    ],
)
def test_the_distribution_stays(op: str, mean: float, opset: int) -> None:
    text = written(f"@y = {op} (x)", "float[40, 50] x", "float[40, 50]", opset=opset)
    done = run_pass(PASS, text)
    assert done.ops == [op.split("Like")[0]]
    drawn = outputs_of(done.after, {"x": np.zeros((40, 50), np.float32)})["y"]
    assert drawn.shape == (40, 50)
    assert abs(drawn.mean() - mean) < 0.2


@pytest.mark.parametrize("place", PLACES)
def test_the_type_can_be_given(place: str) -> None:
    text = written(
        "@y = RandomUniformLike <dtype = 11> (x)", "int64[3] x", "double[3]", place=place
    )
    done = run_pass(PASS, text)
    assert done.outcomes[0].status is Status.APPLIED
    feed = {"x": np.zeros(3, np.int64), **({"c": np.array(True)} if place == "branch" else {})}
    assert outputs_of(done.after, feed)["y"].dtype == np.float64


@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=0, max_size=4))
def test_any_shape(shape: list[int]) -> None:
    sizes = ", ".join(map(str, shape))
    kind = f"float[{sizes}]"
    done = run_pass(PASS, written("@y = RandomNormalLike (x)", f"{kind} x", kind))
    drawn = outputs_of(done.after, {"x": np.zeros(shape, np.float32)})["y"]
    assert drawn.shape == tuple(shape)
