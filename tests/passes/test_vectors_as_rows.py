"""vectors-as-rows: vectors as matrices of one row."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "vectors-as-rows"
X = np.array([1, -2, 0.5], np.float32)
CONSTANT = "@k = Constant <value = float[3] {4.0, 5.0, -6.0}> ()\n"


def fed(place: str, **arrays: Any) -> dict[str, Any]:
    return {**arrays, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Max", "Less", "Pow"])
def test_beside_a_constant(op: str, place: str) -> None:
    result = "bool[3]" if op == "Less" else "float[3]"
    text = written(f"{CONSTANT}@y = {op} (x, @k)", "float[3] x", result, place=place)
    done = assert_rewrite(PASS, text, feeds=[fed(place, x=X)])
    if place == "main":
        assert [o for o in done.ops if o != "Constant"] == ["Unsqueeze", op, "Squeeze"]


@pytest.mark.parametrize("opset", [11, 13])
def test_beside_a_tensor_with_open_sizes(opset: int) -> None:
    text = written("@y = Add (x, z)", "float[N,2,3] x, float[3] z", "float[N,2,3]", opset=opset)
    feed = {"x": np.arange(12, dtype=np.float32).reshape(2, 2, 3), "z": X}
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], feed["x"] + X)


def test_choice_by_a_vector() -> None:
    text = written(
        f"{CONSTANT}@y = Where (m, x, @k)", "bool[3] m, float[3] x", "float[3]", opset=16
    )
    feed = {"m": np.array([True, False, True]), "x": X}
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], [1, 5, 0.5])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("axis", "shape"), [(0, (4, 2)), (-1, (3, 4))])
def test_indices(axis: int, shape: tuple[int, int], place: str) -> None:
    text = written(
        f"@y = Gather <axis = {axis}> (d, x)", "float[3,2] d, int64[4] x", "float[A,B]", place=place
    )
    feed = fed(place, d=np.arange(6, dtype=np.float32).reshape(3, 2), x=np.array([1, 0, -1, 1]))
    done = assert_rewrite(PASS, text, feeds=[feed])
    found = outputs_of(done.after, feed)["y"]
    assert found.shape == shape
    np.testing.assert_array_equal(found, np.take(feed["d"], feed["x"], axis))


@pytest.mark.parametrize(
    ("shape", "wanted"), [("3", (3,)), ("2, 3", (2, 3)), ("2, 1, 3", (2, 1, 3))]
)
def test_expanded(shape: str, wanted: tuple[int, ...]) -> None:
    count = len(wanted)
    body = f"@s = Constant <value = int64[{count}] {{{shape}}}> ()\n@y = Expand (x, @s)"
    result = f"float[{shape}]"
    feed = {"x": X}
    done = assert_rewrite(PASS, written(body, "float[3] x", result), feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], np.broadcast_to(X, wanted))


@pytest.mark.parametrize("place", PLACES)
def test_joined(place: str) -> None:
    text = written(
        f"{CONSTANT}@y = Concat <axis = 0> (x, @k, x)", "float[N] x", "float[M]", place=place
    )
    done = assert_rewrite(PASS, text, feeds=[fed(place, x=X)])
    found = outputs_of(done.after, fed(place, x=X))["y"]
    np.testing.assert_array_equal(found, [1, -2, 0.5, 4, 5, -6, 1, -2, 0.5])


def test_refusals() -> None:
    two = written("@y = Add (x, z)", "float[2,3] x, float[2,3] z", "float[2,3]")
    assert_refused(PASS, two, "an operand must be a vector; none is")
    table = written("@y = Gather (x, i)", "float[3,2] x, int64[2,2] i", "float[2,2,2]")
    assert_refused(PASS, table, "i must be a vector")
    computed = written("@y = Expand (x, s)", "float[3] x, int64[2] s", "float[A,B]")
    assert_refused(PASS, computed, "the shape")
    joined = written("@y = Concat <axis = 0> (x, x)", "float[1,3] x", "float[2,3]")
    assert_refused(PASS, joined, "all operands must be vectors")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))


def test_operands_that_say_their_axis_are_left_alone() -> None:
    text = written(
        "@y = Add <axis = 0, broadcast = 1> (x, z)",
        "float[3,2] x, float[3] z",
        "float[3,2]",
        opset=6,
    )
    assert_untouched(PASS, text)
