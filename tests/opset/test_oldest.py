"""Opsets 1 to 6 upward: consumed_inputs, axes of broadcasting, forms by attributes, test mode."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

import graphfix
from benchmarks.coverage.lists.old_forms import old_forms
from benchmarks.opset.comparison import outputs_differ, run
from benchmarks.opset.conversions import complains
from graphfix.report import Verdict
from tests.opset.conversion import converted, loaded, reasons

CASES = [case for case in old_forms() if "experimental" not in case.entry]


def model_of(inputs: str, outputs: str, nodes: str, opset: int) -> onnx.ModelProto:
    return parser.parse_model(
        f'<ir_version: 3, opset_import: ["" : {opset}]> g ({inputs}) => ({outputs}) {{ {nodes} }}'
    )


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_old_form_means_the_same_today(case: object) -> None:
    assert isinstance(case, type(CASES[0]))
    result = converted(onnx.load_from_string(case.model), 13)
    assert complains(result) == ""
    assert outputs_differ(run(result, case.feed), case.expected) == ""


def test_a_scalar_by_an_axis_is_spread_over_the_axes_after() -> None:
    before = model_of("float[2,3,4] x, float[3] z", "float[2,3,4] y",
                      "y = Sub <broadcast = 1, axis = 1> (x, z)", 6)  # fmt: skip
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    z = np.array([1, 10, 100], np.float32)
    (y,) = run(converted(before, 7), {"x": x, "z": z})
    assert np.array_equal(y, x - z[:, None])


@pytest.mark.parametrize("target", ["trt8.6", "ort-1.10"])
@pytest.mark.parametrize(
    "nodes", ["y = Add <broadcast = 1, axis = 1> (x, z)", "y = Mul <broadcast = 1> (z, z)"]
)
def test_a_target_gets_the_oldest_opset_that_it_takes_proved(target: str, nodes: str) -> None:
    proto = model_of("float[2,3,4] x, float[3] z", "y", nodes, 6)
    if "x" not in nodes:
        del proto.graph.input[0]
    result = graphfix.run(proto, target)
    verdict = result.report.verification
    assert (result.exit_code, verdict.status) == (0, Verdict.EQUAL)
    assert not any(f.blocks for f in result.report.findings_after)


def test_forms_that_ended_are_refused_by_the_runtime_and_others_are_not() -> None:
    add = model_of("float[2] x", "float[2] y", "y = Add (x, x)", 6)
    (found,) = graphfix.check(add, "ort-1.31")
    assert (found.feature, found.certain) == ("opset:too-low", True)
    assert found.message == "ONNX Runtime 1.31 has no kernel for Add of opsets before 7"
    assert not graphfix.check(model_of("float[2] x", "float[2] y", "y = Relu (x)", 6), "ort-1.31")


def test_what_runs_as_it_is_keeps_its_opset() -> None:
    result = graphfix.run(model_of("float[2] x", "float[2] y", "y = Relu (x)", 6), "ort-1.31")
    assert result.model.opset == 6


def test_a_model_of_nobodys_opset_is_left_alone() -> None:
    model, _ = loaded(model_of("float[2] x", "float[2] y", "y = Relu (x)", 1))
    assert model.opset == 1


def test_an_attribute_that_is_a_graph_by_mistake_is_named_in_words() -> None:
    scatter = "y = ScatterElements (x, i, u)"
    model = model_of("float[5] x, int64[5] i, float[5] u", "float[5] y", scatter, 18)
    model.graph.node[0].attribute.append(
        onnx.helper.make_attribute("reduction", onnx.GraphProto(name="g"))
    )
    said = "ScatterElements: reduction = a graph has no counterpart at opset 16"
    assert said in reasons(model, 17)
