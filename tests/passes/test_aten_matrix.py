"""aten-matrix: the trace, and the matrix of Vandermonde."""

import numpy as np
import pytest

from passes.aten.aten_matrix import FAMILY
from tests.passes.aten_models import array_of, replaced

PASS = "aten-matrix"
X = array_of(4, 3)


@pytest.mark.parametrize("dynamic", [False, True])
def test_traces(dynamic: bool) -> None:
    for x in (X, X.T.copy(), (X * 9).astype(np.int64), (X * 9).astype(np.int32)):
        replaced(PASS, FAMILY.evaluate, "trace", [x], rtol=1e-6, dynamic=dynamic)


@pytest.mark.parametrize("dynamic", [False, True])
def test_powers(dynamic: bool) -> None:
    for count in (1, 2, 5):
        for x in (X, (X * 3).astype(np.int64)):
            replaced(PASS, FAMILY.evaluate, "linalg_vander", [x, count], rtol=1e-6, dynamic=dynamic)
    replaced(PASS, FAMILY.evaluate, "linalg_vander", [X, None], rtol=1e-6)
