"""Indices of GatherND and ScatterND that name no axis, or some of them."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from graphfix.proving.inputs.maker import FeedMaker

HEAD = '<ir_version: 8, opset_import: ["" : 17]>'


@pytest.mark.parametrize("width", [0, 1, 2])
@pytest.mark.parametrize(
    "graph",
    [
        "g (float[4,5] x, int64[3,{w}] i) => (float[A,B] y) {{ y = GatherND (x, i) }}",
        "g (float[4,5] x, int64[1,{w}] i, float[C] u) => (float[4,5] y) "
        "{{ y = ScatterND (x, i, u) }}",
    ],
)
def test_indices_are_within_the_axes_that_they_name(graph: str, width: int) -> None:
    model = parser.parse_model(f"{HEAD} {graph.format(w=width)}")
    maker = FeedMaker(model)
    for number in range(5):
        indices = maker.draw(number)["i"]
        assert isinstance(indices, np.ndarray)
        assert indices.shape[-1] == width
        assert indices.dtype == np.dtype(np.int64)
        assert (indices >= -np.array([4, 5][:width])).all()
        assert (indices < np.array([4, 5][:width])).all()
