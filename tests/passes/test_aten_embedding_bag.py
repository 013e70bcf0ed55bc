"""aten-embedding-bag: rows summed bag by bag."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphfix.authoring.pytorch.call import has_pytorch
from graphfix.authoring.pytorch.running import run_in_pytorch
from graphfix.testing import outputs_of, run_pass
from passes.aten.aten_embedding_bag import evaluate
from tests.passes.aten_models import LAYOUTS, Array, array_of, aten_model, called
from tests.passes.resize_models import in_branch

PASS = "aten-embedding-bag"
TABLE = array_of(6, 3)


def ints(*values: int) -> Array:
    return np.array(values, np.int64)


def arguments(indices: Array, offsets: Array, mode: int) -> list[Any]:
    return [indices, offsets, np.array(False), np.array(mode), np.array(False), None]


def wanted(indices: Array, offsets: Array, mode: int) -> Array:
    ends = [*offsets.tolist(), len(indices)]
    bags = [TABLE[indices[a:b]] for a, b in itertools.pairwise(ends)]
    reduce = (np.sum, np.mean, np.max)[mode]
    return np.stack([reduce(b, axis=0) if len(b) else np.zeros(3, np.float32) for b in bags])


def check(indices: Array, offsets: Array, mode: int, **model: Any) -> None:
    done = run_pass(
        PASS, aten_model("embedding_bag", [6, 3], arguments(indices, offsets, mode), **model)
    )
    y = outputs_of(done.after, {"x": TABLE})["y"]
    np.testing.assert_allclose(y, wanted(indices, offsets, mode), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_modes(opset: int, mode: int, layout: str) -> None:
    check(ints(1, 0, 5, 5, 2), ints(0, 2, 2), mode, opset=opset, layout=layout)


def test_one_row_for_each_bag() -> None:
    check(ints(3, 1), ints(0, 1), 0)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.data())
def test_any_bags(indices: list[int], data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(indices)), max_size=4))
    check(ints(*indices), ints(0, *sorted(cuts)), data.draw(st.integers(0, 2)))


def test_the_numpy_model() -> None:
    indices, offsets = ints(1, 0, 5), ints(0, 2)
    (y,) = evaluate([TABLE, indices, offsets], {"mode": 1})
    np.testing.assert_allclose(y, wanted(indices, offsets, 1), rtol=1e-6)


def computed(mode: int, weights: Array | None = None, last: bool = False) -> list[Any]:
    """Return arguments whose offsets are inputs."""
    offsets = ints(0, 2, 2, 5) if last else ints(0, 2, 2)
    return [TABLE, ints(1, 0, 5, 5, 2), offsets, False, mode, False, weights, last, None]


def masked(given: list[Any], **how: Any) -> None:
    """Assert that a pass computes what its numpy model and, where it is, PyTorch do."""
    arrays = [None if one is None else np.asarray(one) for one in given]
    expected = evaluate(arrays, {})
    if has_pytorch():
        said = run_in_pytorch("embedding_bag", "padding_idx", arrays)[0]
        np.testing.assert_allclose(expected[0], said, rtol=1e-5, atol=1e-6)
    model, feed = called("embedding_bag", given, expected, overload="padding_idx", **how)
    found = outputs_of(run_pass(PASS, model).after, feed)["y0"]
    np.testing.assert_allclose(found, expected[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("opset", [11, 17, 18])
def test_computed_offsets(opset: int, mode: int, last: bool, dynamic: bool) -> None:
    masked(computed(mode, last=last), fed=3, opset=opset, dynamic=dynamic)
    scaled = computed(0, array_of(5, seed=8), last)
    masked(scaled, fed=3, opset=opset, dynamic=dynamic)


@pytest.mark.parametrize("left", [5, -1])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_a_row_that_is_left_out(mode: int, left: int) -> None:
    arguments = [TABLE, ints(1, 0, 5, 5, 2), ints(0, 2, 4), False, mode, False, None, False, left]
    masked(arguments)


def test_in_a_branch() -> None:
    model = in_branch(aten_model("embedding_bag", [6, 3], arguments(ints(4, 2), ints(0), 0)))
    done = run_pass(PASS, model)
    y = outputs_of(done.after, {"x": TABLE, "c": np.array(True)})["y"]
    np.testing.assert_allclose(y, TABLE[4:5] + TABLE[2:3], rtol=1e-6)
