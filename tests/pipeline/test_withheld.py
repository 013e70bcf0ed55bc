"""What the user's own options keep away is said of each problem that is left."""

from __future__ import annotations

from typing import Any

import onnx
import pytest

import graphfix
from graphfix.rendering.short_report import short_report
from graphfix.rendering.text_report import report_text

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N, 3] x, float[N, 3] z) => (float[N, 3] y) {
  [m] a = Mod <fmod = 1> (x, z) [e] y = Exp (a)
}"""
BOTH = "mod-by-computed-divisor, mod-elimination"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"skip": ["mod-elimination"]}, "mod-elimination is left out by --skip"),
        ({"skip": BOTH.split(", ")}, f"{BOTH} are left out by --skip"),
        ({"passes": ["fold-constants"]}, f"{BOTH} are not among --passes"),
        ({"excepted": ["m"]}, "left alone by --except"),
        ({"only": ["e"]}, "left alone, as --only does not name it"),
    ],
)
def test_what_is_left(asked: dict[str, Any], said: str) -> None:
    result = graphfix.run(onnx.parser.parse_model(TEXT), "trt7", verify="off", **asked)
    (left,) = [f for f in result.report.findings_after if f.blocks]
    assert left.withheld == said
    for text in (short_report(result.report, 1), report_text(result.report, 1)):
        flat = " ".join(text.split())
        assert said in flat
        assert "did not act here" not in flat
        assert "No repair is known" not in flat


def test_nothing_is_said_where_nothing_is_kept_away() -> None:
    result = graphfix.run(onnx.parser.parse_model(TEXT), "trt7", verify="off")
    assert [f.withheld for f in result.report.findings_after if f.blocks] == []
    left = onnx.parser.parse_model(TEXT.replace("Exp", "NonZero").replace("(float[N, 3] y)", "(y)"))
    result = graphfix.run(left, "trt7", verify="off")
    assert [f.withheld for f in result.report.findings_after if f.blocks] == [""]
