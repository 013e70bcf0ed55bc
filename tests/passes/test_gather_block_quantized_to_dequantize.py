"""gather-block-quantized-to-dequantize: a lookup in a table that stays 4 bits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto

from benchmarks.coverage.contrib.form import Form, const
from graphfix.testing import assert_rewrite, run_pass
from tests.passes.contrib_models import forms_of, name_of
from tests.passes.test_matmul_nbits_to_dequantize import model_of

PASS = "gather-block-quantized-to-dequantize"
FOUR = [
    form
    for form in forms_of("gather-block-quantized-to-gather")
    if form.operator == "GatherBlockQuantized" and form.attributes["bits"] == 4
]


@pytest.mark.parametrize("form", FOUR, ids=name_of)
def test_forms(form: Form) -> None:
    done = assert_rewrite(PASS, model_of(form), feeds=[form.feed()], rtol=1e-5, atol=1e-6)
    assert TensorProto.INT4 in {tensor.data_type for tensor in done.after.graph.initializer}


@given(st.data())
def test_any_table(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    rows, blocks = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 4))
    block = data.draw(st.sampled_from([16, 32]))
    signs = data.draw(st.sampled_from([(1,), (1, -1), (1, -1, 0)]))
    table = rng.integers(0, 256, (rows, blocks * block // 2), np.uint8)
    scales = (rng.uniform(0.01, 1, (rows, blocks)) * rng.choice(signs, (rows, blocks))).astype("f4")
    inputs: list[Any] = [const(table)]
    shape = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    inputs += [rng.integers(-rows, rows, shape), const(scales)]
    if data.draw(st.booleans()):
        inputs.append(const(rng.integers(0, 256, (rows, -(-blocks // 2)), np.uint8)))
    how = {"bits": 4, "block_size": block, "gather_axis": 0, "quantize_axis": 1}
    form = Form("GatherBlockQuantized", "", inputs, attributes=how)
    assert_rewrite(PASS, model_of(form), feeds=[form.feed()], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"bits": 8}, "the weights must have 4 bits; they have 8"),
        ({"gather_axis": 1}, "the lookup be along the first"),
    ],
)
def test_refusals(change: dict[str, int], reason: str) -> None:
    how = {"bits": 4, "block_size": 16, "gather_axis": 0, "quantize_axis": 1, **change}
    data, scales = const(np.zeros((4, 16), np.uint8)), const(np.ones((4, 2), np.float32))
    form = Form("GatherBlockQuantized", "", [data, np.array([1]), scales], attributes=how)
    done = run_pass(PASS, model_of(form))
    assert any(reason in said for said in done.reasons), done.reasons
