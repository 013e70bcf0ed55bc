"""transpose-in-two-turns: five and six dimensions transposed as four, twice."""

from math import prod

import numpy as np
import pytest

from graphfix.testing import assert_rewrite

PASS = "transpose-in-two-turns"


def text(first: list[int], split: list[int], perm: list[int], last: list[int]) -> str:
    def listed(numbers: list[int]) -> str:
        return ", ".join(map(str, numbers))

    return (
        '<ir_version: 8, opset_import: ["" : 17]> g '
        f"(float[{listed(first)}] x) => (float[{listed(last)}] y) "
        f"<int64[{len(split)}] s = {{{listed(split)}}}, int64[{len(last)}] l = {{{listed(last)}}}> "
        f"{{ a = Reshape (x, s) t = Transpose <perm = [{listed(perm)}]> (a) y = Reshape (t, l) }}"
    )


@pytest.mark.parametrize(
    ("split", "perm", "last"),
    [
        ([2, 3, 4, 5, 6], [2, 0, 3, 1, 4], [4, 10, 3, 6]),
        ([2, 3, 4, 5, 6], [4, 2, 0, 3, 1], [24, 30]),
        ([1, 2, 3, 1, 4, 5, 6], [0, 4, 1, 5, 3, 2, 6], [4, 10, 3, 6]),
    ],
)
def test_the_same_order(split: list[int], perm: list[int], last: list[int]) -> None:
    x = np.arange(720, dtype=np.float32).reshape(6, 120)
    assert prod(split) == x.size
    done = assert_rewrite(PASS, text([6, 120], split, perm, last), feeds=[{"x": x}])
    assert done.ops == ["Reshape", "Transpose", "Reshape", "Transpose", "Reshape"]
    sizes = {i.name: i.dims[0] for i in done.after.graph.initializer}
    assert max(sizes.values()) <= 4
