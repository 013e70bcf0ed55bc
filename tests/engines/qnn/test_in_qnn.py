"""QNN itself: what its program does, where this machine has the provider."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import parser

from graphfix.engines.engine import engine_of
from graphfix.engines.hosting.places import python_of
from graphfix.engines.interface import Meant
from graphfix.engines.targets import load_target
from graphfix.errors import EngineFailed

ENGINE, TARGET = engine_of("qnn"), "qnn2"
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
pytestmark = pytest.mark.skipif(
    python_of(TARGET, ENGINE.requirements) is None,
    reason="no QNN here: graphfix targets --install qnn2",
)


def ran(text: str, folder: Path, **feed: object) -> dict[str, Any]:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}')
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    target = load_target(TARGET)
    runner: Any = ENGINE.open(model, path, Meant(target.version, {}, TARGET, target.static_shapes))
    try:
        found: dict[str, Any] = runner.run(feed)
        return found
    finally:
        assert runner.version == (2,)
        runner.close()


def test_it_computes_in_float16(tmp_path: Path) -> None:
    text = "g (float[N,3] x, int64[1] n) => (float[N,3] y, int64[1] m) { y = Exp (x) m = Abs (n) }"
    found = ran(text, tmp_path, x=X, n=np.array([-3]))
    np.testing.assert_allclose(found["y"], np.exp(X), rtol=2e-3)
    assert np.abs(found["y"] - np.exp(X)).max() > 1e-6
    np.testing.assert_array_equal(found["m"], [3])


def test_nodes_that_are_left_are_named(tmp_path: Path) -> None:
    text = "g (float[2,3] x) => (float[2,3] y) { a = Exp (x) b = Acosh (a) y = Neg (b) }"
    with pytest.raises(EngineFailed, match=r"assign: left to the CPU: Acosh\('b'\)$"):
        ran(text, tmp_path, x=X)
