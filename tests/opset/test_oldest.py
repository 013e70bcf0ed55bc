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
BATCH = "float[2,3,4,5] x, float[3] s, float[3] b, float[3] m, float[3] v"
Y = "float[2,3,4,5] y"


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


@pytest.mark.parametrize(
    ("inputs", "nodes", "opset", "reason"),
    [
        (BATCH, "y = BatchNormalization (x, s, b, m, v)", 6, "is_test is 0"),
        ("float[2,3,4,5] x", "y = Dropout (x)", 6, "is_test is 0"),
        ("float[2,3,4,5] x, float[4] z", "y = Add (x, z)", 6, "broadcast is 0"),
        ("float[2,3,4,5] x, float[4] z", "y = Add <broadcast = 1, axis = -2> (x, z)", 6,
         "axis is -2"),
        ("float[2,3,4,5] x, float[4,5,2] z", "y = Mul <broadcast = 1, axis = 2> (x, z)", 6,
         "does not fit at axis 2"),
        ("float[2,3,4,5] x", "y, z = Split (x)", 1, "the axis is not given"),
        ("float[2,3,4,5] x", "y = GlobalLpPool <p = 1.5> (x)", 1, "the exponent is 1.5"),
        ("float[2,3,4,5] x", "y = Reshape (x)", 1, "says no shape"),
        ("float[2,3,4,5] x", 'y = Cast <to = "WORD"> (x)', 1, "'WORD', which is no element type"),
        ("float[2,3,4,5] x, float[3,1,1] z", "y = PRelu (x, z)", 6, "only one is defined"),
    ],
)  # fmt: skip
def test_what_an_old_form_does_not_say_blocks_the_step(
    inputs: str, nodes: str, opset: int, reason: str
) -> None:
    (said,) = reasons(model_of(inputs, "y", nodes, opset), 7)
    assert reason in said


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
