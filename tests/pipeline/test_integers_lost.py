"""What a run says first of a quantized network that no longer computes in 8 bits."""

from __future__ import annotations

import json

from graphfix.api import run
from graphfix.rendering.as_json import report_json
from graphfix.rendering.html.run_page import run_page
from graphfix.rendering.markdown import report_markdown
from graphfix.rendering.short_report import short_report
from graphfix.rendering.text_report import report_text
from graphfix.report import IntegerPlaces
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x) => (float[2,3] y) '
WEIGHTS = "int8[3,3] w = {1,2,3,4,5,6,7,8,9}, int8 none = {0}, float t = {0.25}"
PRODUCT = """q = QuantizeLinear (x, s, z) d = DequantizeLinear (q, s, z)
    k = DequantizeLinear (w, t, none) m = MatMul (d, k)"""


def model(zero: str, rest: str) -> str:
    return f"{HEAD} <float s = {{0.5}}, {zero}, {WEIGHTS}> {{ {PRODUCT} {rest} }}"


ALL = model("uint8 z = {3}", "y = Relu (m)")
HALF = model(
    "int8 z = {0}, uint8 u = {7}",
    "p = QuantizeLinear (m, s, u) e = DequantizeLinear (p, s, u) y = MatMul (e, k)",
)
KEPT = model("int8 z = {0}", "y = Relu (m)")


def test_all_of_it() -> None:
    result = run(parse(ALL), "trt8")
    report, code = result.report, result.exit_code
    assert report.integers == IntegerPlaces(1, 0, 0.0)
    said = "All computing in 8 bits (1 product) is in floats now."
    assert said in "\n".join(short_report(report, code).splitlines()[:5])
    assert said in "\n".join(report_text(report, code).splitlines()[:9])
    assert said in "\n".join(report_markdown(report, code).splitlines()[:7])
    assert ("int8", said) in run_page(result).facts
    assert json.loads(json.dumps(report_json(report)))["integers"] == {
        "before": 1,
        "after": 0,
        "share": 0.0,
    }


def test_half_of_it() -> None:
    report = run(parse(HALF), "trt8").report
    assert report.integers == IntegerPlaces(2, 1, 0.5)
    said = " ".join(short_report(report, 0).split())
    assert "Of 2 products in 8 bits 1 stays so (50% of their multiply-adds); 1 is computed" in said


def test_nothing_of_it_and_no_quantized_network() -> None:
    for text, target in ((KEPT, "trt8"), (ALL, "ort"), (HEAD + "{ y = Mish (x) }", "trt8")):
        report = run(parse(text), target).report
        assert report.integers is None
        assert "int8" not in short_report(report, 0)
        assert "integers" not in report_json(report)
