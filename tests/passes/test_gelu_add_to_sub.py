"""gelu-add-to-sub: one is added by subtracting minus one."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "gelu-add-to-sub"
BODY = "@one = Constant <value = float {{1.0}}> ()\n@e = Erf (x)\n@y = Add ({operands})"
NUMBERS = np.array([-np.inf, -3, -0.0, 0.0, 1e-30, 0.5, 7, np.inf, np.nan], np.float32)


def feed_for(place: str) -> dict[str, Any]:
    return {"x": NUMBERS, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 13, 17])
@pytest.mark.parametrize("operands", ["@e, @one", "@one, @e"])
def test_the_same_bits(operands: str, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    body = BODY.format(operands=operands)
    text = written(body, "float[N] x", "float[N]", opset=opset, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed_for(place)], rtol=0, atol=0)
    if place == "main":
        assert done.ops == ["Erf", "Sub"]
