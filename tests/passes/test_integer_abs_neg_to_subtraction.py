"""integer-abs-neg-to-subtraction: sizes and signs of integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.api import run
from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of, parse
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


def test_unsigned_integers_have_no_sign() -> None:
    text = written("@z = Abs (x)\n@y = Add (@z, @z)", "uint8[2] x", "uint8[2]", opset=14)
    done = assert_rewrite(PASS, text, feeds=[{"x": np.array([0, 100], np.uint8)}])
    assert done.ops == ["Add"]


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5))
def test_any_integers(numbers: list[int]) -> None:
    text = written("@y = Abs (x)", "int64[N] x", "int64[N]")
    assert_rewrite(PASS, text, feeds=[{"x": np.array(numbers)}])


def test_leaves_floats_and_others() -> None:
    assert_refused(
        PASS,
        written("@y = Abs (x)", "float[3] x", "float[3]"),
        "x must be int8, int16, int32 or int64; it is float32",
    )
    assert_untouched(PASS, written("@y = Sqrt (x)", "float[3] x", "float[3]"))


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
