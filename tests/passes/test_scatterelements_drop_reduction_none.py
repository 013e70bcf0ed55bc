"""scatterelements-drop-reduction-none: the attribute that says nothing."""

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "scatterelements-drop-reduction-none"
INPUTS = "{0}[2,3] x, int64[2,2] i, {0}[2,2] u"


def body(words: str) -> str:
    return f"@y = ScatterElements <{words}> (x, i, u)"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("opset", "dtype"), [(16, "float"), (18, "int32")])
def test_values(opset: int, dtype: str, place: str) -> None:
    kind = np.float32 if dtype == "float" else np.int32
    feed = {
        "x": np.zeros((2, 3), kind),
        "i": np.array([[0, 2], [1, -1]]),
        "u": np.arange(1, 5, dtype=kind).reshape(2, 2),
    }
    feed |= {"c": np.array(True)} if place == "branch" else {}
    words = 'reduction = "none", axis = 1'
    text = written(body(words), INPUTS.format(dtype), f"{dtype}[2,3]", opset=opset, place=place)
    assert_rewrite(PASS, text, feeds=[feed])
