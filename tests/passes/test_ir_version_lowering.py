"""ir-version-lowering: one number of the file."""

import onnx
import pytest
from onnx import TensorProto, helper

from graphfix.report import EXACT, Status
from graphfix.testing import run_pass
from tests.passes.shape_models import text

PASS = "ir-version-lowering"


def of_type(elem_type: int, opset: int) -> onnx.ModelProto:
    model = text("g (float[2] x) => (float[2] y) { y = Identity (x) }", opset, ir=13)
    for info in (*model.graph.input, *model.graph.output):
        info.type.tensor_type.elem_type = elem_type
    return model


@pytest.mark.parametrize(("opset", "ir"), [(9, 4), (12, 7), (14, 7), (15, 8), (18, 8), (21, 10)])
def test_the_opset_says_which_version_is_needed(opset: int, ir: int) -> None:
    model = text("g (float[2] x) => (float[2] y) { y = Relu (x) }", opset, ir=11)
    done = run_pass(PASS, model)
    assert done.after.ir_version == ir
    [applied] = done.with_status(Status.APPLIED)
    assert [(s.note, s.accuracy) for s in applied.sites] == [(f"IR version 11 becomes {ir}", EXACT)]
    model.ir_version = ir
    assert done.after == model
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)


@pytest.mark.parametrize(
    ("elem_type", "ir"),
    [
        (TensorProto.FLOAT8E4M3FN, 9),
        (TensorProto.INT4, 10),
        (TensorProto.FLOAT4E2M1, 11),
        (TensorProto.FLOAT8E8M0, 12),
        (TensorProto.INT2, 13),
    ],
)
def test_a_newer_element_type_needs_its_version(elem_type: int, ir: int) -> None:
    assert run_pass(PASS, of_type(elem_type, 19)).after.ir_version == ir


def test_functions_need_their_version() -> None:
    model = text("g (float[2] x) => (float[2] y) { y = local.f (x) }", 10, ir=10)
    model.opset_import.append(helper.make_opsetid("local", 1))
    body = [helper.make_node("Relu", ["a"], ["b"])]
    model.functions.append(
        helper.make_function("local", "f", ["a"], ["b"], body, [helper.make_opsetid("", 10)])
    )
    assert run_pass(PASS, model).after.ir_version == 8


@pytest.mark.parametrize("ir", [3, 7])
def test_a_version_is_never_raised(ir: int) -> None:
    model = text("g (float[2] x) => (float[2] y) { y = Relu (x) }", 14, ir=ir)
    done = run_pass(PASS, model)
    assert done.after.ir_version == ir
    assert not done.with_status(Status.APPLIED)
