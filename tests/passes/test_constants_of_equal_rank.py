"""constants-of-equal-rank: axes of size 1 before those of constants."""

import numpy as np

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "constants-of-equal-rank"
X = np.arange(-12, 12, dtype=np.float32).reshape(2, 3, 4) + 0.5
SHAPE = "float[2,3,4]"


def test_choice_by_a_constant() -> None:
    constant = "@m = Constant <value = bool[3,1] {1, 0, 1}> ()\n"
    text = written(f"{constant}@y = Where (@m, x, z)", f"{SHAPE} x, {SHAPE} z", SHAPE, opset=16)
    done = assert_rewrite(PASS, text, feeds=[{"x": X, "z": -X}])
    found = outputs_of(done.after, {"x": X, "z": -X})["y"]
    np.testing.assert_array_equal(found[:, 1], -X[:, 1])
    np.testing.assert_array_equal(found[:, ::2], X[:, ::2])
