"""stft-to-conv: frames and their spectra by one convolution."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphfix
from graphfix.testing import assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

PASS = "stft-to-conv"


def text(
    step: int, frame: int, *, window: bool = True, onesided: int = 1, parts: int = 1,
    place: str = "main", length: int | str = "L", opset: int = 17, dtype: str = "float",
) -> str:  # fmt: skip
    values = ", ".join(f"{0.5 + 0.1 * k:.2f}" for k in range(frame))
    body = f"@s = Constant <value = int64 {{{step}}}> ()\n"
    body += f"@f = Constant <value = int64 {{{frame}}}> ()\n"
    if window:
        body += f"@w = Constant <value = {dtype}[{frame}] {{{values}}}> ()\n"
    given = "@w" if window else '""'
    body += f"@y = STFT <onesided = {onesided}> (x, @s, {given}, @f)"
    bins = frame // 2 + 1 if onesided else frame
    return written(body, f"{dtype}[B, {length}, {parts}] x", f"{dtype}[B, T, {bins}, 2]",
                   place=place, opset=opset)  # fmt: skip


def feed_of(length: int, parts: int = 1, place: str = "main") -> dict[str, Any]:
    x = np.random.default_rng(length).standard_normal((2, length, parts)).astype(np.float32)
    return {"x": x, **({"c": np.array(False)} if place == "branch" else {})}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [17, 18, 21])
@pytest.mark.parametrize("window", [True, False])
def test_any_length_of_signal(place: str, opset: int, window: bool) -> None:
    model = text(4, 16, window=window, place=place, opset=opset)
    feeds = [feed_of(length, place=place) for length in (16, 33)]
    assert_rewrite(PASS, model, feeds=feeds, rtol=1e-4, atol=1e-4)


def test_against_numpy() -> None:
    feed = feed_of(40)
    done = assert_rewrite(PASS, text(3, 8), feeds=[feed], rtol=1e-4, atol=1e-4)
    window = 0.5 + 0.1 * np.arange(8)
    frames = np.stack([feed["x"][:, k : k + 8, 0] * window for k in range(0, 33, 3)], axis=1)
    wanted = np.fft.rfft(frames)
    result = outputs_of(done.after, feed)["y"]
    np.testing.assert_allclose(result[..., 0], wanted.real, atol=1e-4)
    np.testing.assert_allclose(result[..., 1], wanted.imag, atol=1e-4)


@pytest.mark.parametrize("place", PLACES)
def test_one_side_where_the_attribute_is_absent(place: str) -> None:
    model = text(4, 16, place=place).replace("<onesided = 1>", "")
    assert "onesided" not in model
    feed = feed_of(33, place=place)
    done = assert_rewrite(PASS, model, feeds=[feed], rtol=1e-4, atol=1e-4)
    assert outputs_of(done.after, feed)["y"].shape == (2, 5, 9, 2)


def test_a_whole_run_repairs_one_side_by_default() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]>
        g (float[2, 64, 1] x) => (float[2, M] y) <int64 step = {4}, int64 n = {16}>
        { s = STFT (x, step, "", n) y = Flatten (s) }"""
    )
    result = graphfix.run(model, "trt8.6", verify="full")
    assert result.exit_code == 0
    verdict = result.report.verification
    assert verdict is not None
    assert str(verdict.status) == "equal"
    assert verdict.method.startswith("onnxruntime")
    assert "Conv" in [node.op_type for node in result.model.to_proto().graph.node]


def test_both_sides_of_real_and_complex_signals() -> None:
    for parts in (1, 2):
        model = text(2, 6, onesided=0, parts=parts)
        assert_rewrite(PASS, model, feeds=[feed_of(20, parts)], rtol=1e-4, atol=1e-4)


def test_half_precision_is_computed_in_single() -> None:
    done = run_pass(PASS, text(4, 8, window=False, dtype="float16"))
    assert done.ops[0] == "Cast"
    x = feed_of(24)["x"].astype(np.float16)
    result = outputs_of(done.after, {"x": x})["y"]
    frames = np.stack([x[:, k : k + 8, 0] for k in range(0, 17, 4)], axis=1).astype(np.float64)
    np.testing.assert_allclose(result[..., 0], np.fft.rfft(frames).real, rtol=1e-2, atol=1e-2)


@given(st.integers(1, 5), st.integers(2, 9), st.integers(0, 1), st.integers(0, 12))
def test_any_frames(step: int, frame: int, onesided: int, more: int) -> None:
    model = text(step, frame, onesided=onesided, length=frame + more)
    assert_rewrite(PASS, model, feeds=[feed_of(frame + more)], rtol=1e-4, atol=1e-4)
