"""The operators of quantized files: those of ONNX, and those of QONNX, Brevitas and FINN."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import onnx

from benchmarks.coverage.cases import Case
from benchmarks.coverage.lists.qonnx_forms import OPERATORS, qonnx_forms
from benchmarks.coverage.lists.quantized_forms import quantized_forms
from benchmarks.opset.comparison import reference, run

TITLE = "Quantized files"
PAGE = "coverage-quantized.md"
ABOUT = """The list is every operator of ONNX that quantizes, dequantizes or computes with quantized
numbers (those of com.microsoft are on a page of their own), and every operator that the packages
qonnx.custom_op.general and channels_last register, which Brevitas and FINN write. Forms are the
element types from 4 to 16 bits and float8, one scale, one for each channel and blocks, zero points
in the middle, at the ends and anywhere, and sums that float32 does and does not hold. What is right
is what onnxruntime or onnx's reference evaluator computes of the model as it is, and for QONNX what
its definition gives in numpy."""
_OPERATORS = (
    "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "ConvInteger", "MatMulInteger",
    "QLinearConv", "QLinearMatMul",
)  # fmt: skip


def entries() -> Mapping[str, str]:
    """Return every operator."""
    return dict.fromkeys((*_OPERATORS, *OPERATORS), "")


def cases() -> Iterator[Case]:
    """Yield the forms, with what is right."""
    checker: Any = onnx.checker
    for form in quantized_forms():
        checker.check_model(form.model)
        try:
            expected = run(form.model, form.feed)
        except Exception:  # onnxruntime's exceptions have no common base
            expected = reference(form.model, form.feed)
        yield Case(form.entry, form.form, form.model.SerializeToString(), form.feed, expected)
    for form, wanted in qonnx_forms():
        yield Case(form.entry, form.form, form.model.SerializeToString(), form.feed, wanted)
