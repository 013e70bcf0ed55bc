"""tanh-between-negations: a Tanh that is not joined to the product before it."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import ACTIVATED, PLACES, written

PASS = "tanh-between-negations"
BODY = "@h = Add (x, x)\n@y = Tanh (@h)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["float", "float16", "double"])
def test_values(kind: str, place: str) -> None:
    text = written(BODY, f"{kind}[N] x", f"{kind}[N]", opset=17, place=place)
    numbers = {"float": np.float32, "float16": np.float16, "double": np.float64}
    feed: dict[str, Any] = {"x": np.array([*ACTIVATED, np.nan, np.inf], numbers[kind])}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)
    if place == "main":
        assert [node.op_type for node in done.after.graph.node] == ["Add", "Neg", "Tanh", "Neg"]
