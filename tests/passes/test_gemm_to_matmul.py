"""gemm-to-matmul: product, factors and bias in nodes of their own."""

import pytest
from onnx import parser

import graphfix
from graphfix.report import Verdict


@pytest.mark.parametrize("target", ["trt8.6", "ort-1.31"])
def test_products_of_rank_3_are_found_and_written_out(target: str) -> None:
    product = (
        '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3,4] x, float[4,5] w, float[5] b) '
        "=> (float[2,3,5] y) { y = Gemm (x, w, b) }"
    )
    found = graphfix.check(parser.parse_model(product), target)
    assert "rank:Gemm.3" in {finding.feature for finding in found}
    done = graphfix.run(parser.parse_model(product), target)
    assert (done.exit_code, done.report.verification.status) == (0, Verdict.EQUAL)
