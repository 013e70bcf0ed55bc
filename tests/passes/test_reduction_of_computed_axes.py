"""reduction-of-computed-axes: one If for each axis, against numpy."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.lowering_models import written

PASS = "reduction-of-computed-axes"
X = np.random.default_rng(3).uniform(0.5, 2, (2, 3, 4)).astype(np.float32)
REDUCING: dict[str, Any] = {
    "ReduceMax": np.max,
    "ReduceMean": np.mean,
    "ReduceMin": np.min,
    "ReduceProd": np.prod,
}
BEFORE: dict[str, Any] = {"ReduceL1": np.abs, "ReduceL2": np.square, "ReduceSumSquare": np.square}
BEFORE["ReduceLogSumExp"] = np.exp
AFTER: dict[str, Any] = {"ReduceL2": np.sqrt, "ReduceLogSum": np.log, "ReduceLogSumExp": np.log}
OPERATORS = sorted({*REDUCING, *BEFORE, *AFTER, "ReduceSum"})


def computed(op: str, axes: tuple[int, ...]) -> Any:
    """Return what numpy makes of X, the axes kept."""
    given = BEFORE[op](X) if op in BEFORE else X
    reduced = REDUCING.get(op, np.sum)(given, axis=axes, keepdims=True)
    return AFTER[op](reduced) if op in AFTER else reduced


def text_of(op: str, keep: int, rank: int, opset: int = 18, place: str = "main") -> str:
    ends = ("float[N, 3, 4] x, int64[K] a", f"float[{', '.join('ABC'[:rank])}]")
    return written(f"@y = {op} <keepdims = {keep}> (x, a)", *ends, opset=opset, place=place)


@pytest.mark.parametrize("axes", [(0,), (-1, 1), (0, 1, 2)])
@pytest.mark.parametrize("op", OPERATORS)
def test_each_reduction(op: str, axes: tuple[int, ...]) -> None:
    feed = {"x": X, "a": np.array(axes, np.int64)}
    done = assert_rewrite(PASS, text_of(op, 1, 3), feeds=[feed], rtol=1e-5)
    found = outputs_of(done.after, feed)["y"]
    np.testing.assert_allclose(found, computed(op, axes), rtol=1e-5)
