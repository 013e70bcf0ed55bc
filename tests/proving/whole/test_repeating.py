"""A model that reads what nothing wrote computes something else the next time."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from onnx import parser

from graphfix.proving.runners.ort_engine import OrtEngine
from graphfix.proving.values.kinds import Feed
from graphfix.proving.whole.samples import repeats

# onnxruntime's Concat looks at no size of an operand without elements, and makes room for its rows.
JOINED = parser.parse_model(
    '<ir_version: 8, opset_import: ["" : 17]> g (float[A, B] a, float[C, D] b) => (float[E, F] y) '
    "{ n = Neg (b) y = Concat <axis = 0> (n, a) }"
)


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc fills memory")
@pytest.mark.parametrize(("rows", "same"), [(0, True), (5, False)])
def test_rows_that_nothing_writes(rows: int, same: bool) -> None:
    engine = OrtEngine(JOINED, "")
    feed: Feed = {"a": np.zeros((rows, 0), np.float32), "b": np.ones((2, 3), np.float32)}
    for _ in range(20):
        outputs = engine.run(feed)
        y = outputs["y"]
        assert isinstance(y, np.ndarray)
        assert y.shape == (2 + rows, 3)
        assert (y[:2] == -1).all()
        assert repeats(engine, feed, outputs) is same
