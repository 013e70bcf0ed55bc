"""shrink-to-where: moved towards 0 beyond a limit."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "shrink-to-where"
NUMBERS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 0.50001, -0.50001, 3.0, -3.0, 1e30]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["float", "double", "float16"])
@pytest.mark.parametrize(
    "attributes", ["", "<lambd = 1.5, bias = 0.25>", "<lambd = -1.0, bias = -0.5>"]
)
def test_floats(attributes: str, kind: str, place: str) -> None:
    body = f"@y = Shrink {attributes} (x)"
    text = written(body, f"{kind}[N] x", f"{kind}[N]", opset=9, place=place)
    dtype = {"float": np.float32, "double": np.float64, "float16": np.float16}[kind]
    with np.errstate(over="ignore"):
        feed: dict[str, Any] = {"x": np.array(NUMBERS).astype(dtype)}
    if place == "branch":
        feed["c"] = np.array(True)
    assert_rewrite(PASS, text, feeds=[feed])
