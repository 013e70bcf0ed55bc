"""bytes-to-whole-floats: quantized models of uint8 without uint8 inside."""

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite, run_pass
from tests.passes.lowering_models import PLACES
from tests.passes.quantized_models import constant, numbers, parameters, quantized

PASS = "bytes-to-whole-floats"
HEAD = parameters(np.uint8, xs=0.05, xz=128, ws=0.02, wz=120, ys=0.11, yz=7)
QUANTIZED = f"{HEAD}@q = QuantizeLinear (x, @xs, @xz)\n"
CONV = (
    constant("@w", numbers(np.uint8, 3, 3, 1, 1))
    + "@r = QLinearConv (@q, @xs, @xz, @w, @ws, @wz, @ys, @yz)\n"
)
TAIL = "@y = DequantizeLinear (@t, @ys, @yz)"
BYTES = {"QLinearConv", "QuantizeLinear", "DequantizeLinear"}


def values(*shape: int) -> Any:
    return (np.random.default_rng(1).standard_normal(shape) * 4).astype(np.float32)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [11, 13, 18])
def test_a_whole_region(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    body = f"{QUANTIZED}{CONV}@s = Relu (x)\n@t = Transpose <perm = [0, 2, 3, 1]> (@r)\n{TAIL}"
    text = quantized(body, "float[N, 3, 4, 5] x", "float[N, 4, 5, 3]", opset=opset, place=place)
    feed: dict[str, Any] = {"x": values(2, 3, 4, 5)}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    if place == "main":
        assert not BYTES & set(done.ops)
        assert [op for op in done.ops if op == "Clip"] == ["Clip", "Clip"]


def test_one_result_read_twice() -> None:
    body = (
        f"{QUANTIZED}{CONV}@m = MaxPool <kernel_shape = [1, 1]> (@r)\n"
        "@t = com.microsoft.QLinearMul (@r, @ys, @yz, @m, @ys, @yz, @ys, @yz)\n" + TAIL
    )
    text = quantized(body, "float[1, 3, 4, 4] x", "float[1, 3, 4, 4]")
    done = assert_rewrite(PASS, text, feeds=[{"x": values(1, 3, 4, 4)}])
    assert done.ops.count("Conv") == 1
    assert not any(info.type.tensor_type.elem_type == 2 for info in done.after.graph.value_info)


def test_refuses_what_is_not_known_and_keeps_the_rest() -> None:
    body = QUANTIZED + CONV.replace("@xs, @xz, @w", "z, @xz, @w").replace("@r", "@t") + TAIL
    text = quantized(body, "float[1, 3, 4, 4] x, float[3] z", "float[1, 3, 4, 4]")
    done = run_pass(PASS, text)
    wanted = "z must be one number; it is computed at run time and may differ by row"
    assert any(wanted in reason for reason in done.reasons)
    assert "QLinearConv" in [node.op_type for node in done.after.graph.node]


@pytest.mark.parametrize("rounded", [False, True])
def test_a_mean_of_windows(rounded: bool) -> None:
    body = f"{QUANTIZED}@t = com.microsoft.QLinearAveragePool <kernel_shape = [2, 2]> "
    body += f"(@q, @xs, @xz, @ys, @yz)\n{TAIL}"
    text = quantized(body, "float[1, 3, 4, 4] x", "float[1, 3, 3, 3]")
    done = run_pass(PASS, text, options={"rounded": rounded})
    assert not BYTES & set(done.ops)
    assert ("AveragePool" in done.ops) == rounded
