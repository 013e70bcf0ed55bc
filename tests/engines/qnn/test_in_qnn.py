"""QNN itself: what its program does, where this machine has the provider."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphfix.errors import EngineFailed
from tests.engines.hosted import needs, ran

TARGET = "qnn2"
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
pytestmark = needs("qnn", TARGET)


def test_it_computes_in_float16(tmp_path: Path) -> None:
    text = "g (float[N,3] x, int64[1] n) => (float[N,3] y, int64[1] m) { y = Exp (x) m = Abs (n) }"
    found = ran(TARGET, text, tmp_path, x=X, n=np.array([-3]))
    np.testing.assert_allclose(found["y"], np.exp(X), rtol=2e-3)
    assert np.abs(found["y"] - np.exp(X)).max() > 1e-6
    np.testing.assert_array_equal(found["m"], [3])


def test_nodes_that_are_left_are_named(tmp_path: Path) -> None:
    text = "g (float[2,3] x) => (float[2,3] y) { a = Exp (x) b = Acosh (a) y = Neg (b) }"
    with pytest.raises(EngineFailed, match=r"assign: left to the CPU: Acosh\('b'\)$"):
        ran(TARGET, text, tmp_path, x=X)
