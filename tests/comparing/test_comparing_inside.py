"""What ONNX says nothing of is not compared at sizes of 0 and 1."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from graphfix.comparing.evaluators import Evaluators
from graphfix.comparing.inside import Inside
from graphfix.feeds.kinds import Feed


def inside(text: str) -> Inside:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}')
    return Inside(model, "", Evaluators({}))


def test_a_division_by_nothing_inside_is_seen() -> None:
    found = inside(
        "g (float[N] x) => (bool[N] y) <float z = {0}> { d = Sub (x, x)  q = Div (d, d)  "
        "y = Less (q, z) }"
    )
    assert not found.is_meant({"x": np.ones(2, np.float32)})
    assert found.is_meant({"x": np.ones(0, np.float32)})


@pytest.mark.parametrize(("sizes", "meant"), [([0, -1], False), ([0, 3], True), ([2, -1], True)])
def test_a_size_that_is_left_of_nothing_is_seen(sizes: list[int], meant: bool) -> None:
    text = "g (float[N, 3] x, int64[2] s) => (float[A, B] y) { y = Reshape <allowzero = 1> (x, s) }"
    rows = 0 if 0 in sizes else 2
    feed: Feed = {"x": np.ones((rows, 3), np.float32), "s": np.array(sizes)}
    assert inside(text).is_meant(feed) is meant
