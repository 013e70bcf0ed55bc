"""pad-shape-arithmetic-flat: elements of a vector moved without a matrix."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, numpy_helper

from graphfix.api import run
from graphfix.testing import assert_rewrite, outputs_of
from tests.passes.shape_models import text

PASS = "pad-shape-arithmetic-flat"
CONSTANTS = (
    "<int64[2] two = {-1, 2}, int64[1] last = {-1}, int64[1] far = {-9223372036854775807}, "
    "int64[1] zero = {0}>"
)
TORCH = (
    "m = Reshape (v, two) r = Slice (m, last, far, zero, last) t = Transpose <perm = [1, 0]> (r) "
    "p = Reshape (t, last)"
)


def torch_pads(length: str = "8", kind: str = "int64", tail: str = "") -> ModelProto:
    return text(
        f"g ({kind}[{length}] v) => (int64[8] y) {CONSTANTS} {{ {TORCH} c = Cast <to = 7> (p) "
        f"y = Identity (c) {tail} }}"
    )


def feed(*values: int) -> dict[str, Any]:
    return {"v": np.array(values, np.int64)}


def test_the_pads_of_torch() -> None:
    one = feed(1, 2, 3, 4, 5, 6, 7, 8)
    after = ["Gather", "Cast", "Identity"]
    done = assert_rewrite(PASS, torch_pads(), feeds=[one], after=after)
    assert outputs_of(done.after, one)["y"].tolist() == [7, 5, 3, 1, 8, 6, 4, 2]
    found = [numpy_helper.to_array(t).tolist() for t in done.after.graph.initializer]
    assert [6, 4, 2, 0, 7, 5, 3, 1] in found


@pytest.mark.parametrize("target", ["trt8.6", "trt8.4"])
def test_the_finding_of_tensorrt_goes(target: str) -> None:
    model = text(
        f"g (float[1,2,H,W] x, float[1,2,K,L] z) => (float[1,2,A,B] y) "
        "<int64 i2 = {2}, int64 i3 = {3}, int64[4] none = {0, 0, 0, 0}, int64[1] zero = {0}, "
        "int64[2] two = {-1, 2}, int64[1] last = {-1}, int64[1] far = {-9223372036854775807}> "
        "{ s = Shape (x) q = Shape (z) h = Gather (s, i2) k = Gather (q, i2) w = Gather (s, i3) "
        "l = Gather (q, i3) dh = Sub (h, k) dw = Sub (w, l) uh = Unsqueeze (dh, zero) "
        "uw = Unsqueeze (dw, zero) v = Concat <axis = 0> (zero, uw, zero, uh, none) "
        f"{TORCH} y = Pad (z, p) }}"
    )
    result = run(model, target=target, verify="off")
    found = [(f.feature, f.node.op) for f in result.report.findings_before if f.blocks and f.node]
    assert found == [("shape:Reshape.rank2", "Reshape"), ("shape:Reshape.rank2", "Pad")]
    assert not [f for f in result.report.findings_after if f.blocks]
    feeds = {"x": np.ones((1, 2, 5, 6), np.float32), "z": np.ones((1, 2, 3, 4), np.float32)}
    given_, wanted = outputs_of(result.model.to_proto(), feeds)["y"], outputs_of(model, feeds)["y"]
    np.testing.assert_array_equal(given_, wanted)
    assert given_.shape == (1, 2, 5, 6)


@given(rows=st.integers(1, 4), columns=st.integers(1, 4), step=st.sampled_from([-2, -1, 1, 2]))
def test_any_matrix(rows: int, columns: int, step: int) -> None:
    start, end = (0, 100) if step > 0 else (-1, -100)
    model = text(
        f"g (int64[{rows * columns}] v) => (int64[K] y) <int64[2] k = {{{rows}, {columns}}}, "
        f"int64[1] a = {{{start}}}, int64[1] b = {{{end}}}, int64[1] zero = {{0}}, "
        f"int64[1] step = {{{step}}}, int64[1] last = {{-1}}> {{ m = Reshape (v, k) "
        "r = Slice (m, a, b, zero, step) t = Transpose <perm = [1, 0]> (r) y = Reshape (t, last) }"
    )
    values = np.arange(rows * columns) * 7
    done = assert_rewrite(PASS, model, feeds=[{"v": values}], after=["Gather"])
    wanted = values.reshape(rows, columns)[::step].T.reshape(-1)
    assert outputs_of(done.after, {"v": values})["y"].tolist() == wanted.tolist()
