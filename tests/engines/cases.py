"""Graphs in the text form of ONNX, and what rules say of them."""

from __future__ import annotations

from typing import NamedTuple

import onnx

from graphfix.analysis.inference import infer_model
from graphfix.engines.checking import check_model
from graphfix.engines.targets import load_target
from graphfix.ir.model import Model
from graphfix.report import Finding


class Yes(NamedTuple):
    """A graph, and the one finding that a rule gives for it."""

    graph: str
    rule: str
    feature: str
    severity: str
    text: str = ""
    target: str = "trt8.6"
    opset: int = 17


class No(NamedTuple):
    """A graph that a rule says nothing about."""

    graph: str
    rule: str
    target: str = "trt8.6"
    opset: int = 17


class Unknown(NamedTuple):
    """A graph that a rule cannot judge, and what it misses."""

    graph: str
    rule: str
    missing: str
    target: str = "trt8.6"
    opset: int = 17


def model_of(graph: str, opset: int = 17, functions: str = "") -> onnx.ModelProto:
    """Parse a graph such as ``(float[2] x) => (float[2] y) {...}``."""
    imports = f'"" : {opset}' + (', "local" : 1' if functions else "")
    return onnx.parser.parse_model(
        f"<ir_version: 8, opset_import: [{imports}]> g {graph}\n{functions}"
    )


def check(proto: onnx.ModelProto, target: str = "trt8.6") -> tuple[Finding, ...]:
    """Return all findings of a model."""
    model = Model(proto)
    infer_model(model)
    return check_model(model, load_target(target))


def _of(case: Yes | No | Unknown) -> list[Finding]:
    found = check(model_of(case.graph, case.opset), case.target)
    return [finding for finding in found if finding.rule == case.rule]


def assert_yes(case: Yes) -> None:
    """Assert that the rule gives exactly this finding, certain and with its source."""
    found = _of(case)
    assert [(f.feature, str(f.severity), f.certain) for f in found] == [
        (case.feature, case.severity, True)
    ]
    assert case.text in found[0].engine_text
    assert found[0].source
    assert "{" not in found[0].message


def assert_no(case: No) -> None:
    """Assert that the rule says nothing."""
    assert _of(case) == []


def assert_unknown(case: Unknown) -> None:
    """Assert that the rule says what it would need to know."""
    assert [(f.certain, f.missing) for f in _of(case)] == [(False, case.missing)]
