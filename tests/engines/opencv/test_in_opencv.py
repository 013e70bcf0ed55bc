"""OpenCV itself: what its program does, where this machine has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphfix.engines.engine import engine_of
from graphfix.errors import EngineFailed
from tests.engines.hosted import installed, needs, ran

ENGINE = engine_of("opencv")
X = np.arange(6, dtype=np.float32).reshape(2, 3)
needs_opencv = needs("opencv")


@pytest.fixture(params=installed("opencv") or ["opencv5.0"])
def target(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@needs_opencv
def test_it_computes_what_two_outputs_want(target: str, tmp_path: Path) -> None:
    graph = "g (float[2, 3] x) => (float[2, 3] y, float[3, 2] z) { y = Exp (x) z = Transpose (y) }"
    found = ran(target, graph, tmp_path, x=X)
    np.testing.assert_allclose(found["y"], np.exp(X), rtol=1e-5)
    np.testing.assert_allclose(found["z"], np.exp(X).T, rtol=1e-5)


@needs_opencv
def test_a_refusal_has_its_words_and_names_the_node(target: str, tmp_path: Path) -> None:
    graph = "g (float[2, 3] x) => (float[2, 3] y) { n = Neg (x) y = NoSuchOperator (n) }"
    with pytest.raises(EngineFailed, match=r"^OpenCV [0-9.]+: parse: ") as refused:
        ran(target, graph, tmp_path, x=X)
    assert ENGINE.blamed(refused.value.message) == ("NoSuchOperator", "y")
