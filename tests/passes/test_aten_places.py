"""aten-places: moves whose places are known."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import run_pass
from passes.aten.aten_places import FAMILY
from tests.passes.aten_models import array_of, aten_model, replaced
from tests.passes.resize_models import in_branch

PASS = "aten-places"
X = array_of(2, 3, 4)
MOVES: list[tuple[list[Any], str, str]] = [
    ([array_of(3), 1], "diag", ""),
    ([array_of(3, 4), -1], "diag", ""),
    ([array_of(2, 2), 1], "diagflat", ""),
    ([X, -1, 2, 2], "unfold", ""),
    ([X, 0, 2, 1], "unfold", ""),
    ([X, [2, 2], [3, 5], 1], "as_strided", ""),
    ([array_of(8, 2, 3), 2], "pixel_shuffle", ""),
    ([array_of(2, 8, 2, 3), 2], "pixel_shuffle", ""),
    ([array_of(2, 4, 6), 2], "pixel_unshuffle", ""),
    ([X, 2, 1, None], "repeat_interleave", "self_int"),
    ([X, [1, 0, 2], 1, None], "repeat_interleave", "self_Tensor"),
    ([array_of(5), 2, 0], "combinations", ""),
    ([array_of(4), 3, 1], "combinations", ""),
    ([X, [1, 2], np.array("circular", object), None], "pad", ""),
]


@pytest.mark.parametrize(("inputs", "operator", "overload"), MOVES)
def test_moves(inputs: list[Any], operator: str, overload: str) -> None:
    for dtype in (np.float32, np.int64):
        given = [(inputs[0] * 9).astype(dtype), *inputs[1:]]
        replaced(PASS, FAMILY.evaluate, operator, given, overload=overload)


def test_moves_of_several_tensors() -> None:
    replaced(PASS, FAMILY.evaluate, "block_diag", [[array_of(2, 3), array_of(1, 1), array_of(2)]])
    replaced(PASS, FAMILY.evaluate, "cartesian_prod", [[array_of(2), array_of(3), array_of(1)]])
    flat = array_of(2, 2, seed=9)
    replaced(PASS, FAMILY.evaluate, "as_strided_scatter", [X, flat, [2, 2], [3, 5], 1], fed=2)
    line = array_of(4, 2, seed=9)
    replaced(PASS, FAMILY.evaluate, "diagonal_scatter", [X, line, 1, 0, 1], fed=2)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize(
    ("operator", "arguments"),
    [
        ("constant_pad_nd", [[1, 2, 0, 1], 3]),
        ("constant_pad_nd", [[-1, 1], 0.5]),
        ("constant_pad_nd", [[0, 0], 0]),
        ("pad", [[2, 1], np.array("constant", object), None]),
        ("pad", [[2, 1], np.array("reflect", object), None]),
        ("pad", [[2, 1], np.array("replicate", object), None]),
        ("reflection_pad1d", [[1, 2]]),
        ("replication_pad2d", [[1, 2, 0, 3]]),
    ],
)
def test_pads(operator: str, arguments: list[Any], dynamic: bool) -> None:
    replaced(PASS, FAMILY.evaluate, operator, [X, *arguments], dynamic=dynamic)


def test_in_a_branch() -> None:
    model = aten_model("unfold", [4], [np.array(n) for n in (0, 2, 1)], outputs={"y": (None, 2)})
    done = run_pass(PASS, in_branch(model))
    assert sum(len(outcome.sites) for outcome in done.outcomes) == 2
