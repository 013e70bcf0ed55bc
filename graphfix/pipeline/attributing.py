"""Saying of each finding which passes remove it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from graphfix.authoring.declaring import Pass
from graphfix.report import APPROXIMATE, EXACT, LOSSY, Finding

_RANK = {EXACT: 0, APPROXIMATE: 1, LOSSY: 2}


def with_removers(findings: Iterable[Finding], passes: Sequence[Pass]) -> tuple[Finding, ...]:
    """Fill in ``removed_by``: computed from what the passes declare, exact ones first."""
    by_feature: dict[tuple[str, str], tuple[str, ...]] = {}
    result: list[Finding] = []
    for finding in findings:
        key = (finding.feature, finding.node.op)
        if key not in by_feature:
            able = [p for p in passes if p.removes_feature(finding.feature)]
            able.sort(key=lambda p: (_RANK[p.accuracy], p.id))
            by_feature[key] = tuple(p.id for p in able)
        result.append(replace(finding, removed_by=by_feature[key]))
    return tuple(result)
