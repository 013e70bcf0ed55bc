"""transpose-of-fewer-dimensions: what stays side by side is transposed as one."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import PLACES, written

PASS = "transpose-of-fewer-dimensions"
BODY = (
    "@s = Constant <value = int64[{rank}] {{{{{split}}}}}> ()\n@a = Reshape (x, @s)\n"
    "@t = Transpose <perm = [{perm}]> (@a)\n"
    "@l = Constant <value = int64[{count}] {{{{{last}}}}}> ()\n@y = Reshape (@t, @l)"
)


def body(split: str, perm: str, last: str) -> str:
    return BODY.format(
        rank=len(split.split(",")), split=split, perm=perm, count=len(last.split(",")), last=last
    ).format()


def feed_for(shape: str, place: str) -> dict[str, Any]:
    sizes = [int(size) for size in shape.split(",")]
    numbers = np.arange(np.prod(sizes), dtype=np.float32).reshape(sizes)
    return {"x": numbers, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", [place for place in PLACES if place != "function"])
@pytest.mark.parametrize(
    ("shape", "split", "perm", "last"),
    [
        ("2,8,6,3", "2,4,2,2,3,3", "0,1,3,2,4,5", "16,6,3"),  # windows
        ("2,8,3,4", "2,2,2,2,3,4", "0,1,4,2,5,3", "2,2,6,8"),  # pixels
        ("1,8,6,3", "1,4,2,2,3,3", "0,1,3,2,4,5", "8,6,3"),
        ("6,4,3", "1,6,2,2,3", "0,2,1,3,4", "2,6,6"),  # five, two of which stay together
        ("1,4,1", "1,1,2,1,2,1", "5,4,3,2,1,0", "4"),
        ("1,1", "1,1,1,1,1,1", "5,4,3,2,1,0", "1"),
    ],
)
def test_the_same_numbers(shape: str, split: str, perm: str, last: str, place: str) -> None:
    out = f"float[{last}]"
    text = written(body(split, perm, last), f"float[{shape}] x", out, place=place)
    done = assert_rewrite(PASS, text, feeds=[feed_for(shape, place)], rtol=0, atol=0)
    if place == "main":
        assert done.ops == ["Reshape", "Transpose", "Reshape"]
