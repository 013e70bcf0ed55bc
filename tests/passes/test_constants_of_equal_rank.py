"""constants-of-equal-rank: axes of size 1 before those of constants."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "constants-of-equal-rank"
X = np.arange(-12, 12, dtype=np.float32).reshape(2, 3, 4) + 0.5
CONSTANT = "@k = Constant <value = float[3,1] {4.0, 5.0, -6.0}> ()\n"
SHAPE = "float[2,3,4]"


def fed(place: str, **arrays: Any) -> dict[str, Any]:
    return {**arrays, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Min"])
def test_a_first_operand(op: str, place: str) -> None:
    text = written(f"{CONSTANT}@y = {op} (@k, x)", f"{SHAPE} x", SHAPE, place=place)
    done = assert_rewrite(PASS, text, feeds=[fed(place, x=X)])
    if place == "main":
        assert [op for op in done.ops if op != "Constant"] == [op]


def test_values_of_a_quotient() -> None:
    text = written(f"{CONSTANT}@y = Div (@k, x)", f"{SHAPE} x", SHAPE)
    done = assert_rewrite(PASS, text, feeds=[{"x": X}])
    expected = np.array([4, 5, -6], np.float32).reshape(1, 3, 1) / X
    np.testing.assert_allclose(outputs_of(done.after, {"x": X})["y"], expected, rtol=1e-6)


@pytest.mark.parametrize("kind", ["int32", "int64", "double", "float16"])
def test_of_other_types(kind: str) -> None:
    numbers = "15360, 16384, 16896, 17408" if kind == "float16" else "1, 2, 3, 4"  # as bits
    constant = f"@k = Constant <value = {kind}[4] {{{numbers}}}> ()\n"
    text = written(f"{constant}@y = Mul (x, @k)", f"{kind}[2,3,4] x", f"{kind}[2,3,4]")
    given = X.astype({"double": np.float64}.get(kind, kind))
    done = assert_rewrite(PASS, text, feeds=[{"x": given}])
    np.testing.assert_array_equal(
        outputs_of(done.after, {"x": given})["y"], given * np.arange(1, 5, dtype=given.dtype)
    )


def test_several_operands_with_open_sizes() -> None:
    text = written(
        f"{CONSTANT}@y = Max (x, @k, z)", "float[N,3,M] x, float[N,3,M] z", "float[N,3,M]"
    )
    done = assert_rewrite(PASS, text, feeds=[{"x": X, "z": -X}])
    found = outputs_of(done.after, {"x": X, "z": -X})["y"]
    limits = np.array([4, 5, -6], np.float32).reshape(1, 3, 1)
    np.testing.assert_array_equal(found, np.maximum(np.maximum(X, limits), -X))


def test_choice_by_a_constant() -> None:
    constant = "@m = Constant <value = bool[3,1] {1, 0, 1}> ()\n"
    text = written(f"{constant}@y = Where (@m, x, z)", f"{SHAPE} x, {SHAPE} z", SHAPE, opset=16)
    done = assert_rewrite(PASS, text, feeds=[{"x": X, "z": -X}])
    found = outputs_of(done.after, {"x": X, "z": -X})["y"]
    np.testing.assert_array_equal(found[:, 1], -X[:, 1])
    np.testing.assert_array_equal(found[:, ::2], X[:, ::2])


def test_of_equal_rank() -> None:
    constant = "@k = Constant <value = float[1,3,1] {4.0, 5.0, -6.0}> ()\n"
    text = written(f"{constant}@y = Div (@k, x)", f"{SHAPE} x", SHAPE)
    reason = "a constant must have fewer axes than another operand; none has"
    assert_refused(PASS, text, reason)


def test_one_number_and_what_is_computed() -> None:
    number = "@k = Constant <value = float {4.0}> ()\n"
    reason = "a constant must have fewer axes than another operand; none has"
    assert_refused(PASS, written(f"{number}@y = Div (@k, x)", f"{SHAPE} x", SHAPE), reason)
    fed_too = written("@y = Div (k, x)", f"{SHAPE} x, float[3,1] k", SHAPE)
    assert_refused(PASS, fed_too, reason)


def test_a_rank_that_is_not_known() -> None:
    text = written(
        f"{CONSTANT}@r = Reshape (x, s)\n@y = Div (@k, @r)", "float[24] x, int64[S] s", "float[]"
    )
    assert_refused(PASS, text, "the ranks of all operands must be known")


def test_others_are_left_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", f"{SHAPE} x", SHAPE))
