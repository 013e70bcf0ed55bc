"""transpose-between-unsqueeze-and-squeeze: axes of size 1 that come and go are left out."""

from typing import Any

import numpy as np
import pytest

import graphfix
from graphfix.api import run
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import PLACES, written
from tests.passes.shape_models import text

PASS = "transpose-between-unsqueeze-and-squeeze"


def body(came: str, perm: str, gone: str) -> str:
    count = len(came.split(","))
    return (
        f"@a = Constant <value = int64[{count}] {{{came}}}> ()\n"
        f"@b = Constant <value = int64[{count}] {{{gone}}}> ()\n@u = Unsqueeze (x, @a)\n"
        f"@t = Transpose <perm = [{perm}]> (@u)\n@y = Squeeze (@t, @b)"
    )


def feed_of(shape: tuple[int, ...], place: str = "main") -> dict[str, Any]:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return {"x": x, **({"c": np.array(True)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("came", "perm", "gone", "last", "left"),
    [
        ("0", "3,1,2,0,4", "3", "4,2,3,5", [2, 0, 1, 3]),  # MultiheadAttention
        ("0", "3,1,2,0,4", "-2", "4,2,3,5", [2, 0, 1, 3]),
        ("-1", "4,3,2,1,0", "0", "5,4,3,2", [3, 2, 1, 0]),
        ("0, 2", "5,2,4,0,1,3", "3, 1", "5,4,2,3", [3, 2, 0, 1]),
        ("2", "0,1,2,3,4", "2", "2,3,4,5", [0, 1, 2, 3]),
    ],
)
def test_the_same_numbers(
    came: str, perm: str, gone: str, last: str, left: list[int], place: str
) -> None:
    model = written(body(came, perm, gone), "float[2,3,4,5] x", f"float[{last}]", place=place)
    feed = feed_of((2, 3, 4, 5), place)
    done = assert_rewrite(PASS, model, feeds=[feed], rtol=0, atol=0)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], feed["x"].transpose(left))
    if place == "main":
        assert done.ops == ["Transpose"]


def test_ncnn_takes_what_is_left() -> None:
    model = text(
        "g (float[5,2,24] x) => (float[3,5,2,8] y) <int64[4] s = {5,2,3,8}, int64[1] a = {0},"
        " int64[1] b = {3}> { r = Reshape (x, s) u = Unsqueeze (r, a)"
        " t = Transpose <perm = [3, 1, 2, 0, 4]> (u) y = Squeeze (t, b) }",
        17,
    )
    features = {found.feature for found in graphfix.check(model, "ncnn1.0")}
    assert features == {"rank:Unsqueeze.5", "rank:Transpose.5", "rank:Squeeze.5"}
    done = run(model, target="ncnn1.0")
    assert graphfix.check(done.model, "ncnn1.0") == ()
    assert [node.op for node in done.model.graph.nodes] == ["Reshape", "Transpose"]
