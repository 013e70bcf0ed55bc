"""flatten-to-reshape: the two sizes made explicit."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "flatten-to-reshape"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("dtype", ["float", "int64"])
def test_after_the_last_axis(dtype: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = written(
        "@y = Flatten <axis = 2> (x)", f"{dtype}[N,3] x", f"{dtype}[M,1]", opset=opset, place=place
    )
    kind = np.float32 if dtype == "float" else np.int64
    feed: dict[str, Any] = {"x": np.arange(6).reshape(2, 3).astype(kind)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].shape == (6, 1)
    if place == "main":
        assert done.ops == ["Reshape"]
