"""channels-first-of-joined-axes: three axes are transposed instead of four."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "channels-first-of-joined-axes"
TURN = "@y = Transpose <perm = [0, 3, 1, 2]> (x)"


def fed(place: str, **arrays: Any) -> dict[str, Any]:
    return {**arrays, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shape", [(1, 4, 4, 4), (2, 3, 5, 4)])
def test_values(shape: tuple[int, ...], place: str) -> None:
    sizes = ",".join(map(str, shape))
    given = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    text = written(TURN, f"float[{sizes}] x", "float[A,B,C,D]", place=place)
    done = assert_rewrite(PASS, text, feeds=[fed(place, x=given)])
    if place == "main":
        assert [op for op in done.ops if op != "Constant"] == ["Reshape", "Transpose", "Reshape"]
        found = outputs_of(done.after, {"x": given})["y"]
        np.testing.assert_array_equal(found, given.transpose(0, 3, 1, 2))
