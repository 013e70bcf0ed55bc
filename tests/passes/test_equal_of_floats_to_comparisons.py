"""equal-of-floats-to-comparisons: Equal of types that it takes from opset 11 on alone."""

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import parser

import graphfix
from graphfix.report import Status, Verdict
from graphfix.testing import outputs_of, run_pass
from tests.passes.lowering_models import written

PASS = "equal-of-floats-to-comparisons"
KINDS = {"float": np.float32, "float16": np.float16, "double": np.float64}
ODD = [0.0, -0.0, 1, -1, 0.5, 6e-8, -6e-8, 65504, np.inf, -np.inf, np.nan, -np.nan]
NUMBER = ["Greater", "Less", "Or"]


def model_of(opset: int = 9, inputs: str = "float[N,1] a, float[M] b", place: str = "main") -> str:
    body = "@y = Equal (a, b)"
    return written(body, inputs, "bool[N,M]", opset=opset, place=place)


def assert_equal_to(text: str, feed: dict[str, Any], b: Any = None) -> list[str]:
    """Assert that the result is what numpy's == gives; return its operators.

    onnxruntime loads the result and does not load what it is made from.
    """
    done = run_pass(PASS, text)
    assert [o.status for o in done.outcomes if o.pass_id == PASS] == [Status.APPLIED]
    onnx.checker.check_model(done.after, full_check=True)  # pyright: ignore[reportUnknownMemberType]
    assert not run_pass(PASS, done.after).with_status(Status.APPLIED)
    wanted = np.equal(feed["a"], feed["b"] if b is None else b)
    np.testing.assert_array_equal(outputs_of(done.after, feed)["y"], wanted)
    return sorted(done.ops)


def every_pair(kind: str) -> dict[str, Any]:
    values = np.array(ODD, KINDS[kind])
    return {"a": values.reshape(-1, 1), "b": values}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("opset", [7, 8, 9, 10])
def test_every_pair_of_odd_numbers(opset: int, kind: str) -> None:
    feed = every_pair(kind)
    ops = assert_equal_to(model_of(opset, f"{kind}[N,1] a, {kind}[M] b"), feed)
    assert ops == sorted(["And", "And", "Greater", "Less", "Not", "Or", *NUMBER, *NUMBER])
    assert np.equal(feed["a"], feed["b"]).sum() == 12  # both zeros are one, NaN is none


def test_in_branches() -> None:
    feed = every_pair("float")
    for side in (True, False):
        assert_equal_to(model_of(place="branch"), {**feed, "c": np.array(side)})


@given(st.lists(st.floats(width=32), min_size=1, max_size=6))
def test_any_numbers(values: list[float]) -> None:
    array = np.array(values, np.float32)
    assert_equal_to(model_of(), {"a": array.reshape(-1, 1), "b": array})


def test_sides_of_no_elements_stay_so() -> None:
    feed = {"a": np.zeros((0, 1), np.float32), "b": np.ones(3, np.float32)}
    assert_equal_to(model_of(), feed)


def test_a_constant_is_asked_for_nan_beforehand() -> None:
    text = (
        '<ir_version: 8, opset_import: ["" : 9]> g (float[N] a) => (bool[N] y) '
        "<float b = {0.5}> { y = Equal (a, b) }"
    )
    feed = {"a": np.array([*ODD, 0.5], np.float32)}
    ops = assert_equal_to(text, feed, np.float32(0.5))
    assert ops == sorted(["And", "Greater", "Less", "Not", "Or", *NUMBER])


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "uint32"])
def test_narrow_integers_are_widened(kind: str) -> None:
    ends = np.iinfo(kind)
    values = np.array([ends.min, ends.max, 0, 1, ends.max // 2], kind)
    feed = {"a": values.reshape(-1, 1), "b": values}
    ops = assert_equal_to(model_of(9, f"{kind}[N,1] a, {kind}[M] b"), feed)
    assert ops == ["Cast", "Cast", "Equal"]


SMALL = (
    '<ir_version: 4, opset_import: ["" : 9]> g (int64[4] i, float[4] b) => (bool[4] y, bool[4] z) '
    "{ a = Cast <to = 1> (i) c = Cast <to = 7> (b) [old] y = Equal (a, b) [fine] z = Equal (i, c) }"
)


@pytest.mark.parametrize("asked", [{"target": "ort"}, {"target": "ort-1.4"}, {"opset": 9}])
def test_a_file_of_old_pytorch_is_repaired_and_proved(asked: dict[str, Any]) -> None:
    result = graphfix.run(parser.parse_model(SMALL), **asked)
    assert result.exit_code == 0
    (applied,) = (o for o in result.report.outcomes if o.status is Status.APPLIED)
    assert applied.pass_id == PASS
    (site,) = applied.sites
    assert site.node.name == "old"
    assert site.certificate is not None
    assert site.certificate.status is Verdict.EQUAL
    assert [n.name for n in result.model.graph.nodes if n.op == "Equal"] == ["fine"]
    assert {f.removed_by for f in result.report.findings_before} == {(PASS,)}


def test_an_engine_that_takes_it_gets_it_as_it_is() -> None:
    result = graphfix.run(parser.parse_model(SMALL), "trt8.6")
    assert (result.exit_code, result.report.outcomes) == (0, ())


def test_a_newer_opset_needs_no_rewrite() -> None:
    result = graphfix.run(parser.parse_model(SMALL), opset=11)
    assert {o.pass_id for o in result.report.outcomes} == {"opset"}
    assert not [f for f in result.report.findings_after if f.blocks]
