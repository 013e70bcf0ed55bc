"""equal-sizes-through-conv: a Conv and a Mul after a Reshape."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphfix import run
from graphfix.testing import assert_rewrite, outputs_of, parse
from tests.passes.lowering_models import PLACES, written

PASS = "equal-sizes-through-conv"
RNG = np.random.default_rng(7)


def shaped(sizes: str, *, taken: str, given: str, kind: str = "float", **how: Any) -> str:
    body = f"@s = Constant <value = int64[4] {{{sizes}}}> ()\n@y = Reshape (x, @s)"
    return written(body, f"{kind}[{taken}] x", f"{kind}[{given}]", **how)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opset", [9, 13, 21])
def test_an_image_of_equal_sizes(opset: int, place: str) -> None:
    if place == "function" and opset < 13:
        pytest.skip("local functions came with IR 8; older opsets have none in practice")
    text = shaped("1, 4, 4, 4", taken="1, 4, 16", given="1, 4, 4, 4", opset=opset, place=place)
    x = RNG.standard_normal((1, 4, 16), np.float32)
    feed: dict[str, Any] = {"x": x}
    if place == "branch":
        feed["c"] = np.array(True)
    done = assert_rewrite(PASS, text, feeds=[feed])
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], x.reshape(1, 4, 4, 4))


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4))
def test_any_sizes(batch: int, channels: int, size: int) -> None:
    text = shaped(f"-1, {channels}, {size}, 3", taken="N, M", given=f"K, {channels}, {size}, 3")
    x = RNG.standard_normal((batch, channels * size * 3), np.float32)
    done = assert_rewrite(PASS, text, feeds=[{"x": x}])
    wanted = x.reshape(batch, channels, size, 3)
    np.testing.assert_array_equal(outputs_of(done.after, {"x": x})["y"], wanted)


def test_tflite_is_given_it() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[1,2,4,4] x) => (float[1,4,2,2] y) '
        "<int64[3] r = {1, 4, 16}, int64[4] i = {1, 4, 4, 4}, float[4,2,1,1] f = {0.5, -1.0, 2.0, "
        "0.25, 1.5, -0.5, 0.7, 0.9}> { c = Conv (x, f) a = Reshape (c, r) t = Exp (a) "
        "e = Reshape (t, i) y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (e) }"
    )
    result = run(parse(text), "tflite1.29", trust_rules=True, verify="full")
    assert result.exit_code == 0
    assert [node.op for node in result.model.graph.nodes][-3:] == ["Conv", "Mul", "MaxPool"]
