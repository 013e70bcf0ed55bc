"""expand-of-fewer-dimensions: repeated patches, held to numpy."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "expand-of-fewer-dimensions"
X = np.arange(36).reshape(2, 3, 2, 3)
TYPES: dict[str, Any] = {
    "float": np.float32, "double": np.float64, "int64": np.int64, "bool": np.bool_,
}  # fmt: skip
BODY = (
    "@i = Constant <value = int64[2] {3, 5}> ()\n@a = Unsqueeze (x, @i)\n"
    "@w = Constant <value = int64[6] {1, 1, 1, 2, 1, 2}> ()\n@b = Expand (@a, @w)\n"
    "@s = Constant <value = int64[4] {-1, 3, 4, 6}> ()\n@y = Reshape (@b, @s)"
)


@pytest.mark.parametrize("place", ["main", "branch"])
@pytest.mark.parametrize("kind", sorted(TYPES))
def test_values(kind: str, place: str) -> None:
    text = written(BODY, f"{kind}[2,3,2,3] x", f"{kind}[2,3,4,6]", place=place)
    x = (X % 2 if kind == "bool" else X).astype(TYPES[kind])
    feed: dict[str, Any] = {"x": x}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    right = x.repeat(2, axis=2).repeat(2, axis=3)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], right)
