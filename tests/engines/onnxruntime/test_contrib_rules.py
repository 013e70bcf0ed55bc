"""Rules of ONNX Runtime on forms of com.microsoft that releases have, and do not run."""

from __future__ import annotations

import pytest

import graphfix
from benchmarks.coverage.contrib.results import expected_of
from benchmarks.coverage.lists.ml_forms import forms as ml_forms
from benchmarks.opset.comparison import outputs_differ, run
from tests.engines.cases import No, Yes, assert_no, assert_yes
from tests.passes.contrib_models import FORMS, Form, name_of

SCALED = (
    "(float[1,2,4] x, float[4,12] w, float[12] b) => (float[1,2,4] y) "
    "{ y = com.microsoft.Attention <num_heads: int = 2, scale: float = 0.5> (x, w, b) }"
)
BLOCKS = (
    "(float[2,96] x, uint8[%d,3,16] b, float[%d] s, uint8[%d] z) => (float[2,%d] y) "
    "{ y = com.microsoft.MatMulNBits <K: int = 96, N: int = %d, bits: int = 4, "
    "block_size: int = 32> (x, b, s%s) }"
)
ODD, OF_ONE, BARE = (
    BLOCKS % (n, 3 * n, 2 * n, n, n, zero) for n, zero in ((2, ", z"), (1, ", z"), (2, ""))
)
QUANTIZED = (
    "(float[2] x, float s, int16 z) => (int16[2] y) { y = com.microsoft.QuantizeLinear (x, s, z) }"
)
EXPANDED = (
    "(float[2] x) => (float[1,2] y) { a = Constant <value: tensor = int32 {0}> () "
    "y = com.microsoft.ExpandDims (x, a) }"
)
GEMM = "(float[2,3] a, float[3,4] b) => (float[2,4] y) { y = com.microsoft.FusedGemm (a, b) }"
BATCHES = (
    "(float[2,3,4] a, float[3,2,4] b) => (float[3,2,2] y) "
    "{ y = com.microsoft.FusedMatMul <transBatchA: int = 1> (a, b) }"
)
POOL = (
    "(int8[1,4,4,2] x) => (int8[1,2,2,2] y) "
    "{ y = com.microsoft.NhwcMaxPool <kernel_shape: ints = [3,3]> (x) }"
)
MEAN = (
    "(int8[1,2,4,4] x, float s, int8 z) => (int8[1,2,1,1] y) "
    "{ y = com.microsoft.QLinearGlobalAveragePool (x, s, z, s, z) }"
)
SKIP = (
    "(float[1,2,4] x, float[1,2,4] k, float[4] g) => (float[1,2,4] y) "
    "{ y = com.microsoft.SkipLayerNormalization (x, k, g) }"
)
FLAT = SKIP.replace("[1,2,4]", "[2,4]")
ONE = SKIP.replace("[1,2,4] k", "[2,4] k")
NAME = "op:com.microsoft::"
YES = [
    Yes(SCALED, "attention-scale", f"{NAME}Attention", "reject", "scale", "ort-1.13", 13),
    Yes(
        QUANTIZED, "contrib-quantize-types", f"{NAME}QuantizeLinear", "reject", "is invalid",
        "ort-1.16", 13,
    ),
    Yes(
        QUANTIZED.replace(", z)", ")").replace("int16", "uint8"), "contrib-quantize-types",
        f"{NAME}QuantizeLinear", "reject", "is invalid", "ort-1.10", 13,
    ),
    Yes(EXPANDED, "expand-dims-by-constant", f"{NAME}ExpandDims", "reject", "", "ort-1.27", 13),
    Yes(GEMM, "fused-gemm-without-sum", f"{NAME}FusedGemm", "reject", "", "ort-1.12", 13),
    Yes(BATCHES, "fused-matmul-of-batches", f"{NAME}FusedMatMul", "reject", "", "ort-1.10", 13),
    Yes(ODD, "zero-points-of-odd-blocks", f"{NAME}MatMulNBits", "wrong", "", "ort-1.16", 13),
    Yes(POOL, "contrib-int8-kernels", f"{NAME}NhwcMaxPool", "reject", "find", "ort-1.10", 13),
    Yes(MEAN, "int8-means", f"{NAME}QLinearGlobalAveragePool", "reject", "", "ort-1.10", 13),
    Yes(FLAT, "skip-of-matrix", f"{NAME}SkipLayerNormalization", "reject", "", "ort-1.14", 13),
    Yes(ONE, "skip-that-broadcasts", f"{NAME}SkipLayerNormalization", "reject", "", "ort-1.15", 13),
]  # fmt: skip
NO = [
    No(SCALED, "attention-scale", "ort-1.14", 13),
    No(QUANTIZED, "contrib-quantize-types", "ort-1.17", 13),
    No(ODD, "zero-points-of-odd-blocks", "ort-1.17", 13),
    No(OF_ONE, "zero-points-of-odd-blocks", "ort-1.16", 13),
    No(BARE, "zero-points-of-odd-blocks", "ort-1.16", 13),
    No(QUANTIZED.replace("int16", "int8"), "contrib-quantize-types", "ort-1.10", 13),
    No(EXPANDED, "expand-dims-by-constant", "ort-1.28", 13),
    No(GEMM, "fused-gemm-without-sum", "ort-1.13", 13),
    No(BATCHES.replace("transBatchA", "transA"), "fused-matmul-of-batches", "ort-1.10", 13),
    No(BATCHES, "fused-matmul-of-batches", "ort-1.11", 13),
    No(POOL.replace("int8", "uint8"), "contrib-int8-kernels", "ort-1.10", 13),
    No(POOL, "contrib-int8-kernels", "ort-1.11", 13),
    No(MEAN, "int8-means", "ort-1.11", 13),
    No(SKIP, "skip-that-broadcasts", "ort-1.10", 13),
    No(FLAT, "skip-of-matrix", "ort-1.15", 13),
    No(ONE, "skip-that-broadcasts", "ort-1.16", 13),
]  # fmt: skip


@pytest.mark.parametrize("case", YES, ids=lambda case: f"{case.rule}-{case.target}")
def test_yes(case: Yes) -> None:
    assert_yes(case)


@pytest.mark.parametrize("case", NO, ids=lambda case: f"{case.rule}-{case.target}")
def test_no(case: No) -> None:
    assert_no(case)


REPAIRED = [
    form
    for form in FORMS
    if (form.operator, form.name)
    in {
        ("Attention", "scale"),
        ("FusedGemm", "open"),
        ("NhwcMaxPool", "int8"),
        ("QLinearAveragePool", "int8"),
        ("QLinearConv", "int8"),
        ("SkipLayerNormalization", "one-skip"),
    }
]


@pytest.mark.parametrize("form", REPAIRED, ids=name_of)
def test_what_replaces_the_operator_replaces_the_form(form: Form) -> None:
    result = graphfix.run(form.model(), "ort-1.10", verify="off")
    assert not [finding for finding in result.report.findings_after if finding.blocks]
    given = run(result.model.to_proto(), form.feed())
    assert not outputs_differ(given, expected_of(form), values=True)


def test_a_tree_ensemble_of_version_5() -> None:
    (form,) = (one for one in ml_forms() if one.entry == "TreeEnsemble")
    named = {finding.feature for finding in graphfix.check(form.model, "ort-1.10")}
    assert "op:ai.onnx.ml::TreeEnsemble" in named
    assert not [finding for finding in graphfix.check(form.model, "ort-1.31") if finding.blocks]
    result = graphfix.run(form.model, "ort-1.10", verify="off")
    assert not [finding for finding in result.report.findings_after if finding.blocks]
