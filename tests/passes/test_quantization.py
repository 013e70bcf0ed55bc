"""Scales that a quantizer has measured on a mask of -inf or of the least float32.

What onnxruntime computes then is what its kernels make of NaN and of what int32 does not hold.
Every pair of bytes is tried.
"""

from typing import Any

import numpy as np
import pytest

from graphfix.report import Accuracy, Status
from graphfix.testing import Rewritten, assert_refused, assert_rewrite
from tests.passes.lowering_models import PLACES
from tests.passes.quantized_models import every, parameters, quantized

PASS = "qoperator-to-float"
INFINITE = float("inf")
LEAST = float(np.finfo(np.float32).max) / 127
KINDS = [np.int8, np.uint8]


def accuracies(done: Rewritten) -> set[Accuracy]:
    return {site.accuracy for o in done.with_status(Status.APPLIED) for site in o.sites}


def pairs(dtype: Any) -> dict[str, Any]:
    """Return all pairs of bytes."""
    bytes_ = every(dtype).reshape(-1)
    return {"x": np.tile(bytes_, (256, 1)), "w": np.tile(bytes_[:, None], (1, 256))}


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize(
    "scales",
    [
        (INFINITE, 0.5, 0.25),
        (0.5, INFINITE, INFINITE),
        (0.5, 0.25, INFINITE),
        (INFINITE, INFINITE, INFINITE),
        (LEAST, 1.0, 1.0),
        (0.0039, LEAST, LEAST),
        (0.5, 2.0e7, 0.5),
    ],
)
@pytest.mark.parametrize("dtype", KINDS)
def test_sums_and_products(dtype: Any, scales: tuple[float, float, float], op: str) -> None:
    (a, b, y), name = scales, np.dtype(dtype).name
    # Beyond int32, only sums of numbers of one sign are known, see the pairs of this pass.
    alike = ((127, 127, 9),) if op == "QLinearAdd" and np.isfinite(a / y) and a > 1e20 else ()
    for az, bz, yz in alike or ((0, 0, 0), (3, 5, 7), (100, 127, 9)):
        body = parameters(dtype, **{"as": a, "az": az, "bs": b, "bz": bz, "ys": y, "yz": yz})
        body += f"@y = com.microsoft.{op} (x, @as, @az, w, @bs, @bz, @ys, @yz)"
        inputs = f"{name}[256, 256] x, {name}[256, 256] w"
        text = quantized(body, inputs, f"{name}[256, 256]")
        assert accuracies(assert_rewrite(PASS, text, feeds=[pairs(dtype)])) == {Accuracy.EXACT}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [10, 13, 18])
