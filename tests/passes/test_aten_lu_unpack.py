"""aten-lu-unpack: halves of matrices, and the exchanges of rows."""

import numpy as np
import pytest

from graphfix.testing import outputs_of
from passes.aten.aten_lu_unpack import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-lu-unpack"


@pytest.mark.parametrize("data", [True, False])
@pytest.mark.parametrize("order", [True, False])
@pytest.mark.parametrize("shape", [(3, 3), (4, 3), (3, 4), (2, 3, 3), (1, 1)])
def test_factors(shape: tuple[int, ...], order: bool, data: bool) -> None:
    rows, count = shape[-2], min(shape[-2:])
    rng = np.random.default_rng(4)
    pivots = np.stack([rng.integers(k, rows, shape[:-2]) + 1 for k in range(count)], -1)
    arguments = [array_of(*shape), pivots.astype(np.int32), data, order]
    replaced(PASS, FAMILY.evaluate, "lu_unpack", arguments, fed=2)


def test_rows_are_exchanged_in_turn() -> None:
    x, pivots = np.eye(3, dtype=np.float32), np.array([3, 3, 3], np.int32)
    done = replaced(PASS, FAMILY.evaluate, "lu_unpack", [x, pivots, True, True], fed=2)
    found = outputs_of(done.after, {"x0": x, "x1": pivots})["y0"]
    # 0 1 2, then 2 1 0, then 2 0 1: where each row came from.
    assert found.tolist() == [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
