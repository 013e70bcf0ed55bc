"""Engines that hold every float in float16: what that changes is found by running it."""

from __future__ import annotations

import pytest
from onnx import ModelProto

import graphfix
from graphfix.report import Finding, Severity
from graphfix.testing import parse

RULE = "beyond-float16"
HEAD = '<ir_version: 8, opset_import: ["" : 13]> model '
TOWER = (
    "(float[2,64] x) => (float[2,64] y) "
    "{ m = {FIRST} a = Exp (m) [second] b = Exp (a) y = Log (b) }"
)
LARGE = HEAD + TOWER.replace("{FIRST}", "Sum (x, x)")
SMALL = HEAD + TOWER.replace("{FIRST}", "Tanh (x)")


def _found(model: ModelProto, target: str, **options: str) -> tuple[int, list[Finding]]:
    result = graphfix.run(model, target, **options)  # type: ignore[arg-type]
    return result.exit_code, [f for f in result.report.findings_after if f.rule == RULE]


@pytest.mark.parametrize("target", ["qnn2", "rknn2.3"])
def test_what_overflows_is_named(target: str) -> None:
    code, found = _found(parse(LARGE), target)
    assert code == 1
    assert [(f.severity, f.certain, f.node.name) for f in found] == [
        (Severity.WRONG, False, "second")
    ]
    assert "Exp 'second' gives" in found[0].message
    assert "65504 is the largest" in found[0].message


@pytest.mark.parametrize("target", ["qnn2", "rknn2.3"])
def test_what_float16_holds_is_fixed(target: str) -> None:
    assert _found(parse(SMALL), target) == (0, [])


def test_the_model_as_it_came_has_the_same_finding() -> None:
    """Or a run would seem to make it worse."""
    result = graphfix.run(parse(LARGE), "qnn2")
    assert RULE in {f.rule for f in result.report.findings_before}


def test_other_engines_are_not_asked() -> None:
    assert _found(parse(LARGE), "openvino2026.4") == (0, [])


@pytest.mark.parametrize("verify", ["off", "sites"])
def test_only_where_the_whole_is_compared(verify: str) -> None:
    assert _found(parse(LARGE), "qnn2", verify=verify)[1] == []


def test_what_is_lost_without_overflow_names_the_output() -> None:
    constant = "{" + ", ".join(["30000.0"] * 20) + "}"
    ends = f"(float[4,5] x) => (float[4,5] y) <float[4,5] c = {constant}> "
    model = parse(HEAD + ends + "{ a = Add (x, c) y = Sub (a, c) }")
    code, found = _found(model, "qnn2")
    assert code == 1
    assert found[0].node.op == ""
    assert "output y: " in found[0].message
    assert "largest" not in found[0].message.partition("output y")[0]


def test_masks_are_clipped_as_converters_do() -> None:
    model = parse(
        HEAD + "(float[2,4] x, float[2,4] m) => (float[2,4] y) "
        "<float[1] big = {-3.4e38}, float[1] one = {1.0}> "
        "{ f = Sign (m) i = Sub (one, f) k = Mul (i, big) s = Add (x, k) y = Softmax (s) }",
    )
    assert [f for f in _found(model, "qnn2")[1] if f.node.name] == []
