"""slice-steps-by-blocks: each n-th element as the first of a block."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "slice-steps-by-blocks"
X = np.arange(2 * 7 * 8, dtype=np.float32).reshape(2, 7, 8)


def sliced(starts: str, ends: str, axes: str, steps: str) -> str:
    names = ("s", "e", "a", "t")
    texts = zip(names, (starts, ends, axes, steps), strict=True)
    made = [
        f"@{name} = Constant <value = int64[{len(text.split(','))}] {{{text}}}> ()"
        for name, text in texts
    ]
    return "\n".join([*made, "@y = Slice (x, @s, @e, @a, @t)"])


@pytest.mark.parametrize("place", [place for place in PLACES if place != "function"])
@pytest.mark.parametrize(
    ("starts", "ends", "axes", "steps", "shape"),
    [
        ("0", "8", "2", "2", "2,7,4"),
        ("1", "8", "-1", "2", "2,7,4"),
        ("1", "100", "1", "3", "2,2,8"),
        ("3", "7", "1", "3", "2,2,8"),  # the last block begins before what is taken
        ("0,1", "7,8", "1,2", "7,4", "2,1,2"),
        ("0,1", "2,8", "0,2", "1,2", "2,7,4"),
        ("-7", "-1", "2", "3", "2,7,2"),
    ],
)
def test_the_same_elements(
    starts: str, ends: str, axes: str, steps: str, shape: str, place: str
) -> None:
    body = sliced(starts, ends, axes, steps)
    text = written(body, "float[2,7,8] x", f"float[{shape}]", place=place)
    feed: dict[str, Any] = {"x": X, **({"c": np.array(True)} if place == "branch" else {})}
    assert_rewrite(PASS, text, feeds=[feed], rtol=0, atol=0)


def test_its_form() -> None:
    text = written(sliced("1", "8", "2", "2"), "float[2,7,8] x", "float[2,7,4]")
    done = assert_rewrite(PASS, text, feeds=[{"x": X}], rtol=0, atol=0)
    assert [op for op in done.ops if op != "Constant"] == ["Reshape", "Slice", "Reshape"]


def test_refusals() -> None:
    ends = ("float[2,7,8] x", "float[2,A,8]")
    assert_refused(PASS, written(sliced("6", "0", "1", "-2"), *ends), "steps must be positive")
    assert_refused(PASS, written(sliced("6", "6", "1", "2"), *ends), "something must be taken")
    assert_refused(PASS, written(sliced("0", "7", "1", "2"), *ends), "must have a block of 2")
    open_sizes = ("float[N,7,8] x", "float[N,A,8]")
    assert_refused(PASS, written(sliced("0", "6", "1", "2"), *open_sizes), "sizes and steps")
