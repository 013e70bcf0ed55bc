"""qoperator-to-float: quantized operators in float32, equal to onnxruntime bit for bit."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix.report import Accuracy, Status
from graphfix.testing import assert_refused, assert_rewrite, outputs_of, run_pass
from tests.passes.lowering_models import PLACES
from tests.passes.quantized_models import constant, every, numbers, parameters, quantized

PASS = "qoperator-to-float"
KINDS = [np.int8, np.uint8]
OPSETS = [10, 13, 18]
# Ratios that are powers of two give quotients of exactly one half.
SCALES = [(0.5, 0.25, 0.25), (0.05, 0.031, 0.0717), (1.0, 2.0, 8.0), (0.25, 0.125, 0.0625)]


def accuracies(done: Any) -> set[Accuracy]:
    return {site.accuracy for o in done.with_status(Status.APPLIED) for site in o.sites}


def zeros(dtype: Any) -> tuple[int, int, int]:
    return (3, -5, 7) if dtype == np.int8 else (128, 100, 41)


def parameters_of(dtype: Any, scales: tuple[float, float, float]) -> str:
    (a, b, y), (az, bz, yz) = scales, zeros(dtype)
    return parameters(dtype, **{"as": a, "az": az, "bs": b, "bz": bz, "ys": y, "yz": yz})


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", KINDS)
def test_convolution(dtype: Any, opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    name = np.dtype(dtype).name
    body = parameters_of(dtype, (0.05, 0.02, 0.4)) + constant("@w", numbers(dtype, 2, 3, 2, 2))
    body += constant("@b", np.array([5000, -7000], np.int32))
    body += "@y = QLinearConv <pads = [1, 0, 0, 1]> (x, @as, @az, @w, @bs, @bz, @ys, @yz, @b)"
    text = quantized(body, f"{name}[1, 3, 5, 5] x", f"{name}[1, 2, 5, 5]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": numbers(dtype, 1, 3, 5, 5, seed=1)}
    if place == "branch":
        feed["c"] = np.array(True)
    assert accuracies(assert_rewrite(PASS, text, feeds=[feed])) == {Accuracy.EXACT}


@pytest.mark.parametrize("channels", [3, 2000])
def test_convolution_by_channel_and_in_pieces(channels: int) -> None:
    weights = numbers(np.int8, 2, channels, 1, 1)
    body = parameters(np.int8, xs=0.05, xz=3, ys=0.07 * channels, yz=-7)
    body += constant("@ws", np.array([0.02, 0.3], np.float32))
    body += constant("@wz", np.zeros(2, np.int8)) + constant("@w", weights)
    body += constant("@b", np.array([2**24 + 1, -(2**25)], np.int32))
    body += "@y = QLinearConv (x, @xs, @xz, @w, @ws, @wz, @ys, @yz, @b)"
    text = quantized(body, f"int8[N, {channels}, 4, 4] x", "int8[N, 2, 4, 4]")
    done = assert_rewrite(PASS, text, feeds=[{"x": numbers(np.int8, 3, channels, 4, 4, seed=2)}])
    # The bias alone is more than float32 holds; the long sums need a cut as well.
    assert done.ops.count("Conv") == (1 if channels == 3 else 2)
    assert "Slice" in done.ops or channels == 3


@pytest.mark.parametrize("size", [1, 7, 300, 3000])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("dtype", KINDS)
def test_products(dtype: Any, late: bool, size: int) -> None:
    name, weights = np.dtype(dtype).name, numbers(dtype, size, 3)
    body = parameters_of(dtype, (0.05, 0.02, 0.03 * size))
    body += "" if late else constant("@w", weights)
    body += f"@y = QLinearMatMul (x, @as, @az, {'w' if late else '@w'}, @bs, @bz, @ys, @yz)"
    inputs = f"{name}[N, {size}] x" + (f", {name}[{size}, 3] w" if late else "")
    text = quantized(body, inputs, f"{name}[N, 3]")
    feed = {"x": numbers(dtype, 5, size, seed=1), **({"w": weights} if late else {})}
    done = assert_rewrite(PASS, text, feeds=[feed])
    assert accuracies(done) == {Accuracy.EXACT}
    assert (done.ops.count("MatMul") > 1) == (size == 3000)


@pytest.mark.parametrize("size", [1, 7, 300, 4112])
@pytest.mark.parametrize("dtype", KINDS)
def test_products_of_which_the_number_is_open(dtype: Any, size: int) -> None:
    name, (low, high) = np.dtype(dtype).name, (np.iinfo(dtype).min, np.iinfo(dtype).max)
    body = parameters(
        dtype, **{"as": 0.05, "az": low, "bs": 0.02, "bz": high, "ys": 0.003 * (size + 9), "yz": 7}
    )
    body += "@y = QLinearMatMul (x, @as, @az, w, @bs, @bz, @ys, @yz)"
    text = quantized(body, f"{name}[N, 2, K] x, {name}[N, K, 3] w", f"{name}[N, 2, 3]")
    feed = {"x": numbers(dtype, 2, 2, size, seed=1), "w": numbers(dtype, 2, size, 3)}
    feed["x"][0, 0], feed["w"][0, :, 0] = high, low  # the largest sum, of -255 * 255 each
    # Not at sizes of 0, too: of no products onnxruntime outputs what is in memory.
    done = run_pass(PASS, text)
    np.testing.assert_array_equal(*(outputs_of(m, feed)["y"] for m in (done.after, done.before)))
    assert accuracies(done) == {Accuracy.APPROXIMATE}
    assert done.ops.count("MatMul") == 2


@given(st.lists(st.integers(0, 255), min_size=8, max_size=8), st.floats(0.0078125, 4, width=32))
def test_any_product(values: list[int], scale: float) -> None:
    body = parameters(np.uint8, xs=0.5, xz=9, ws=0.25, wz=130, ys=scale, yz=20)
    body += constant("@w", np.array([[0, 255], [130, 3], [129, 7], [8, 200]], np.uint8))
    body += "@y = QLinearMatMul (x, @xs, @xz, @w, @ws, @wz, @ys, @yz)"
    feed = {"x": np.array(values, np.uint8).reshape(2, 4)}
    assert_rewrite(PASS, quantized(body, "uint8[2, 4] x", "uint8[2, 2]"), feeds=[feed])


@pytest.mark.parametrize("turned", [0, 1])
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("dtype", KINDS)
def test_gemm(dtype: Any, real: bool, turned: int) -> None:
    name = np.dtype(dtype).name
    weights, scales = numbers(dtype, 6, 3), np.array([0.02, 0.5, 0.1], np.float32)
    body = parameters_of(dtype, (0.05, 0.02, 1.5)) + constant("@ss", scales)
    body += constant("@sz", np.array([1, 2, 3], dtype))
    body += constant("@w", weights.T if turned else weights)
    body += constant("@b", np.array([2**23, -5, 77], np.int32))
    tail = "" if real else ", @ys, @yz"
    body += (
        f"@y = com.microsoft.QGemm <transA = {turned}, transB = {turned}, alpha = 0.7> "
        f"(x, @as, @az, @w, @ss, @sz, @b{tail})"
    )
    shape = (6, 4) if turned else (4, 6)
    text = quantized(body, f"{name}{list(shape)} x", f"{'float' if real else name}[4, 3]")
    assert_rewrite(PASS, text, feeds=[{"x": numbers(dtype, *shape, seed=3)}])


@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", KINDS)
def test_every_pair_of_numbers(dtype: Any, opset: int, scales: tuple[float, float, float]) -> None:
    name = np.dtype(dtype).name
    column = every(dtype).reshape(256, 1)
    feed = {"a": np.tile(column, (1, 256)), "b": np.tile(column.T, (256, 1))}
    for op in ("QLinearMul", "QLinearAdd"):
        body = parameters_of(dtype, scales)
        body += f"@y = com.microsoft.{op} (a, @as, @az, b, @bs, @bz, @ys, @yz)"
        inputs = f"{name}[256, 256] a, {name}[256, 256] b"
        text = quantized(body, inputs, f"{name}[256, 256]", opset=opset)
        done = assert_rewrite(PASS, text, feeds=[feed])
        assert accuracies(done) == {Accuracy.EXACT}


# With these a fused product of onnxruntime, which rounds a sum less often, gives other steps.
FUSED = [(0.0356, 0.0575, 0.0172), (0.0574, 0.0256, 0.0312), (0.0265, 0.0494, 0.0252)]


@pytest.mark.parametrize("scales", FUSED)
def test_a_sum_that_fusing_changes_is_approximate(scales: tuple[float, float, float]) -> None:
    column = every(np.uint8).reshape(256, 1)
    feed = {"a": np.tile(column, (1, 256)), "b": np.tile(column.T, (256, 1))}
    body = parameters_of(np.uint8, scales)
    body += "@y = com.microsoft.QLinearAdd (a, @as, @az, b, @bs, @bz, @ys, @yz)"
    text = quantized(body, "uint8[256, 256] a, uint8[256, 256] b", "uint8[256, 256]")
    done = _within(text, feed, 1)
    assert accuracies(done) == {Accuracy.APPROXIMATE}


def _within(text: str, feed: dict[str, Any], step: int, share: float = 1e-3) -> Any:
    if not step:
        return assert_rewrite(PASS, text, feeds=[feed])
    done = run_pass(PASS, text)
    one, two = (outputs_of(m, feed)["y"].astype(int) for m in (done.before, done.after))
    assert np.abs(one - two).max() <= step
    assert (one != two).mean() < share
    return done


@pytest.mark.parametrize(
    "call",
    [
        "QLinearLeakyRelu <alpha = 0.125> (x, @as, @az, @ys, @yz)",
        "QLinearLeakyRelu (x, @as, @az, @ys, @yz)",
        "QLinearSigmoid (x, @as, @az, @us, @yz)",
        "QLinearConcat <axis = 1> (@ys, @yz, x, @as, @az, x, @ys, @yz)",
    ],
)
@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize("dtype", KINDS)
def test_every_number(dtype: Any, scales: tuple[float, float, float], call: str) -> None:
    name, width = np.dtype(dtype).name, 32 if "Concat" in call else 16
    body = parameters_of(dtype, scales) + parameters(dtype, us=1 / 256)
    text = quantized(
        f"{body}@y = com.microsoft.{call}", f"{name}[16, 16] x", f"{name}[16, {width}]"
    )
    done = assert_rewrite(PASS, text, feeds=[{"x": every(dtype)}])
    assert accuracies(done) == {Accuracy.EXACT}


@pytest.mark.parametrize("dtype", KINDS)
def test_where(dtype: Any) -> None:
    name = np.dtype(dtype).name
    body = parameters_of(dtype, SCALES[1])
    body += "@y = com.microsoft.QLinearWhere (c, x, @as, @az, x, @ys, @yz, @ys, @yz)"
    text = quantized(body, f"bool[16, 16] c, {name}[16, 16] x", f"{name}[16, 16]")
    chosen = np.random.default_rng(0).integers(0, 2, (16, 16)).astype(bool)
    assert_rewrite(PASS, text, feeds=[{"c": chosen, "x": every(dtype)}])


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize("dtype", KINDS)
def test_pooling(dtype: Any, last: int) -> None:
    name = np.dtype(dtype).name
    body = parameters_of(dtype, (0.05, 0.02, 0.031))
    call = f"com.microsoft.QLinearGlobalAveragePool <channels_last = {last}> "
    text = quantized(
        f"{body}@y = {call} (x, @as, @az, @ys, @yz)",
        f"{name}[N, 5, 6, 7] x",
        f"{name}[N, {'1, 1, 7' if last else '5, 1, 1'}]",
    )
    done = assert_rewrite(PASS, text, feeds=[{"x": numbers(dtype, 2, 5, 6, 7)}])
    assert accuracies(done) == {Accuracy.EXACT}
    free = text.replace("5, 6, 7] x", "A, B, C] x").replace("5, 1, 1]", "A, 1, 1]")
    free = free.replace("1, 1, 7]", "1, 1, C]")
    why = "a mean of nothing is refused by onnxruntime"
    for shape in ((2, 5, 6, 7), (1, 3, 1, 2)):
        done = assert_rewrite(PASS, free, feeds=[{"x": numbers(dtype, *shape)}], no_small_sides=why)
        assert accuracies(done) == {Accuracy.EXACT}
        assert done.ops.count("ReduceSum") == 1
    for attributes in ("pads = [1, 1, 0, 0], count_include_pad = 1", "strides = [2, 2]"):
        call = f"com.microsoft.QLinearAveragePool <kernel_shape = [2, 2], {attributes}> "
        dims = "5, 6, 7" if "pads" in attributes else "5, 3, 3"
        text = quantized(
            f"{body}@y = {call} (x, @as, @az, @ys, @yz)",
            f"{name}[2, 5, 6, 7] x",
            f"{name}[2, {dims}]",
        )
        done = assert_rewrite(PASS, text, feeds=[{"x": numbers(dtype, 2, 5, 6, 7)}])
        assert accuracies(done) == {Accuracy.EXACT}


@pytest.mark.parametrize("last", [0, 1])
@pytest.mark.parametrize(
    "attributes",
    [
        "kernel_shape = [3, 2], strides = [2, 1], pads = [1, 0, 1, 1]",
        "kernel_shape = [3, 2], strides = [2, 3], pads = [1, 1, 2, 0], count_include_pad = 1",
        "kernel_shape = [8, 8], strides = [1, 2], pads = [2, 1, 2, 2]",
    ],
)
@pytest.mark.parametrize("dtype", KINDS)
def test_means_of_windows_are_those_of_the_kernel(dtype: Any, attributes: str, last: int) -> None:
    # Means of few numbers are often next to a half, and float32 sums have an order.
    name, kind = np.dtype(dtype).name, f"<{attributes}, channels_last = {last}>"
    body = parameters_of(dtype, (0.05, 0.02, 0.05))
    body += f"@y = com.microsoft.QLinearAveragePool {kind} (x, @as, @az, @ys, @yz)"
    text = quantized(body, f"{name}[N, 12, 13, 9] x", f"{name}[N, A, B, C]")
    shape = (3, 12, 13, 9)
    done = assert_rewrite(PASS, text, feeds=[{"x": numbers(dtype, *shape, seed=last)}])
    assert accuracies(done) == {Accuracy.EXACT}


@pytest.mark.parametrize(
    ("kernel", "shape", "rounded"),
    [("2, 2", "2, 3, 8, 9", True), ("2, 2", "2, 3, H, 9", False), ("9, 8", "2, 3, 11, 9", False)],
    ids=["asked", "open", "large"],
)
def test_means_of_other_windows_are_approximate(kernel: str, shape: str, rounded: bool) -> None:
    body = parameters_of(np.uint8, (0.05, 0.02, 0.031))
    body += f"@y = com.microsoft.QLinearAveragePool <kernel_shape = [{kernel}]> "
    body += "(x, @as, @az, @ys, @yz)"
    text = quantized(body, f"uint8[{shape}] x", "uint8[2, 3, A, B]")
    sizes = [int(size) if size.isdigit() else 10 for size in shape.split(", ")]
    feed = {"x": numbers(np.uint8, *sizes)}
    done = run_pass(PASS, text, options={"rounded": rounded})
    one, two = (outputs_of(m, feed)["y"].astype(int) for m in (done.before, done.after))
    assert np.abs(one - two).max() <= 1
    assert "AveragePool" in {node.op_type for node in done.after.graph.node}
    assert accuracies(done) == {Accuracy.APPROXIMATE}


@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("step", [1 / 256, 1 / 255, 0.01])
@pytest.mark.parametrize("dtype", KINDS)
def test_softmax(dtype: Any, step: float, opset: int) -> None:
    name = np.dtype(dtype).name
    body = parameters(dtype, xs=0.0373, xz=3, ys=step, yz=np.iinfo(dtype).min)
    body += "@y = com.microsoft.QLinearSoftmax <axis = -1, opset = 13> (x, @xs, @xz, @ys, @yz)"
    text = quantized(body, f"{name}[50, 10] x", f"{name}[50, 10]", opset=opset)
    x = numbers(dtype, 50, 10)
    x[0], x[1] = x[0, 0], np.iinfo(dtype).min  # all alike, and one far above the others
    x[1, 3] = np.iinfo(dtype).max
    done = _within(text, {"x": x}, 1)
    assert accuracies(done) == {Accuracy.APPROXIMATE}


def test_refuses() -> None:
    body = parameters(np.int8, xs=0.1, xz=0, ws=0.1, wz=0, ys=0.1, yz=0)
    tail = "@xs, @xz, w, @ws, @wz, @ys, @yz)"
    text = quantized(
        f"{body}@y = QLinearMatMul (x, {tail}", "int8[2, 200000] x, int8[200000, 3] w", "int8[2, 3]"
    )
    assert_refused(PASS, text, "the sums must fit int32; they may exceed it")
    text = quantized(
        f"{body}@y = QLinearConv <group = 2> (x, {tail}",
        "int8[1, 4000, 5, 5] x, int8[2, 2000, 2, 2] w",
        "int8[1, 2, 4, 4]",
    )
    assert_refused(PASS, text, "float32 must hold the sums over a group; it does not")
    for scale, why in {
        "-0.1": "the scale xs must be positive; it is -0.1",
        "nan": "the scale xs must be positive; it is nan",
        "inf": "the scale xs must be finite; it is infinite, as measured on a mask of -inf: "
        "quantize again without",
    }.items():
        odd = body.replace("float {0.10000000149011612}", f"float {{{scale}}}", 1)
        assert odd != body
        text = quantized(
            f"{odd}@y = com.microsoft.QLinearLeakyRelu (x, @xs, @xz, @ys, @yz)",
            "int8[3] x",
            "int8[3]",
        )
        assert_refused(PASS, text, why)
