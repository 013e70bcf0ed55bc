"""is-inf-to-comparisons: which infinities are looked for."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "is-inf-to-comparisons"
NUMBERS = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -3e38, 3.4028235e38, 1e-45]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["float", "double"])
@pytest.mark.parametrize(("positive", "negative"), [(1, 1), (1, 0), (0, 1)])
@pytest.mark.parametrize("opset", [11, 20])
def test_both_signs(opset: int, positive: int, negative: int, kind: str, place: str) -> None:
    body = f"@y = IsInf <detect_positive = {positive}, detect_negative = {negative}> (x)"
    text = written(body, f"{kind}[N] x", "bool[N]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": np.array(NUMBERS, np.float32 if kind == "float" else np.float64)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    wanted = [bool(positive), bool(negative), *[False] * 7]
    assert outputs_of(done.after, feed)["y"].tolist() == wanted
