"""The child process that computes constants in onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from graphfix.analysis.folding import computed_constants, simplifying
from graphfix.analysis.folding.computed_constants import run_constants
from graphfix.analysis.folding.simplifying import simplified
from graphfix.errors import EngineFailed

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def test_values_come_back_by_name() -> None:
    model = onnx.parser.parse_model(
        HEAD + "g () => (float[2] a, int64[2] b) <float[2] w = {1.0, 4.0}, int64[2] v = {3, 9}> "
        "{ a = Sqrt (w) b = Sign (v) }"
    )
    values = run_constants(model)
    np.testing.assert_array_equal(values["a"], np.array([1, 2], np.float32))
    np.testing.assert_array_equal(values["b"], np.array([1, 1]))
    assert values["a"].dtype == np.float32


def test_a_node_that_fails_takes_only_those_with_it_that_need_it() -> None:
    model = onnx.parser.parse_model(
        HEAD + "g () => (float[2] a, float[2,2] bad, float[2,2] worse, float[2] b) "
        "<float[2] w = {1.0, 4.0}, int64[1] shape = {5}> "
        "{ a = Sqrt (w) bad = Reshape (w, shape) worse = Exp (bad) b = Sqrt (a) }"
    )
    values = run_constants(model)
    assert sorted(values) == ["a", "b"]
    np.testing.assert_allclose(values["b"], [1, 2**0.5], rtol=1e-6)


def test_a_child_that_dies_is_an_engine_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (computed_constants, simplifying):
        monkeypatch.setattr(module, "TASK", "tests.worker.tasks:crashes")
    model = onnx.parser.parse_model(
        HEAD + "g () => (float[1] a) <float[1] w = {1.0}> { a = Exp (w) }"
    )
    with pytest.raises(EngineFailed, match=r"onnxruntime cannot fold: .*\(SIGSEGV\)"):
        run_constants(model)
    with pytest.raises(EngineFailed, match=r"onnxsim: .*\(SIGSEGV\)"):
        simplified(model, 1024)


def test_a_child_that_hangs_is_an_engine_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computed_constants, "SECONDS", 0.2)
    monkeypatch.setattr(computed_constants, "TASK", "tests.worker.tasks:hangs")
    model = onnx.parser.parse_model(
        HEAD + "g () => (float[1] a) <float[1] w = {1.0}> { a = Exp (w) }"
    )
    with pytest.raises(EngineFailed, match="took longer than"):
        run_constants(model)
