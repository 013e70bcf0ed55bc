"""check --explain: what passes that run only when they are named would do, and why not."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from onnx import parser

from graphfix.authoring.registry import shipped_passes
from graphfix.cli import main
from graphfix.ir.model import Model
from graphfix.pipeline.named_patterns import named_patterns
from graphfix.rendering.schemas import schema_of

jsonschema: Any = importlib.import_module("jsonschema")  # it ships no types
REPORT_SCHEMA: Any = schema_of("report")
Capture = pytest.CaptureFixture[str]

NEARLY_GELU = """
<ir_version: 8, opset_import: ["": 20]>
g (float[2, 4] x, float[4] w) => (float[2, 4] y, float[2, 4] z)
<float root = {1.4142135}, float one = {1}, float half = {0.5}>
{
  a = Div (x, root) b = Erf (a) c = Add (b, one) d = Mul (x, c) [gelu] y = Mul (d, w)
  s = Sigmoid (x) [swish] z = Mul (x, s)
}
"""


def test_check_explains_why_a_fusion_is_none(tmp_path: Path, capsys: Capture) -> None:
    written = tmp_path / "nearly.onnx"
    written.write_bytes(parser.parse_model(NEARLY_GELU).SerializeToString())
    assert main(["check", str(written), "--target", "trt10", "--explain"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "gelu-fusion the nearest, gelu, is no match: input 1 of Mul 'gelu' must be" in out
    assert "the number 0.5; it is 'w', an input - swish-fusion refuses swish: Swish needs" in out
    assert main(["check", str(written), "--target", "trt10", "--explain", "--json"]) == 0
    reported = json.loads(capsys.readouterr().out)
    page = tmp_path / "page.html"
    words = ["check", str(written), "--target", "trt10", "--explain", "--report", str(page)]
    assert main(words) == 0
    assert "Passes by name" in page.read_text(encoding="utf-8")
    jsonschema.validate(reported, REPORT_SCHEMA)
    found = {each["pass"]: each for each in reported["named"]}
    assert found["gelu-fusion"]["nearest"]["name"] == "gelu"
    assert found["swish-fusion"]["refused"][0]["node"]["name"] == "swish"


def test_a_place_that_would_be_replaced_is_reported() -> None:
    text = NEARLY_GELU.replace("Mul (d, w)", "Mul (d, half)").replace('"": 20', '"": 24')
    model = Model(parser.parse_model(text.replace("ir_version: 8", "ir_version: 11")))
    known = {each.pass_id: each for each in named_patterns(model, shipped_passes())}
    assert [node.name for node in known["gelu-fusion"].sites] == ["gelu"]
    assert [node.name for node in known["swish-fusion"].sites] == ["swish"]
    assert known["gelu-fusion"].nearest is None
    assert len(list(model.nodes())) == 7


def test_what_has_nothing_to_do_with_it_is_left_out() -> None:
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Neg (x) }'
    assert named_patterns(Model(parser.parse_model(text)), shipped_passes()) == ()
