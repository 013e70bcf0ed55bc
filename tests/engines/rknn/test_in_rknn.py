"""RKNN itself: what its program does, where this machine has the toolkit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphfix.errors import EngineFailed
from tests.engines.hosted import needs, ran

TARGET = "rknn2.3"
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
pytestmark = needs("rknn", TARGET)


def test_it_computes_in_float16(tmp_path: Path) -> None:
    text = "g (float[N,3] x, int64[1] n) => (float[N,3] y, int64[1] m) { y = Exp (x) m = Abs (n) }"
    found = ran(TARGET, text, tmp_path, x=X, n=np.array([-3]))
    np.testing.assert_allclose(found["y"], np.exp(X), rtol=2e-3)
    assert np.abs(found["y"] - np.exp(X)).max() > 1e-6
    np.testing.assert_array_equal(found["m"], [3])


def test_one_number_has_its_rank(tmp_path: Path) -> None:
    text = (
        "g (float[2,3] x) => (float y, float[1,1] z) "
        "{ y = ReduceMax <keepdims = 0> (x) z = ReduceMin (x) }"
    )
    found = ran(TARGET, text, tmp_path, x=X)
    assert (found["y"].shape, found["z"].shape) == ((), (1, 1))
    assert (found["y"].item(), found["z"].item()) == (1, -1)


def test_an_output_that_does_not_come_is_reported(tmp_path: Path) -> None:
    text = "g (float[2,3] x) => (float[2,3] y, float[2,3] z) { y = Exp (x) z = Identity (y) }"
    with pytest.raises(EngineFailed, match="1 of 2 outputs came"):
        ran(TARGET, text, tmp_path, x=X)


def test_a_refusal_has_its_words_and_stage(tmp_path: Path) -> None:
    text = "g (float[2,3] x) => (int64[2,N] y) { y = NonZero (x) }"
    with pytest.raises(
        EngineFailed, match=r"build: ValueError: The input 0 of NonZero\('y'\) need"
    ):
        ran(TARGET, text, tmp_path, x=X)
