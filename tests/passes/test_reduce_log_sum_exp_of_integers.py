"""reduce-log-sum-exp-of-integers: exponentials of differences are whole."""

import numpy as np
import pytest

from graphfix.testing import assert_refused, assert_rewrite, outputs_of
from tests.passes.integer_reductions import model_of, rows_of

PASS = "reduce-log-sum-exp-of-integers"


@pytest.mark.parametrize("kind", ["int32", "int64"])
def test_exponentials_of_differences_are_whole(kind: str) -> None:
    x = rows_of(
        np.dtype(kind), (5, 4, 4, 4), (-5, -5, -5, -5), (-1, -1, -1, -1), (7, 7, 7, 1),
        (2000, 1999, 0, 0), (-9, -90, -90, -90), (0, 0, 0, -1),
    )  # fmt: skip
    done = assert_rewrite(PASS, model_of("ReduceLogSumExp", kind), feeds=[{"x": x}])
    wanted = [5, -3, 0, 8, 2000, -9, 1]
    assert outputs_of(done.after, {"x": x})["y"][:, 0].tolist() == wanted
    flat = model_of("ReduceLogSumExp", kind, more=", keepdims = 0").replace("[N, L]", "[N]")
    assert_rewrite(PASS, flat, feeds=[{"x": x}])
    assert_refused(PASS, model_of("ReduceLogSumExp", "float"), "must be int32 or int64")
