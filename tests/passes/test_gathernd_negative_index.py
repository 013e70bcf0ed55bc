"""gathernd-negative-index: indices counted from the front."""

import numpy as np
import pytest
from onnx import numpy_helper

from graphfix.testing import assert_refused, assert_rewrite, assert_untouched, outputs_of
from tests.passes.lowering_models import PLACES, written

PASS = "gathernd-negative-index"
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("dtype", ["float", "int64", "float16"])
def test_values(dtype: str) -> None:
    model = written(
        "@i = Constant <value = int64[2,2] {-1, 0, 1, -3}> () @y = GatherND (x, @i)",
        f"{dtype}[2,3,4] x",
        f"{dtype}[2,4]",
    )
    kind = {"float": np.float32, "int64": np.int64, "float16": np.float16}[dtype]
    done = assert_rewrite(PASS, model, feeds=[{"x": X.astype(kind)}])
    stored = numpy_helper.to_array(done.after.graph.initializer[0])
    assert stored.tolist() == [[1, 0], [1, 0]]


@pytest.mark.parametrize("place", PLACES)
def test_batches_and_places(place: str) -> None:
    model = written(
        "@i = Constant <value = int64[2,1] {-1, 1}> () @y = GatherND <batch_dims = 1> (x, @i)",
        "float[2,3,4] x",
        "float[2,4]",
        place=place,
    )
    feed = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    done = assert_rewrite(PASS, model, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], [X[0, 2], X[1, 1]])


def test_an_open_axis_without_negative_indices() -> None:
    model = written(
        "@i = Constant <value = int64[1,2] {0, -1}> () @y = GatherND (x, @i)",
        "float[N,3,4] x",
        "float[1,4]",
    )
    assert_rewrite(PASS, model, feeds=[{"x": X}], no_small_sides="index 0 needs an element")


@pytest.mark.parametrize(
    ("inputs", "index", "reason"),
    [
        ("float[3] x", "int64[1,1] {1}", "an index must be negative; none is"),
        ("float[N] x", "int64[1,1] {-1}", "the size of axis 0 must be known"),
        ("float[3] x", "int64[1,1] {-4}", "one lies before it"),
    ],
)
def test_refused(inputs: str, index: str, reason: str) -> None:
    body = f"@i = Constant <value = {index}> () @y = GatherND (x, @i)"
    assert_refused(PASS, written(body, inputs, "float[1]"), reason)


def test_computed_indices_are_refused() -> None:
    model = written("@y = GatherND (x, i)", "float[3] x, int64[1,1] i", "float[1]")
    assert_refused(PASS, model, "the indices")


def test_leaves_others_alone() -> None:
    assert_untouched(PASS, written("@y = Neg (x)", "float[3] x", "float[3]"))


def test_at_opset_11_which_has_no_batches() -> None:
    model = written(
        "@i = Constant <value = int64[1,1] {-1}> () @y = GatherND (x, @i)",
        "float[2,3,4] x",
        "float[1,3,4]",
        opset=11,
    )
    done = assert_rewrite(PASS, model, feeds=[{"x": X}])
    np.testing.assert_array_equal(outputs_of(done.after, {"x": X})["y"], X[-1:])