def test_in_free_sizes_and_in_subgraphs(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    body = parameters(np.int8, **{"as": 1.0, "az": 0, "bs": LEAST, "bz": 0, "ys": 1.0, "yz": 0})
    body += "@y = com.microsoft.QLinearMul (x, @as, @az, w, @bs, @bz, @ys, @yz)"
    text = quantized(body, "int8[N, 4] x, int8[N, 4] w", "int8[N, 4]", opset=opset, place=place)
    bytes_ = np.array([[-128, -1, 0, 127]] * 2, np.int8)
    feed: dict[str, Any] = {"x": bytes_, "w": bytes_.T.repeat(2, axis=1)[:2, :4] * 0 - 1}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert accuracies(done) == {Accuracy.EXACT}
    assert done.ops.count("Where") == (0 if place == "function" else done.ops.count("Less"))


def test_what_int32_holds_has_no_guard() -> None:
    body = parameters(np.int8, **{"as": 1e4, "az": 0, "bs": 1.0, "bz": 0, "ys": 1.0, "yz": 0})
    body += "@y = com.microsoft.QLinearMul (x, @as, @az, w, @bs, @bz, @ys, @yz)"
    text = quantized(body, "int8[256, 256] x, int8[256, 256] w", "int8[256, 256]")
    assert "Where" not in assert_rewrite(PASS, text, feeds=[pairs(np.int8)]).ops


@pytest.mark.parametrize(("dtype", "zero"), [(np.int8, -128), (np.int8, 5), (np.uint8, 0)])
def test_softmax(dtype: Any, zero: int) -> None:
    name = np.dtype(dtype).name
    body = parameters(dtype, xs=INFINITE, xz=0, ys=1 / 256, yz=zero)
    call = "com.microsoft.QLinearSoftmax <axis = -1, opset = 13> (x, @xs, @xz, @ys, @yz)"
    text = quantized(f"{body}@y = {call}", f"{name}[16, N] x", f"{name}[16, N]")
    done = assert_rewrite(PASS, text, feeds=[{"x": every(dtype)}])
    assert accuracies(done) == {Accuracy.APPROXIMATE}
    site = next(s for o in done.with_status(Status.APPLIED) for s in o.sites)
    assert "1.16 others where the zero point is not 0" in site.note


def test_parts_that_are_joined() -> None:
    call = "@y = com.microsoft.QLinearConcat <axis = 1> (@ys, @yz, x, @as, @az)"
    for y, az in ((INFINITE, 3), (INFINITE, 0)):
        body = parameters(np.int8, **{"as": 0.5, "az": az, "ys": y, "yz": 3})
        text = quantized(body + call, "int8[16, 16] x", "int8[16, 16]")
        assert_rewrite(PASS, text, feeds=[{"x": every(np.int8)}])
        same = text.replace("{0.5}", "{inf}")
        if az == 3:
            assert_rewrite(PASS, same, feeds=[{"x": every(np.int8)}])
        else:
            assert_refused(PASS, same, "the scale as must be finite; it is infinite")


X = np.array(
    [[1, -1, 0, 3e38], [-3e38, np.inf, -np.inf, np.nan], [5, 5, 5, 5]],
    np.float32,
)


@pytest.mark.parametrize("scale", ["inf", "1e36"])
@pytest.mark.parametrize("zero", ["int8 {0}", "int8 {-128}", "int8 {7}", "uint8 {0}", "uint8 {9}"])
def test_quantizing(zero: str, scale: str) -> None:
    kind = zero.split()[0]
    text = (
        f'<ir_version: 8, opset_import: ["" : 17]> g (float[N, 4] x) => ({kind}[N, 4] y) '
        f"{{ s = Constant <value = float {{{scale}}}> () z = Constant <value = {zero}> () "
        "y = QuantizeLinear (x, s, z) }"
    )
    finite = np.nan_to_num(X, nan=1, posinf=1, neginf=1)
    feeds = [{"x": X if scale == "inf" else finite}]
    done = assert_rewrite("quantize-to-arithmetic", text, feeds=feeds)
    assert accuracies(done) == {Accuracy.EXACT}
    assert done.ops.count("Where") == int(scale == "inf")


@pytest.mark.parametrize("between", ["Softmax <axis = -1> (d)", "Transpose (d)", "Add (d, x)"])
@pytest.mark.parametrize("zero", ["int8 {0}", "uint8 {0}", "uint8 {9}"])
def test_pairs_after_an_infinite_one(zero: str, between: str) -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[4, 4] x) => (float[4, 4] y) {'
        " s = Constant <value = float {inf}> () t = Constant <value = float {0.00390625}> ()"
        f" z = Constant <value = {zero}> () q = QuantizeLinear (x, s, z)"
        f" d = DequantizeLinear (q, s, z) m = {between}"
        " r = QuantizeLinear (m, t, z) y = DequantizeLinear (r, t, z) }"
    )
    feeds = [{"x": np.concatenate([X, X[:1]])}]
    done = assert_rewrite("quantize-dequantize-to-clip", text, feeds=feeds)
    assert done.ops.count("Where") == 2
    finite = text.replace("{inf}", "{1e30}")
    feeds = [{"x": np.nan_to_num(feeds[0]["x"], nan=1, posinf=1, neginf=1)}]
    assert "Where" not in assert_rewrite("quantize-dequantize-to-clip", finite, feeds=feeds).ops


@pytest.mark.parametrize("kind", ["int16", "uint16", "int8"])
def test_a_mask_next_to_the_greatest_float(kind: str) -> None:
    """Dequantized, what is least is -inf; times 0 it is NaN, and quantized again the least."""
    steps = {"int16": 32768, "uint16": 32768, "int8": 128}[kind]
    scale = float(np.nextafter(np.finfo(np.float32).max / np.float32(steps), np.float32(np.inf)))
    middle = 32768 if kind == "uint16" else 0
    text = (
        '<ir_version: 10, opset_import: ["" : 21]> g (float[4, 4] x) => (float[4, 4] y) {'
        f" s = Constant <value = float {{{scale!r}}}> () t = Constant <value = float {{0.5}}> ()"
        f" z = Constant <value = {kind} {{{middle}}}> () q = QuantizeLinear (x, s, z)"
        " d = DequantizeLinear (q, s, z) n = Constant <value = float[4] {0, 1, 1, 0}> ()"
        " m = Mul (d, n) r = QuantizeLinear (m, t, z) y = DequantizeLinear (r, t, z) }"
    )
    x = np.full((4, 4), -3.4028234e38, np.float32)
    x[2] = [1, -1, 0, 0.25]
    assert scale * steps > float(np.finfo(np.float32).max)
    done = assert_rewrite("quantize-dequantize-to-clip", text, feeds=[{"x": x}])
    assert done.ops.count("Where") == 1
