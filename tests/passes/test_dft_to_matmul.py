"""dft-to-matmul: spectra by a product, against numpy's."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import parser

import graphfix
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES, written

Array = np.ndarray[Any, Any]
PASS = "dft-to-matmul"


def spectrum(x: Array, axis: int, *, length: int | None, inverse: int, onesided: int) -> Array:
    """Return what numpy makes of [..., parts]."""
    if inverse and onesided:
        return np.fft.irfft(x[..., 0] + 1j * x[..., 1], n=length, axis=axis)[..., None]
    signal = x[..., 0] + 1j * x[..., 1] if x.shape[-1] == 2 else x[..., 0].astype(complex)
    result = (np.fft.ifft if inverse else np.fft.fft)(signal, n=length, axis=axis)
    if onesided:
        result = np.take(result, range(result.shape[axis] // 2 + 1), axis=axis)
    return np.stack([result.real, result.imag], axis=-1)


def check(
    shape: tuple[int, ...], axis: int, *, length: int | None = None, inverse: int = 0,
    onesided: int = 0, opset: int = 17, place: str = "main", dtype: str = "float",
) -> list[str]:  # fmt: skip
    flags = f"inverse = {inverse}, onesided = {onesided}"
    body, extra = "", '""' if opset >= 20 else ""
    if length is not None:
        body, extra = f"@n = Constant <value = int64 {{{length}}}> ()\n", "@n"
    if opset >= 20:
        body += f"@a = Constant <value = int64 {{{axis}}}> ()\n@y = DFT <{flags}> (x, {extra}, @a)"
    else:
        body += f"@y = DFT <axis = {axis}, {flags}> (x{', ' + extra if extra else ''})"
    known = ", ".join(["B", *map(str, shape[1:])])
    unknown = ", ".join(f"d{k}" for k in range(len(shape) - 1))
    parts = 1 if inverse and onesided else 2
    ends = f"{dtype}[{known}] x", f"{dtype}[{unknown}, {parts}]"
    text = written(body, *ends, opset=opset, place=place)
    kind = {"float": np.float32, "double": np.float64, "float16": np.float16}[dtype]
    x = np.random.default_rng(1).standard_normal(shape).astype(kind)
    feed: dict[str, Any] = {"x": x}
    if place == "branch":
        feed["c"] = np.array(True)
    close = {"float": 1e-4, "double": 1e-10, "float16": 2e-2}[dtype]
    if dtype == "float16":  # onnxruntime has no kernel for it
        done = run_pass(PASS, text)
    else:
        done = assert_rewrite(PASS, text, feeds=[feed], rtol=close, atol=close)
    wanted = spectrum(x, axis if axis >= 0 else axis + 1, length=length, inverse=inverse,
                      onesided=onesided)  # fmt: skip
    np.testing.assert_allclose(outputs_of(done.after, feed)["y"], wanted, rtol=close, atol=close)
    return done.ops


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [17, 18, 20, 22])
def test_one_sided(opset: int, place: str) -> None:
    check((2, 16, 1), 1, onesided=1, opset=opset, place=place)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [17, 19, 20, 22])
def test_real_signals_from_one_side(opset: int, place: str) -> None:
    check((2, 9, 2), 1, inverse=1, onesided=1, opset=opset, place=place)


@pytest.mark.parametrize("length", [2, 3, 8, 9, 16])
@pytest.mark.parametrize("axis", [1, 2, -2])
def test_real_signals_of_a_length(axis: int, length: int) -> None:
    bins = length // 2 + 1
    shape = (2, bins, 3, 2) if axis == 1 else (2, 3, bins, 2)
    check(shape, axis, length=length, inverse=1, onesided=1)


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("inverse", [0, 1])
@pytest.mark.parametrize("axis", [1, 2, -2, -3])
def test_both_ways_on_any_axis(parts: int, inverse: int, axis: int) -> None:
    check((2, 5, 6, parts), axis, inverse=inverse)


@pytest.mark.parametrize("length", [3, 8, 13])
def test_longer_and_shorter_than_the_signal(length: int) -> None:
    check((2, 8, 1), 1, length=length)
    check((2, 8, 2), 1, length=length, opset=20)


@pytest.mark.parametrize("dtype", ["float", "double", "float16"])
def test_types(dtype: str) -> None:
    check((2, 12, 1), 1, onesided=1, dtype=dtype)
    check((2, 5, 2), 1, onesided=1, inverse=1, dtype=dtype)


def test_refusals() -> None:
    text = written("@y = DFT (x)", "float[2, N, 1] x", "float[2, N, 2]")
    assert_refused(PASS, text, "the length of axis 1 and the number of parts must be known")
    text = written("@y = DFT (x, n)", "float[2, 8, 1] x, int64 n", "float[2, N, 2]")
    assert_refused(
        PASS, text, "the length of the transform must be a constant; it is computed at run time"
    )
    text = written("@y = DFT <axis = 2> (x)", "float[2, 8, 1] x", "float[2, 8, 2]")
    assert_refused(PASS, text, "the axis must lie in rank 3, before the last; it is 2")
    one_side = "@y = DFT <onesided = 1, inverse = %d> (x)"
    text = written(one_side % 0, "float[2, 8, 2] x", "float[2, 5, 2]")
    assert_refused(PASS, text, "a one-sided transform must be of real numbers; these are complex")
    text = written(one_side % 1, "float[2, 5, 1] x", "float[2, 8, 1]")
    assert_refused(
        PASS, text, "an inverse one-sided transform must be of pairs; these are real numbers"
    )
    text = written(one_side % 1, "float[2, 1, 2] x", "float[2, 0, 1]")
    assert_refused(PASS, text, "for a length of 0 there are 1")
    text = written(
        "@n = Constant <value = int64 {7}> ()\n@y = DFT <onesided = 1, inverse = 1> (x, @n)",
        "float[2, 5, 2] x", "float[2, 7, 1]",
    )  # fmt: skip
    assert_refused(
        PASS, text,
        "the bins must be those of one side of a signal; for a length of 7 there are 5",
    )  # fmt: skip
    done = run_pass(PASS, written("@y = DFT (x)", "float[2, 8, 1] x", "float[2, 8, 2]"),
                    options={"max_elements": 100})  # fmt: skip
    assert done.reasons == ["the matrix must have at most max_elements elements; it would have 128"]


@given(st.integers(1, 20), st.integers(1, 2), st.booleans(), st.sampled_from([17, 20]))
def test_any_length(size: int, parts: int, flag: bool, opset: int) -> None:
    sided = int(flag and parts == 1)
    check((1, size, parts), 1, onesided=sided, inverse=int(flag and not sided), opset=opset)


def test_is_offered_where_only_one_side_is_wrong() -> None:
    text = "(float[2,8,1] x) => (float[2,5,2] y) { y = DFT <axis = 1, onesided = 1> (x) }"
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> g {text}')
    found = [f for f in graphfix.check(model, "openvino2026.4") if f.rule == "measured-wrong"]
    assert [f.feature for f in found] == ["attr:DFT.onesided=1"]
    assert PASS in found[0].removed_by
