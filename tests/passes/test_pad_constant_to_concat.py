"""pad-constant-to-concat: blocks of the value next to the data."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.testing import assert_refused, assert_rewrite, run_pass
from tests.passes.lowering_models import written
from tests.sessions import session_of

PASS = "pad-constant-to-concat"
DATA = np.arange(20, dtype=np.float32).reshape(4, 5)


def test_static_pads_are_one_concat() -> None:
    text = written(
        "@p = Constant <value = int64[4] {0, 1, 0, 2}> ()\n@y = Pad (x, @p)",
        "float[4, 5] x",
        "float[4, 8]",
    )
    assert assert_rewrite(PASS, text, feeds=[{"x": DATA}]).ops[-1:] == ["Concat"]


@given(st.tuples(*[st.integers(-2, 3)] * 4), st.booleans())
def test_any_pads(pads: tuple[int, ...], dynamic: bool) -> None:
    dims = "M, N" if dynamic else "4, 5"
    text = written("@y = Pad (x, p)", f"float[{dims}] x, int64[4] p", "float[A, B]")
    assert_rewrite(PASS, text, feeds=[{"x": DATA, "p": np.array(pads)}])


def padded(x: np.ndarray[Any, Any], before: int, after: int, value: float = 0) -> Any:
    """Pad the last axis as the text says: what is added may be taken away again."""
    wide = np.pad(x, np.array([(0, 0), (max(before, 0), max(after, 0))]), constant_values=value)
    return wide[:, max(-before, 0) : wide.shape[1] - max(-after, 0)]


EXTREMES = [
    (size, before, after)
    for size in range(4)
    for before in range(-5, 6)
    for after in range(-5, 6)
    if size + before + after >= 0
]


def test_computed_negative_pads_on_any_side_even_one_of_0() -> None:
    text = written(
        "@a = Constant <value = int64[1] {-1}> ()\n@y = Pad (x, p, , @a)",
        "float[M, N] x, int64[2] p",
        "float[A, B]",
        opset=18,
    )
    session = session_of(run_pass(PASS, text).after)
    for size, before, after in EXTREMES:
        x = np.arange(1, 2 * size + 1, dtype=np.float32).reshape(2, size)
        (given_,) = session.run(None, {"x": x, "p": np.array([before, after])})
        np.testing.assert_array_equal(given_, padded(x, before, after))


@pytest.mark.parametrize(("before", "after"), [(-3, 4), (4, -3), (-1, -1), (0, -2), (-2, 2)])
@pytest.mark.parametrize("known", [True, False])
def test_constant_pads_that_cut_beyond_the_data(before: int, after: int, known: bool) -> None:
    for size in range(5):
        if size + before + after < 0:
            continue
        text = written(
            f"@p = Constant <value = int64[4] {{0, {before}, 0, {after}}}> ()\n@y = Pad (x, @p)",
            f"float[2, {size if known else 'N'}] x",
            "float[A, B]",
        )
        x = np.arange(1, 2 * size + 1, dtype=np.float32).reshape(2, size)
        given_ = session_of(run_pass(PASS, text).after).run(None, {"x": x})[0]
        np.testing.assert_array_equal(given_, padded(x, before, after))


@pytest.mark.parametrize("length", [0, 2])
def test_pads_joined_with_themselves_again_and_again_are_looked_at_once(length: int) -> None:
    names = ["p", *(f"p{i}" for i in range(40))]
    joins = "".join(f"{b} = Concat <axis = 0> ({a}, {a})  " for a, b in pairwise(names))
    text = f"""<ir_version: 8, opset_import: ["": 13]>
    g (float[2] x, int64[{length}] p) => (float[n] y) {{ {joins} y = Pad (x, {names[-1]}) }}"""
    assert_refused(PASS, text, "there must be two pads for each of 1 axes; there are")
