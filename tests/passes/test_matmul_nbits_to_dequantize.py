"""matmul-nbits-to-dequantize: products with weights of 4 bits that stay 4 bits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import ModelProto, TensorProto

from benchmarks.coverage.contrib.form import Form, const
from graphfix.report import Accuracy, Status
from graphfix.testing import assert_rewrite, assert_untouched, run_pass
from tests.passes.contrib_models import forms_of, name_of

PASS = "matmul-nbits-to-dequantize"
PLAIN = ["DequantizeLinear", "Transpose", "MatMul"]
SHIFTED = ["MatMul", "Mul", "Reshape", "ReduceSum", "Sub"]
Array = np.ndarray[Any, Any]


def model_of(form: Form) -> ModelProto:
    """Return a form at opset 21, which has int4 and blocks."""
    model = form.model()
    model.opset_import[0].version, model.ir_version = 21, 10
    rank = len(model.graph.input[0].type.tensor_type.shape.dim)
    shape = model.graph.output[0].type.tensor_type.shape
    for _ in range(rank + (form.operator == "GatherBlockQuantized")):
        shape.dim.add()
    return model


def packed(
    rows: int,
    columns: int,
    block: int,
    *,
    signs: tuple[int, ...] = (1,),
    level: int = 0,
    seed: int = 0,
) -> tuple[list[Any], dict[str, int]]:
    """Return the weights and scales of a product, and its attributes."""
    rng = np.random.default_rng(seed)
    blocks = -(-columns // block)
    scales = rng.uniform(0.01, 0.1, (rows, blocks)) * rng.choice(signs, (rows, blocks))
    data = rng.integers(0, 256, (rows, blocks, block // 2), np.uint8)
    how = {"K": columns, "N": rows, "bits": 4, "block_size": block, "accuracy_level": level}
    return [const(data), const(scales.astype(np.float32))], how


def numbers(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


FOUR = [
    form
    for form in forms_of("matmul-nbits-to-matmul")
    if form.operator == "MatMulNBits" and form.attributes["bits"] == 4 and form.name != "order"
]


@pytest.mark.parametrize("form", FOUR, ids=name_of)
def test_forms(form: Form) -> None:
    half = form.name == "float16"
    bound = 4e-3 if half else 1e-5
    assert_rewrite(PASS, model_of(form), feeds=[form.feed()], rtol=bound, atol=bound)


def test_the_weights_stay_4_bits() -> None:
    weights, how = packed(24, 64, 16)
    done = run_pass(
        PASS, model_of(Form("MatMulNBits", "", [numbers(2, 64), *weights], attributes=how))
    )
    assert done.ops == PLAIN
    (site,) = done.with_status(Status.APPLIED)[0].sites
    assert site.accuracy is Accuracy.EXACT
    stored = {t.data_type: t for t in done.after.graph.initializer}
    assert stored[TensorProto.INT4].dims == [24, 64]
    assert len(stored[TensorProto.INT4].raw_data) == 24 * 64 // 2
    before = weights[0].array.tobytes()
    assert stored[TensorProto.INT4].raw_data == bytes(byte ^ 0x88 for byte in before)
    assert set(stored) == {TensorProto.INT4, TensorProto.FLOAT}


def test_scales_become_positive() -> None:
    weights, how = packed(24, 64, 16, signs=(1, -1, 0))
    x = numbers(2, 64)
    form = Form("MatMulNBits", "", [x, *weights], attributes=how)
    done = assert_rewrite(PASS, model_of(form), feeds=[form.feed()], rtol=1e-5, atol=1e-5)
    readers = [n for n in done.after.graph.node if n.op_type == "DequantizeLinear"]
    stored = {t.name: t for t in done.after.graph.initializer}
    assert len(readers) == 2
    for reader in readers:
        assert len(reader.input) == 2  # TensorRT takes no zero points
        assert (np.frombuffer(stored[reader.input[1]].raw_data, np.float32) > 0).all()


@given(st.data())
def test_any_product(data: st.DataObject) -> None:
    block = data.draw(st.sampled_from([16, 32, 64]))
    columns = data.draw(st.integers(1, 3 * block))
    rows = data.draw(st.integers(1, 20))
    seed = data.draw(st.integers(0, 1000))
    signs = data.draw(st.sampled_from([(1,), (1, -1), (-1,), (1, -1, 0), (0,)]))
    weights, how = packed(rows, columns, block, signs=signs, level=4, seed=seed)
    blocks = -(-columns // block)
    rng = np.random.default_rng(seed + 1)
    zeros = {
        "none": None,
        "packed": const(rng.integers(0, 256, (rows, -(-blocks // 2)), np.uint8)),
        "middle": const(np.full((rows, -(-blocks // 2)), 0x88, np.uint8)),
        "floats": const(rng.uniform(6, 9, (rows, blocks)).astype(np.float32)),
    }[data.draw(st.sampled_from(["none", "packed", "middle", "floats"]))]
    bias = const(numbers(rows)) if data.draw(st.booleans()) else None
    lead = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    x = numbers(*lead, columns, seed=seed)
    inputs = [x, *weights, zeros, None, bias]
    while inputs[-1] is None:
        inputs.pop()
    form = Form("MatMulNBits", "", inputs, attributes=how, free=(0,))
    done = assert_rewrite(PASS, model_of(form), feeds=[form.feed()], rtol=1e-4, atol=1e-4)
    kinds = {t.data_type: len(t.raw_data) for t in done.after.graph.initializer}
    assert kinds[TensorProto.INT4] <= rows * blocks * block // 2


def test_an_open_rank_and_subgraphs() -> None:
    weights, how = packed(8, 32, 16, signs=(-1,))
    form = Form("MatMulNBits", "", [numbers(2, 3, 32), *weights], attributes=how, free=(0, 1))
    plain = model_of(form)
    inner = ModelProto()
    inner.CopyFrom(plain)
    branch = inner.graph
    name = branch.output[0].name
    model = ModelProto(ir_version=10)
    model.opset_import.extend(plain.opset_import)
    graph = model.graph
    graph.name = "outer"
    graph.initializer.extend(branch.initializer)
    del branch.initializer[:]
    graph.input.extend(branch.input)
    del branch.input[:]
    choice = graph.input.add(name="c")
    choice.type.tensor_type.elem_type = TensorProto.BOOL
    choice.type.tensor_type.shape.SetInParent()
    node = graph.node.add(op_type="If", input=["c"], output=["z"], name="if")
    for which in ("then_branch", "else_branch"):
        attribute = node.attribute.add(name=which, type=5)
        attribute.g.CopyFrom(branch)
        attribute.g.name = which
        attribute.g.node[0].output[0] = f"{name}_{which}"
        attribute.g.output[0].name = f"{name}_{which}"
    graph.output.add(name="z").CopyFrom(branch.output[0])
    graph.output[0].name = "z"
    feeds = [{**form.feed(), "c": np.array(flag)} for flag in (True, False)]
    done = assert_rewrite(PASS, model, feeds=feeds, rtol=1e-5, atol=1e-5)
    assert len(done.with_status(Status.APPLIED)[0].sites) == 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"bits": 8}, "the weights must have 4 bits; they have 8"),
        ({"bits": 2}, "the weights must have 4 bits; they have 2"),
        ({"weight_prepacked": 1}, "packed for one processor"),
        ({"K": 200}, "the weights must be"),
    ],
)
def test_refusals(change: dict[str, int], reason: str) -> None:
    weights, how = packed(8, 32, 16)
    x = numbers(2, change.get("K", 32))
    form = Form("MatMulNBits", "", [x, *weights], attributes={**how, **change})
    done = run_pass(PASS, model_of(form))
    assert any(reason in said for said in done.reasons), done.reasons
    assert done.after == done.before


def test_an_order_of_columns_and_late_weights_are_refused() -> None:
    weights, how = packed(8, 32, 16)
    order = const((np.arange(32) // 16)[::-1].astype(np.int32))
    form = Form("MatMulNBits", "", [numbers(2, 32), *weights, None, order], attributes=how)
    assert any("must be in order" in said for said in run_pass(PASS, model_of(form)).reasons)
    late = [numbers(2, 32), weights[0].array, weights[1]]
    form = Form("MatMulNBits", "", late, attributes=how)
    assert any("computed at run time" in said for said in run_pass(PASS, model_of(form)).reasons)


def test_below_opset_21_it_is_left_alone() -> None:
    weights, how = packed(8, 32, 16)
    form = Form("MatMulNBits", "", [numbers(2, 32), *weights], attributes=how)
    assert_untouched(PASS, form.model())
