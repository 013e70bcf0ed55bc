"""scatterelements-drop-reduction-none: the attribute that says nothing."""

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched
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


@pytest.mark.parametrize(
    ("words", "reason"), [('reduction = "add"', "it is add"), ("axis = 1", "it is left out")]
)
def test_others_are_refused(words: str, reason: str) -> None:
    text = written(body(words), INPUTS.format("float"), "float[2,3]")
    assert_refused(PASS, text, f"the reduction must be none; {reason}")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))
