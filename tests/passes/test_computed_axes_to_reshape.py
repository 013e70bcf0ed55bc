"""computed-axes-to-reshape: Squeeze and Unsqueeze of axes that are an input, against numpy."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "computed-axes-to-reshape"
KINDS: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "float16": np.float16,
    "int64": np.int64,
    "bool": np.bool_,
    "uint8": np.uint8,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opset", [13, 21])
def test_known_sizes(kind: str, opset: int) -> None:
    text = written(
        "@y = Squeeze (x, a)", f"{kind}[1, 3, 4] x, int64[1] a", f"{kind}[3, 4]", opset=opset
    )
    x = np.arange(12).reshape(1, 3, 4).astype(KINDS[kind])
    feed = {"x": x, "a": np.array([0], np.int64)}
    done = assert_rewrite(PASS, text, feeds=[feed], after=["Reshape"])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], x[0])
