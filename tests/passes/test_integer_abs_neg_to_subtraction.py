"""integer-abs-neg-to-subtraction: sizes and signs of integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.api import run
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "integer-abs-neg-to-subtraction"

LOWEST = np.iinfo(np.int32).min


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("op", "result"), [("Abs", [3, 0, 5]), ("Neg", [3, 0, -5])])
def test_values(op: str, result: list[int], place: str) -> None:
    feed = {"x": np.array([-3, 0, 5], np.int32)}
    if place == "branch":
        feed["c"] = np.array(True)
    text = written(f"@y = {op} (x)", "int32[3] x", "int32[3]", place=place)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert outputs_of(done.after, feed)["y"].tolist() == result


@pytest.mark.parametrize("op", ["Abs", "Neg"])
@pytest.mark.parametrize("opset", [9, 13, 21])
def test_the_lowest_integer_stays(op: str, opset: int) -> None:
    text = written(f"@y = {op} (x)", "int32[1] x", "int32[1]", opset=opset)
    assert_rewrite(PASS, text, feeds=[{"x": np.array([LOWEST], np.int32)}])


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5))
def test_any_integers(numbers: list[int]) -> None:
    text = written("@y = Abs (x)", "int64[N] x", "int64[N]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(numbers)}])


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_older_files_are_raised_for_abs(kind: str) -> None:
    # Integers are compared from opset 9 on; Neg needs none of it.
    for op, wanted in (("Abs", [3, 0]), ("Neg", [3, 0])):
        text = (
            f'<ir_version: 4, opset_import: ["": 7]> g ({kind}[2] x) => ({kind}[2] y) '
            f"{{ y = {op} (x) }}"
        )
        result = run(parse(text), "trt7.2")
        assert result.exit_code == 0
        given_ = outputs_of(result.model.to_proto(), {"x": np.array([-3, 0], kind)})["y"]
        assert given_.tolist() == wanted
