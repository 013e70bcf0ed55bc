"""A profile of another engine family is judged by what it says: no clean bill for want of rules."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphfix
from graphfix.engines.known_rules import all_rules
from graphfix.engines.profile import Target
from graphfix.engines.targets import load_target
from graphfix.report import Finding
from graphfix.testing import parse
from tests.engines.cases import model_of

PROFILE = """
name = "pebble2.1"
family = "pebble"
version = "2.1"
title = "Pebble 2.1"
source = "made up for this test"
domains = ["", "com.pebble"]
functions = false
ir_max = 8
io_dtypes = ["float32", "int32", "bool"]
plugins = ["PebbleNms"]
domain_opsets = { "com.pebble" = 2 }
dtype_aliases = { int64 = "int32" }
[opset]
min = 9
max = 17
rejects_above = true
[ops]
Relu = { supported = true, dtypes = ["float32", "float16"] }
Add = { supported = true, dtypes = ["float32", "int32"] }
Gather = { supported = true, dtypes = ["float32"] }
Where = { supported = true, dtypes = ["float32"] }
Cast = { supported = true, dtypes = ["float32", "float64", "int32"] }
Softmax = { supported = true, lacks = ["13"] }
Exp = { supported = true, lacks = ["13 T: float64"] }
Identity = { supported = true }
Mod = { supported = false }
"""


@pytest.fixture
def pebble(tmp_path: Path) -> Target:
    path = tmp_path / "pebble.toml"
    path.write_text(PROFILE)
    return load_target(path)


def _found(graph: str, target: Target, opset: int = 17, functions: str = "") -> list[Finding]:
    found = graphfix.check(model_of(graph, opset, functions), target)
    return [finding for finding in found if finding.blocks]


def _reported(
    graph: str, target: Target, opset: int = 17, functions: str = ""
) -> list[tuple[str, str]]:
    return [(f.rule, f.feature) for f in _found(graph, target, opset, functions)]


def test_an_operator_that_the_engine_lacks(pebble: Target) -> None:
    graph = "(float[1,2,2] x) => (float[1] y) { m = Mod <fmod = 1> (x, x) y = Det (m) }"
    first, second = _found(graph, pebble)
    assert (first.rule, first.feature, first.certain) == ("stated-operator", "op:Mod", True)
    assert first.message == "Pebble 2.1 has no Mod"
    assert (second.feature, second.engine_text) == ("op:Det", "")
    assert "mod-elimination" in first.removed_by


def test_an_element_type_that_is_not_listed(pebble: Target) -> None:
    graph = (
        "(float[2] x) => (bool[2] y) { d = Cast <to = 11> (x) e = Relu (d) y = Cast <to = 9> (e) }"
    )
    assert _reported(graph, pebble) == [("stated-types", "dtype:Relu.float64")]


def test_indices_and_conditions_have_types_of_their_own(pebble: Target) -> None:
    graph = (
        "(float[2] x, int32[1] i, bool[1] c) => (float[1] y) "
        "{ g = Gather (x, i) y = Where (c, g, g) }"
    )
    assert _reported(graph, pebble) == []


def test_a_type_that_the_engine_turns_into_a_listed_one_is_taken(pebble: Target) -> None:
    graph = "(int32[2] x) => (int32[2] y) { a = Identity (x) y = Add (a, a) }"
    assert _reported(graph, pebble) == []
    wide = (
        "(int32[2] x) => (int32[2] y) <int64[2] k = {1, 2}> "
        "{ a = Add (k, k) y = Cast <to = 6> (a) }"
    )
    assert _reported(wide, pebble) == []


def test_an_unknown_type_is_no_clean_bill(pebble: Target) -> None:
    graph = "(float[2] x) => (float[2] y) { a = com.pebble.Secret (x) y = Relu (a) }"
    (found,) = _found(graph, pebble)
    assert (found.rule, found.certain, found.node.op) == ("types-unknown", False, "Secret")


def test_an_opset_above_the_highest(pebble: Target) -> None:
    graph = "(float[2] x) => (float[2] y) { y = Relu (x) }"
    assert _reported(graph, pebble, 18) == [("stated-opset", "opset:too-high")]
    assert _reported(graph, pebble, 8) == [("stated-oldest-opset", "opset:too-low")]
    assert _reported(graph, pebble, 9) == []


def test_an_opset_above_the_highest_of_an_engine_that_reads_it_is_a_note(tmp_path: Path) -> None:
    path = tmp_path / "lax.toml"
    path.write_text(PROFILE.replace("rejects_above = true", "rejects_above = false"))
    found = graphfix.check(model_of("(float[2] x) => (float[2] y) { y = Relu (x) }", 18), str(path))
    assert [(f.rule, f.blocks) for f in found] == [("stated-opset-unknown", False)]


def test_an_ir_version_above_the_highest(pebble: Target) -> None:
    proto = model_of("(float[2] x) => (float[2] y) { y = Relu (x) }")
    proto.ir_version = 9
    (found,) = graphfix.check(proto, pebble)
    assert (found.rule, found.feature) == ("stated-ir", "ir:too-high")
    assert found.message == "Pebble 2.1 reads IR version 8; the file has 9"


def test_a_domain_that_the_engine_does_not_know(pebble: Target) -> None:
    graph = (
        "(float[2] x) => (float[2] y) "
        "{ a = com.microsoft.Inverse (x) b = com.pebble.Glow (a) y = other.PebbleNms (b) }"
    )
    (found,) = _found(graph, pebble)
    assert (found.rule, found.feature) == ("stated-operator", "op:com.microsoft::Inverse")
    assert found.message == "Pebble 2.1 does not support the domain of com.microsoft::Inverse"


def test_a_domain_in_a_version_above_the_highest(pebble: Target) -> None:
    proto = model_of("(float[2] x) => (float[2] y) { y = Relu (x) }")
    proto.opset_import.add(domain="com.pebble", version=3)
    (found,) = graphfix.check(proto, pebble)
    assert (found.rule, found.feature) == ("stated-domain-version", "domain:too-high.com.pebble")


def test_local_functions_that_the_engine_does_not_read(pebble: Target) -> None:
    call = "(float[2] x) => (float[2] y) { y = local.Twice (x) }"
    body = '<domain: "local", opset_import: ["" : 17]> Twice (a) => (b) { b = Add (a, a) }'
    assert _reported(call, pebble, functions=body) == [("stated-function", "scope:local-function")]


def test_inputs_and_outputs_of_types_that_the_engine_does_not_bind(pebble: Target) -> None:
    graph = "(float16[2] x) => (double[2] y) { r = Relu (x) y = Cast <to = 11> (r) }"
    found = _reported(graph, pebble)
    assert found[:2] == [
        ("stated-io-types", "io:float16-input"),
        ("stated-io-types", "io:float64-output"),
    ]


def test_a_form_or_a_type_that_is_lacking(pebble: Target) -> None:
    graph = "(float[2,2] x) => (float[2,2] y) { y = Softmax (x) }"
    assert _reported(graph, pebble) == [("stated-form", "form:Softmax.13")]
    assert _reported(graph, pebble, 11) == []
    exp = (
        "(float[2] x) => (float[2] y) { d = Cast <to = 11> (x) e = Exp (d) y = Cast <to = 1> (e) }"
    )
    assert _reported(exp, pebble) == [("stated-types", "dtype:Exp.float64")]


def test_what_a_made_up_engine_lacks_is_repaired(pebble: Target) -> None:
    proto = parse(
        '<ir_version: 8, opset_import: ["" : 17, "local" : 1]> g (float[2] x) => (float[2] y) '
        '{ y = local.Twice (x) }\n<domain: "local", opset_import: ["" : 17]> '
        "Twice (a) => (b) { b = Add (a, a) }"
    )
    result = graphfix.run(proto, pebble)
    assert (result.exit_code, [n.op for n in result.model.graph.nodes]) == (0, ["Add"])


def test_engines_with_rules_of_their_own_keep_their_words() -> None:
    graph = "(float[1,2,2] x) => (float[1] y) { y = Det (x) }"
    general = {known.id for known in all_rules() if known.versions == "*"}
    own = {"trt8.6": "opset-too-high", "trt10.1": "opset-too-high", "ort-1.10": "runtime-opset"}
    for name, rule in own.items():
        found = {f.rule for f in graphfix.check(model_of(graph, 25), name)}
        assert rule in found
        assert not general & found


def test_an_own_profile_of_a_known_family_that_rejects_higher_opsets(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(PROFILE.replace('family = "pebble"', 'family = "trt"'))
    proto = model_of("(float[2] x) => (float[2] y) { y = Relu (x) }", 18)
    proto.ir_version = 9
    found = {f.rule for f in graphfix.check(proto, str(path)) if f.blocks}
    assert found == {"stated-opset", "stated-ir"}
