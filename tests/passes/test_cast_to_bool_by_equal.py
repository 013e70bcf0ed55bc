"""cast-to-bool-by-equal: what is not zero is true."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "cast-to-bool-by-equal"
VALUES: dict[str, Any] = {
    "float": np.array([0.0, -0.0, 1e-40, -2.5, np.inf, np.nan], np.float32),
    "double": np.array([0.0, 5e-324, -1.0], np.float64),
    "float16": np.array([0.0, 6e-8, -2.5], np.float16),
    "int32": np.array([0, 1, -1, 2**31 - 1], np.int32),
    "int64": np.array([0, 1, -1, -(2**63)], np.int64),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 17])
@pytest.mark.parametrize("dtype", sorted(VALUES))
def test_zero_and_the_rest(dtype: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written("@y = Cast <to = 9> (x)", f"{dtype}[N] x", "bool[N]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": VALUES[dtype]}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], VALUES[dtype] != 0)
    if place == "main":
        assert done.ops == ["Equal", "Not"]
