"""Operators taken apart on the way down, against onnxruntime on the source, or numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from onnx import ModelProto

import graphfix
from graphfix.testing import outputs_of
from tests.opset.conversion import assert_converts, check, converted, model_of, operators, reasons

RNG = np.random.default_rng(5)


def text(header: str, body: str, opset: int) -> ModelProto:
    return model_of(f'<ir_version: 8, opset_import: ["" : 18]>\ng {header}\n{{ {body} }}', opset)


@given(
    op=st.sampled_from(["AveragePool", "LpPool"]),
    kernel=st.integers(1, 3),
    stride=st.integers(1, 3),
    dilation=st.integers(1, 3),
    pads=st.tuples(st.integers(0, 1), st.integers(0, 1)),
    include=st.booleans(),
    ceil=st.booleans(),
)
def test_pools(
    op: str, kernel: int, stride: int, dilation: int, pads: tuple[int, int], include: bool,
    ceil: bool,
) -> None:  # fmt: skip
    size, reach = 7, dilation * (kernel - 1) + 1
    assume(max(pads) < kernel and reach <= size)
    # onnxruntime divides windows that reach after the pads by another count (AveragePool).
    rest = (size + sum(pads) - reach) % stride
    assume(not (ceil and rest))
    more = f", count_include_pad = {int(include)}" if op == "AveragePool" else ""
    proto = text(
        f"(float[1,2,{size}] x) => (float[1,2,n] y)",
        f"y = {op}<kernel_shape = [{kernel}], strides = [{stride}], dilations = [{dilation}], "
        f"pads = [{pads[0]}, {pads[1]}], ceil_mode = {int(ceil)}{more}>(x)",
        22,
    )
    x = RNG.normal(size=(1, 2, size)).astype(np.float32)
    # A window that is larger than input and pads has no place; onnxruntime gives a number all the
    # same, another one by each of its kernels.
    fits = reach <= 1 + sum(pads)
    assert_converts(proto, 13, {"x": x}, rtol=1e-5, atol=1e-6, at_any_size=fits)


def pooled(op: str, x: np.ndarray[Any, Any], kernel: int, stride: int, pads: int) -> list[float]:
    """Pool one line with ceil_mode; no window starts after the input."""
    result: list[float] = []
    for start in range(-pads, len(x), stride):
        inside = [x[i] for i in range(start, start + kernel) if 0 <= i < len(x)]
        if start > len(x) + pads - kernel + stride - 1:
            break
        result.append(float(max(inside) if op == "MaxPool" else sum(inside) / len(inside)))
    return result


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@settings(max_examples=20, deadline=None)
@given(size=st.integers(3, 9), kernel=st.integers(1, 3), stride=st.integers(1, 4))
def test_ceil_mode_has_no_window_after_the_input(
    op: str, size: int, kernel: int, stride: int
) -> None:
    pads = kernel - 1
    x = RNG.normal(size=size).astype(np.float32)
    wanted = pooled(op, x, kernel, stride, pads)
    proto = text(
        f"(float[1,1,{size}] x) => (float[1,1,{len(wanted)}] y)",
        f"y = {op}<kernel_shape = [{kernel}], strides = [{stride}], pads = [{pads}, {pads}], "
        "ceil_mode = 1>(x)",
        22,
    )
    result = converted(proto, 13)
    check(result)
    given_ = outputs_of(result, {"x": x[None, None]})["y"][0, 0]
    np.testing.assert_allclose(given_, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@settings(max_examples=8, deadline=None)
@given(axis=st.sampled_from([0, 1, -1]), block=st.sampled_from([0, 2, 3]), seed=st.integers(0, 99))
def test_linear_quantization(dtype: str, axis: int, block: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(scale=100, size=(4, 6)).astype(np.float32)
    shape = list(x.shape)
    if block:
        shape[axis] = math.ceil(shape[axis] / block)
    else:
        shape = [shape[axis]]
    info = np.iinfo(dtype)
    feed = {
        "x": x,
        "s": rng.uniform(0.1, 3, size=shape).astype(np.float32),
        "z": rng.integers(max(info.min, -50), 50, size=shape).astype(dtype),
    }
    dims = ",".join("pq"[: len(shape)])
    attributes = f"axis = {axis}, block_size = {block}"
    proto = text(
        f"(float[4,6] x, float[{dims}] s, {dtype}[{dims}] z) => ({dtype}[4,6] y, float[4,6] r)",
        f"y = QuantizeLinear<{attributes}>(x, s, z) r = DequantizeLinear<{attributes}>(y, s, z)",
        21,
    )
    assert_converts(proto, 13, feed, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("mode", ["linear", "circular"])
@settings(max_examples=8, deadline=None)
@given(starts=st.lists(st.integers(0, 4), min_size=2, max_size=2))
def test_writes_into_a_cache(mode: str, starts: list[int]) -> None:
    past = RNG.normal(size=(2, 3, 5, 2)).astype(np.float32)
    update = RNG.normal(size=(2, 3, 2, 2)).astype(np.float32)
    if mode == "linear":
        starts = [min(start, 3) for start in starts]
    wanted = past.copy()
    for sample, start in enumerate(starts):
        for step in range(2):
            wanted[sample, :, (start + step) % 5] = update[sample, :, step]
    proto = text(
        "(float[2,3,n,2] c, float[2,3,m,2] u, int64[2] i) => (float[2,3,n,2] y)",
        f'y = TensorScatter<mode = "{mode}">(c, u, i)',
        24,
    )
    result = converted(proto, 13)
    check(result)
    given_ = outputs_of(result, {"c": past, "u": update, "i": np.array(starts)})["y"]
    np.testing.assert_array_equal(given_, wanted)


@settings(max_examples=10, deadline=None)
@given(
    words=st.lists(st.sampled_from(["", "a", "ab", "b"]), min_size=6, max_size=6),
    other=st.lists(st.sampled_from(["", "a", "ab", "c"]), min_size=3, max_size=3),
)
def test_equal_texts(words: list[str], other: list[str]) -> None:
    proto = text("(string[n,3] x, string[3] z) => (bool[n,3] y)", "y = Equal(x, z)", 19)
    feed = {"x": np.array(words, object).reshape(2, 3), "z": np.array(other, object)}
    result = assert_converts(proto, 13, feed)
    assert "Unique" in operators(result)


@settings(max_examples=6, deadline=None)
@given(
    groups=st.sampled_from([1, 2]),
    parts=st.sampled_from([1, 2]),
    stride=st.integers(1, 2),
    dilation=st.integers(1, 2),
    seed=st.integers(0, 99),
)
def test_deformed_convolution(
    groups: int, parts: int, stride: int, dilation: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, 4, 6, 5)).astype(np.float32)
    weights = rng.normal(size=(2, 4 // groups, 2, 2)).astype(np.float32)
    height, width = (6 - dilation - 1) // stride + 1, (5 - dilation - 1) // stride + 1
    offset = rng.normal(scale=1.5, size=(2, parts * 8, height, width)).astype(np.float32)
    mask = rng.uniform(size=(2, parts * 4, height, width)).astype(np.float32)
    proto = text(
        f"(float[2,4,6,5] x, float[2,{4 // groups},2,2] w, float[2,{parts * 8},{height},{width}] o,"
        f" float[2] b, float[2,{parts * 4},{height},{width}] m) => (float[2,2,p,q] y)",
        f"y = DeformConv<group = {groups}, offset_group = {parts}, strides = [{stride}, {stride}], "
        f"dilations = [{dilation}, {dilation}]>(x, w, o, b, m)",
        19,
    )
    bias = np.array([0.5, -1], np.float32)
    feed = {"x": x, "w": weights, "o": offset, "b": bias, "m": mask}
    result = converted(proto, 13)
    check(result)
    wanted = deformed(x, weights, offset, mask, groups, parts, stride, dilation)
    given_ = outputs_of(result, feed)["y"]
    np.testing.assert_allclose(given_, wanted + bias[:, None, None], rtol=1e-4, atol=1e-4)


def deformed(
    x: Any,
    weights: Any,
    offset: Any,
    mask: Any,
    groups: int,
    parts: int,
    stride: int,
    dilation: int,
) -> Any:
    """Convolve by the definition: each element is read between four pixels, 0 outside."""
    batch, channels, _, _ = x.shape
    made, inner = weights.shape[:2]
    height, width = offset.shape[2:]
    padded = np.pad(x.astype(np.float64), np.array([(0, 0), (0, 0), (9, 9), (9, 9)]))
    result = np.zeros((batch, made, height, width))
    for n, o, i, r, c in np.ndindex(batch, made, inner, 2, 2):
        channel = (o // (made // groups)) * inner + i
        part = channel // (channels // parts)
        tap = (part * 2 + r) * 2 + c
        for a, b in np.ndindex(height, width):
            y = a * stride + r * dilation + float(offset[n, 2 * tap, a, b])
            z = b * stride + c * dilation + float(offset[n, 2 * tap + 1, a, b])
            top, left = math.floor(y), math.floor(z)
            for down, right in np.ndindex(2, 2):
                share = (1 - abs(y - top - down)) * (1 - abs(z - left - right))
                value = padded[n, channel, top + down + 9, left + right + 9]
                result[n, o, a, b] += weights[o, i, r, c] * mask[n, tap, a, b] * share * value
    return result


@pytest.mark.parametrize("dtype", ["float", "double"])
def test_training_normalises_by_the_batch(dtype: str) -> None:
    kind = np.float32 if dtype == "float" else np.float64
    names = (
        "("
        + ", ".join([f"{dtype}[2,3,4] x", *(f"{dtype}[3] {name}" for name in "sbmv")])
        + f") => ({dtype}[2,3,4] y, {dtype}[3] p, {dtype}[3] q)"
    )
    proto = text(names, "y, p, q = BatchNormalization<training_mode = 1>(x, s, b, m, v)", 15)
    feed: dict[str, Any] = {"x": RNG.normal(size=(2, 3, 4)).astype(kind)}
    feed.update((name, RNG.uniform(0.5, 2, size=3).astype(kind)) for name in "sbmv")
    x = feed["x"].astype(np.float64)
    mean = x.mean((0, 2))
    variance = x.var((0, 2))
    result = converted(proto, 13)
    check(result)
    given_ = outputs_of(result, feed)
    normal = (x - mean[:, None]) / np.sqrt(variance[:, None] + 1e-5)
    wanted = {
        "y": normal * feed["s"][:, None] + feed["b"][:, None],
        "p": feed["m"] * 0.9 + mean * 0.1,
        "q": feed["v"] * 0.9 + variance * 0.1,
    }
    for name, value in wanted.items():
        np.testing.assert_allclose(given_[name], value, rtol=1e-5, atol=1e-6)


def test_refused() -> None:
    proto = text("(float[1,1,n,4] x, float[1,1,2,2] w, float[1,8,3,3] o) => (float[1,1,a,b] y)",
                 "y = DeformConv(x, w, o)", 19)  # fmt: skip
    (reason,) = reasons(proto, 18)
    assert "the input must be an image of known sizes" in reason
    proto = text("(float[1,1,n] x) => (float[1,1,m] y)",
                 "y = LpPool<kernel_shape = [2], dilations = [2]>(x)", 18)  # fmt: skip
    (reason,) = reasons(proto, 17)
    assert "the size of spatial axis 0 must be known" in reason


def test_a_body_that_depends_on_an_attribute_of_a_function_is_refused() -> None:
    """Onnx makes the body of Celu from the value of alpha, and takes an unknown one for 0."""
    given = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[4] x) => (float[4] y) { y = local.f <alpha = 0.5> (x) }
    <domain: "local", opset_import: ["" : 17]>
    f <alpha> (x) => (y) { y = Celu <alpha: float = @alpha> (x) }"""
    assert any("attribute of Celu" in reason for reason in reasons(model_of(given), 11))
    inlined = graphfix.run(model_of(given), passes=["inline-functions"], verify="off")
    below = graphfix.run(inlined.model, opset=11)
    assert (inlined.exit_code, below.exit_code) == (0, 0)
    x = np.array([-2.0, -0.5, 0.0, 3.0], np.float32)
    wanted = np.maximum(x, 0) + np.minimum(0, 0.5 * (np.exp(x / np.float32(0.5)) - 1))
    got = outputs_of(below.model.to_proto(), {"x": x})["y"]
    np.testing.assert_allclose(got, wanted, rtol=1e-5)


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding_of_heads_in_one_axis(interleaved: int) -> None:
    proto = text(
        "(float[2,3,32] x, float[5,4] c, float[5,4] s, int64[2,3] i) => (float[2,3,32] y)",
        f"y = RotaryEmbedding<num_heads = 4, interleaved = {interleaved}>(x, c, s, i)",
        23,
    )
    feed = {
        "x": RNG.normal(size=(2, 3, 32)).astype(np.float32),
        "c": RNG.normal(size=(5, 4)).astype(np.float32),
        "s": RNG.normal(size=(5, 4)).astype(np.float32),
        "i": RNG.integers(0, 5, size=(2, 3)),
    }
    assert_converts(proto, 13, feed, rtol=1e-5, atol=1e-6)
