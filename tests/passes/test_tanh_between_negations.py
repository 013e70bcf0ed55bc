"""tanh-between-negations: a Tanh that is not joined to the product before it."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
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


def test_a_product() -> None:
    text = written("@h = MatMul (x, x)\n@y = Tanh (@h)", "float[N, N] x", "float[N, N]", opset=13)
    feed = {"x": np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)}
    assert_rewrite(PASS, text, feeds=[feed], after=["MatMul", "Neg", "Tanh", "Neg"], rtol=1e-6)


def test_refused() -> None:
    reason = "what is given must come from a product or a sum; it does not"
    for body in ("y = Tanh (x)", "h = Abs (x)\ny = Tanh (h)"):
        assert_refused(PASS, written(body, "float[2] x", "float[2]"), reason)


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("h = Add (x, x)\n@y = Sin (h)", "float[3] x", "float[3]"))
