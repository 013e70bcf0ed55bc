"""OpenVINO itself: what its program does, where this machine has it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphfix.engines.engine import engine_of
from graphfix.engines.targets import load_target
from graphfix.errors import EngineFailed
from tests.engines.hosted import installed, needs, ran

ENGINE = engine_of("openvino")
X = np.arange(6, dtype=np.float32).reshape(2, 3)
needs_openvino = needs("openvino")


@pytest.fixture(params=installed("openvino") or ["openvino2026.4"])
def target(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_newest_version_is_meant_without_one() -> None:
    assert load_target("OpenVINO").name == "openvino2026.4"
    assert ENGINE.names() == ("openvino2023.0", "openvino2024.0", "openvino2026.4")


@needs_openvino
def test_it_computes(target: str, tmp_path: Path) -> None:
    text = (
        "g (float[N, 3] x, int64[1] n) => (float[N, 3] y, int64[1] m) { y = Exp (x) m = Neg (n) }"
    )
    found = ran(target, text, tmp_path, x=X, n=np.array([3]))
    np.testing.assert_allclose(found["y"], np.exp(X), rtol=1e-5)
    np.testing.assert_array_equal(found["m"], [-3])


@needs_openvino
def test_an_input_that_is_an_output_too_is_given(target: str, tmp_path: Path) -> None:
    text = (
        "g (float[2, 3] x, float[2, 3] z) => (float[2, 3] y, float[2, 3] w) "
        "{ y = Max (x) w = Max (z) }"
    )
    found = ran(target, text, tmp_path, x=X, z=X + 7)
    np.testing.assert_array_equal(found["y"], X)
    np.testing.assert_array_equal(found["w"], X + 7)


@needs_openvino
def test_a_refusal_has_its_words_and_stage(target: str, tmp_path: Path) -> None:
    text = "g (float[2, 3] x) => (float[2, 3] y) { y = NoSuchOperator (x) }"
    with pytest.raises(EngineFailed, match=r"^OpenVINO [0-9.]+: read: .*NoSuchOperator"):
        ran(target, text, tmp_path, x=X)
