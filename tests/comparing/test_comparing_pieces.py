"""A model that is run in pieces computes what it computes as a whole."""

from __future__ import annotations

import numpy as np
from onnx import parser

from graphfix.comparing.evaluators import GivenEvaluators
from graphfix.comparing.pieces import PiecewiseEngine
from graphfix.feeds.kinds import Array

TEXT = """
<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
g (float[1,2,3,4] x) => (float[1,2,6,8] y) {
    first = Constant<value = int64[1] {0}>()
    last = Constant<value_ints = [2]>()
    axis = Constant<value = int64[1] {0}>()
    wanted = Constant<value = int64[2] {6, 8}>()
    h = own.Twice(x)
    whole = Shape(h)
    front = Slice(whole, first, last, axis)
    sizes = Concat<axis = 0>(front, wanted)
    y = Resize<mode = "nearest", coordinate_transformation_mode = "asymmetric",
               nearest_mode = "floor">(h, , , sizes)
}
"""


def twice(inputs: list[Array | None], _attributes: dict[str, object]) -> tuple[Array, ...]:
    value = inputs[0]
    assert value is not None
    return (value * 2,)


def test_constants_are_known_in_every_piece() -> None:
    """Inference takes the Slice of a Shape with unknown bounds for empty, and Resize refuses."""
    evaluators = GivenEvaluators({("own", "Twice"): twice})
    engine = PiecewiseEngine(parser.parse_model(TEXT), "", evaluators, {("own", "Twice")})
    x = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
    found = np.asarray(engine.run({"x": x})["y"])
    np.testing.assert_array_equal(found, (2 * x).repeat(2, axis=2).repeat(2, axis=3))
