"""Where another process finds the numpy models of passes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from graphfix import run
from graphfix.authoring.declaring import Pass
from graphfix.authoring.registry import load_pass_file, shipped_passes
from graphfix.pipeline.model_types import place_of
from graphfix.proving.runners.evaluators import Evaluators
from graphfix.report import Status, Verdict

SHIPPED = [declared for declared in shipped_passes() if declared.evaluate is not None]
SOURCE = """
from graphfix.authoring import rewrite


class Table:
    def evaluate(self, inputs, attributes):
        return (inputs[0] * 2,)


TABLE = Table()


@rewrite("my::Twice", removes="op:my::Twice", emits="Add", accuracy="exact",
         evaluate=TABLE.evaluate)
def twice(node, build):
    return build.Add(node.need(0), node.need(0))
"""


@pytest.mark.parametrize("declared", SHIPPED, ids=lambda declared: declared.id)
def test_the_numpy_model_of_a_pass_is_found_again_by_its_place(declared: Pass) -> None:
    evaluate = declared.evaluate
    assert evaluate is not None
    key = ("my", "Operator")
    assert Evaluators({key: place_of(evaluate, declared)}).get(key) == evaluate


def test_the_numpy_model_of_a_pass_of_a_file_is_found_again_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "twice.py"
    path.write_text(SOURCE)
    (declared,) = load_pass_file(path)
    assert declared.evaluate is not None
    key = ("my", "Twice")
    place = place_of(declared.evaluate, declared)
    assert place == f"{path}:TABLE.evaluate"
    (result,) = Evaluators({key: place}).get(key)([np.array(3)], {})
    assert result == 6


def test_a_method_that_is_a_numpy_model_proves_what_becomes_of_an_aten_node() -> None:
    model = parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17, "org.pytorch.aten" : 1]>
        g (float[N, 3] x) => (float[3, N] y) {
            y = org.pytorch.aten.ATen <operator = "t", overload_name = ""> (x)
        }""")
    result = run(model, "trt8.6")
    assert [o.status for o in result.report.outcomes if o.pass_id == "aten-view"] == [
        Status.APPLIED
    ]
    assert result.report.verification.status is Verdict.EQUAL
