"""aten-lu-unpack: halves of matrices, and the exchanges of rows."""

import numpy as np
import pytest

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
