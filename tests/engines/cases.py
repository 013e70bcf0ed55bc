"""Graphs in the text form of ONNX, and what rules say of them.

Most are in text files, `tests/engines/**/pairs/*.txt`. A title names the rule, and may say more
after a colon (``# tile-order: the last axis is right``). Below it are graphs, each with lines that
begin with ``->`` and say for a target what the rule says, of a model of opset 17 unless another is
named:

- ``-> trt8.6: reject op:Mod`` and what the engine's words hold in quotes, if they matter;
- ``-> trt8.6, opset 13: nothing``;
- ``-> trt8.6: unknown: sizes of x``, where the rule names what it would need.

A line that begins with ``##`` is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
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


def assert_case(case: Yes | No | Unknown) -> None:
    """Assert what a rule says, or that it says nothing."""
    match case:
        case Yes():
            assert_yes(case)
        case No():
            assert_no(case)
        case Unknown():
            assert_unknown(case)


_LINE = re.compile(
    r"-> (\S+?)(?:, opset (\d+))?: "
    r"(?:(nothing)|unknown: (.+)|(reject|wrong|builder|note) (\S+)(?: \"(.+)\")?)"
)


def cases_in(path: Path) -> Iterator[tuple[str, str, Yes | No | Unknown]]:
    """Return the cases of a file, each with a name and its line.

    Raises:
        ValueError: A line says nothing that a rule can say, or nothing is above it.
    """
    title, graph, count, is_done = "", "", 0, True
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            title, count = line[2:], 0
        elif line.startswith("-> "):
            said = _LINE.fullmatch(line)
            if said is None or not graph or not title:
                raise ValueError(f"{path}: {line!r} must follow a graph and say what a rule says")
            target, opset, nothing, missing, severity, feature, text = said.groups()
            rule, of, is_done, count = title.partition(":")[0], int(opset or 17), True, count + 1
            if nothing:
                case: Yes | No | Unknown = No(graph, rule, target, of)
            elif missing:
                case = Unknown(graph, rule, missing, target, of)
            else:
                case = Yes(graph, rule, feature, severity, text or "", target, of)
            yield f"{title} ({count})", line, case
        elif line.strip() and not line.startswith("## "):
            graph, is_done = line.strip() if is_done else f"{graph} {line.strip()}", False
