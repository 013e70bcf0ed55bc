"""STFT in numpy, and as the measure of what onnxruntime's own rounding does."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser

from graphfix.proving.runners.first_engine import RunnableModel
from graphfix.proving.runners.spectra import short_time_spectra
from graphfix.proving.values.kinds import Feed
from graphfix.proving.verdict.noise import Measured, Noise

STEP = np.array(4)


def test_a_signal_without_parts_is_a_real_one() -> None:
    x = np.arange(40, dtype=np.float64).reshape(2, 20) ** 1.5
    (flat,) = short_time_spectra([x, STEP, None, np.array(8)], {})
    (deep,) = short_time_spectra([x[..., None], STEP, None, np.array(8)], {})
    assert flat.shape == (2, 4, 5, 2)
    np.testing.assert_array_equal(flat, deep)
    np.testing.assert_allclose(flat[1, 2, 0], [x[1, 8:16].sum(), 0], atol=1e-9)


def test_both_parts_and_all_bins() -> None:
    x = np.random.default_rng(0).standard_normal((1, 12, 2))
    window = np.hanning(8)
    (found,) = short_time_spectra([x, STEP, window], {"onesided": 0})
    assert found.shape == (1, 2, 8, 2)
    wanted = np.fft.fft((x[0, 4:12, 0] + 1j * x[0, 4:12, 1]) * window)
    np.testing.assert_allclose(found[0, 1, :, 0] + 1j * found[0, 1, :, 1], wanted)


def test_a_window_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="a window of 6 for frames of 8"):
        short_time_spectra([np.ones((1, 20)), STEP, np.ones(6), np.array(8)], {})


MODEL = """<ir_version: 8, opset_import: ["": 17]>
g (float[2, 200] x) => (float[2, F, 41, 2] y) <int64 step = {40}, int64 size = {80}> {
  y = STFT <onesided = 1> (x, step, , size)
}"""


def test_the_evaluator_takes_a_signal_of_rank_two() -> None:
    model = parser.parse_model(MODEL)
    x = np.random.default_rng(1).standard_normal((2, 200)).astype(np.float32)
    runnable = RunnableModel(model)
    one, two = (
        engine.run({"x": x})["y"] for engine in (runnable.open(), runnable.open_reference())
    )
    np.testing.assert_allclose(np.asarray(one), np.asarray(two), atol=1e-3)


def test_what_onnxruntime_rounds_is_measured_where_it_has_no_kernels_for_float64() -> None:
    """It has none of GRU, so that the evaluator tells how far the spectra are from the truth."""
    head, tail = MODEL.split("(float[2, F, 41, 2] y) <int64")
    weights = (
        "<int64[3] ends = {0, 0, -1}, int64"
        f"{tail.rstrip('}').rstrip()} flat = Reshape (y, ends)"
        " rows = Transpose <perm = [1, 0, 2]> (flat) q, h = GRU <hidden_size = 3> (rows, w, r) }"
    )
    model = parser.parse_model(f"{head} (float[1, 2, 3] h) {weights}")
    drawn = np.random.default_rng(0)
    for name, columns in (("w", 82), ("r", 3)):
        values = drawn.uniform(-0.1, 0.1, (1, 9, columns)).astype(np.float32)
        model.graph.initializer.append(numpy_helper.from_array(values, name))
    original = RunnableModel(model)
    feed: Feed = {"x": drawn.standard_normal((2, 200)).astype(np.float32)}
    measured = Measured()
    assert Noise(original).measure_precisely(feed, original.open().run(feed), measured, "h")
    assert 1e-7 < measured.floats["h"][""] < 1e-3
