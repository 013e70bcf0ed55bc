"""gathernd-to-gather: tuples become numbers of rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "gathernd-to-gather"
DATA = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


@given(st.lists(st.tuples(st.integers(-2, 1), st.integers(-3, 2)), max_size=5))
def test_any_tuples(rows: list[tuple[int, int]]) -> None:
    text = written("@y = GatherND (x, i)", "float[2, 3, 4] x, int64[N, 2] i", "float[N, 4]")
    assert_rewrite(PASS, text, feeds=[{"x": DATA, "i": np.array(rows, np.int64).reshape(-1, 2)}])


@pytest.mark.parametrize("dims", ["2, 3, 4", "A, B, C", "2, B, C", "A, 3, 4"])
@pytest.mark.parametrize(("batch", "length"), [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("known", [True, False])
def test_batches_and_sizes_known_at_run_time(
    known: bool, batch: int, length: int, dims: str
) -> None:
    shape = (2, 3, length)
    index = np.empty(shape, np.int64)
    for place in range(length):
        size = DATA.shape[batch + place]
        index[..., place] = np.random.default_rng(place).integers(-size, size, shape[:-1])
    body, inputs = f"@y = GatherND <batch_dims = {batch}> (x, i)", f"float[{dims}] x"
    feed: dict[str, Any] = {"x": DATA}
    if known:
        numbers = ", ".join(map(str, index.reshape(-1)))
        sizes = ", ".join(map(str, shape))
        body = f"i = Constant <value = int64[{sizes}] {{{numbers}}}> ()\n{body}"
    else:
        # The axes of a batch have the sizes that they have in the data.
        sides = [*dims.split(", ")[:batch], "P", "Q"][:2]
        inputs += f", int64[{', '.join(sides)}, {length}] i"
        feed["i"] = index
    rank = 2 + 3 - length - batch
    text = written(body, inputs, f"float[{', '.join('pqrst'[:rank])}]")
    fixed = "constant indices are not for other sizes" if known else ""
    assert_rewrite(PASS, text, feeds=[feed], no_small_sides=fixed)


@pytest.mark.parametrize("rest", [(0, 5), (5, 0), (0, 0), (3, 5)])
def test_rows_of_no_elements(rest: tuple[int, int]) -> None:
    text = written("@y = GatherND (x, i)", "float[A, B, C, D] x, int64[4, 2] i", "float[4, C, D]")
    x = np.arange(6 * rest[0] * rest[1], dtype=np.float32).reshape(2, 3, *rest)
    index = np.array([[0, 0], [1, 2], [-1, -3], [-2, 1]])
    done = assert_rewrite(PASS, text, feeds=[{"x": x, "i": index}])
    assert np.array_equal(outputs_of(done.after, {"x": x, "i": index})["y"], x[*index.T])
