"""integer-relu-to-where: zero where an integer is below it."""

import numpy as np

from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "integer-relu-to-where"
LOWEST = np.iinfo(np.int32).min


def test_relu_of_integers() -> None:
    text = written("@y = Relu (x)", "int32[N] x", "int32[N]", opset=14)
    feed = {"x": np.array([LOWEST, -1, 0, 7], np.int32)}
    done = assert_rewrite(PASS, text, feeds=[feed], after=["Less", "Where"])
    assert outputs_of(done.after, feed)["y"].tolist() == [0, 0, 0, 7]
    floats = written("@y = Relu (x)", "float[3] x", "float[3]", opset=14)
    reason = "x must be int8, int16, int32 or int64; it is float32"
    assert_refused(PASS, floats, reason)
