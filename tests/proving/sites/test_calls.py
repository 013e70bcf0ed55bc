"""Attributes of functions: what a call gives takes the place of a reference."""

from __future__ import annotations

import onnx

from graphfix.ir.protos import bound
from graphfix.proving.sites.cutting import call_bindings, instantiate
from tests.proving.sites.conftest import sites_of

MODEL = """
    <ir_version: 8, opset_import: ["" : 17, "f" : 1]>
    g (float[2] x) => (float[2] y, float[2] z)
    {
        y = f.outer <slope = 0.5> (x)
        z = f.outer (x)
    }
    <domain: "f", opset_import: ["" : 17, "f" : 1]>
    outer <slope: float = 0.25> (p) => (q) { q = f.inner <alpha: float = @slope> (p) }
    <domain: "f", opset_import: ["" : 17]>
    inner <alpha> (p) => (q)
    { r = LeakyRelu <alpha: float = @alpha> (p)  s = HardSwish (r)  q = Neg (s) }
"""


def _inner(model: onnx.ModelProto) -> onnx.FunctionProto:
    return next(function for function in model.functions if function.name == "inner")


def test_defaults_and_attributes_passed_on_are_followed() -> None:
    ways = call_bindings(onnx.parser.parse_model(MODEL))
    assert [way["slope"].f for way in ways["f", "outer", ""]] == [0.5, 0.25]
    assert [way["alpha"].f for way in ways["f", "inner", ""]] == [0.5, 0.25]


def test_a_reference_becomes_the_value_and_keeps_its_name() -> None:
    model = onnx.parser.parse_model(MODEL)
    ways = call_bindings(model)["f", "inner", ""]
    node = bound(_inner(model).node[0], ways[0])
    assert [(a.name, a.f, a.ref_attr_name) for a in node.attribute] == [("alpha", 0.5, "")]
    assert _inner(model).node[0].attribute[0].ref_attr_name == "alpha"


def test_what_a_call_leaves_out_is_left_out() -> None:
    model = onnx.parser.parse_model(MODEL)
    assert not bound(_inner(model).node[0], {}).attribute


def test_a_site_is_run_in_each_way_that_its_function_is_called() -> None:
    model = onnx.parser.parse_model(MODEL)
    sites, _ = sites_of(model, "hardswish-to-hardsigmoid")
    ways = call_bindings(model)["f", "inner", ""]
    ((_, evidence),) = sites
    assert len(instantiate(evidence, ways)) == 1
    evidence.context.append(_inner(model).node[0])
    found = instantiate(evidence, ways)
    assert [one.context[0].attribute[0].f for one in found] == [0.5, 0.25]
    assert [one.before for one in found] == [evidence.before] * 2
    assert not instantiate(evidence, ())
