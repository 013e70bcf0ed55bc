"""random-normal-to-uniform: the method of Box and Muller."""

import numpy as np
import pytest

from graphfix.report import Status
from graphfix.testing import outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "random-normal-to-uniform"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("kind", "dtype"), [("float", "float32"), ("float16", "float16"), ("double", "float64")]
)
def test_the_numbers_are_normal(kind: str, dtype: str, place: str) -> None:
    body = "@y = RandomNormalLike <mean = 1.0, scale = 3.0> (x)"
    done = run_pass(PASS, written(body, f"{kind}[N, M] x", f"{kind}[N, M]", place=place))
    assert done.outcomes[0].status is Status.APPLIED
    feed = {"x": np.ones((40, 1000), dtype), **({"c": np.array(True)} if place == "branch" else {})}
    drawn = outputs_of(done.after, feed)["y"]
    assert drawn.dtype == dtype
    numbers = np.sort((drawn.astype(np.float64).ravel() - 1) / 3)
    # The shares below -2, -1, 0, 1, 2 of a normal distribution, within six standard deviations.
    shares = np.searchsorted(numbers, [-2, -1, 0, 1, 2]) / numbers.size
    wanted = np.array([0.02275, 0.15866, 0.5, 0.84134, 0.97725])
    assert (np.abs(shares - wanted) < 6 * np.sqrt(wanted * (1 - wanted) / numbers.size)).all()
    neighbours = np.corrcoef(drawn.astype(np.float64)[:, :-1].ravel(),
                             drawn.astype(np.float64)[:, 1:].ravel())  # fmt: skip
    assert abs(neighbours[0, 1]) < 6 / numbers.size**0.5


def test_a_given_shape_and_seed() -> None:
    text = '<ir_version: 8, opset_import: ["" : 17]> g () => (float[3, 5] y) '
    text += "{ y = RandomNormal <shape = [3, 5], seed = 7.0> () }"
    done = run_pass(PASS, text)
    assert done.ops == ["RandomUniform", "Log", "Mul", "Sqrt", "RandomUniform", "Mul", "Cos", "Mul"]
    seeds = [a.f for n in done.after.graph.node for a in n.attribute if a.name == "seed"]
    assert seeds == [7.0, 8.0]
    assert outputs_of(done.after, {})["y"].shape == (3, 5)
