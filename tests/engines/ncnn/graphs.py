"""Graphs that several tests of ncnn's rules begin with, and its cases."""

from __future__ import annotations

from tests.engines.cases import Yes

T = "ncnn1.0"
X = "(float[2,3] x) => (float[A,B] y) "
IMAGE = "(float[1,4,5,5] x) => (float[A,B,C,D] y) "


def yes(graph: str, rule: str, feature: str, severity: str = "reject", opset: int = 13) -> Yes:
    """Return a case of a rule that finds something, in ncnn."""
    return Yes(graph, rule, feature, severity, "", T, opset)
