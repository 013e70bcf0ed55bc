"""QNN itself: what its program does, where this machine has the provider."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphfix.api import run
from graphfix.errors import EngineFailed
from graphfix.report import Verdict
from graphfix.testing import parse
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


def test_what_a_consent_keeps_in_bytes_is_lossy_where_it_is_a_step_away() -> None:
    weights = ", ".join(str(n % 91 - 45) for n in range(0, 64 * 64 * 7, 7))
    text = f"""<ir_version: 8, opset_import: ["" : 17]> g (float[8,64] x) => (float[8,64] y)
        <float s = {{0.03}}, uint8 z = {{131}}, int8[64,64] w = {{{weights}}}, float t = {{0.01}},
        int8 o = {{0}}, float u = {{0.05}}, uint8 v = {{120}}> {{
            q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z)
            k = DequantizeLinear (w, t, o) m = MatMul (d, k)
            p = QuantizeLinear (m, u, v) y = DequantizeLinear (p, u, v) }}"""
    result = run(parse(text), "qnn", allow_lossy=True)
    found = result.report.verification
    assert (result.exit_code, result.report.integers) == (0, None)
    assert "QNN" in found.method
    assert found.status in (Verdict.EQUAL, Verdict.LOSSY)
    assert all((one.max_abs or 0.0) <= 0.0501 for one in found.outputs)
