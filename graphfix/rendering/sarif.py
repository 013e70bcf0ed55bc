"""Findings as SARIF 2.1.0, which code hosts and editors read.

As https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html has it: a finding is a
result, its node a logical location (section 3.33) of the file, since a model has no lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from graphfix.ir.version import __version__
from graphfix.rendering.as_json import Json
from graphfix.rendering.grouping import SEVERITY_MEANS, node_label
from graphfix.rendering.style import printable
from graphfix.report import Finding, NodeRef, Severity

SCHEMA_URI = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {Severity.FALLBACK: "warning", Severity.NOTE: "note"}


def check_sarif(path: str, target: str, findings: Sequence[Finding]) -> Json:
    """Return the SARIF log of a check.

    Args:
        path: The model, as it was named.
        target: The resolved target.
        findings: What was found.
    """
    rules = {f.rule: f for f in reversed(findings)}
    order = {rule: at for at, rule in enumerate(rules)}
    driver: Json = {
        "name": "graphfix",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(known) for known in rules.values()],
    }
    run: Json = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "properties": {"target": target},
        "results": [_result(f, order[f.rule], path, target) for f in findings],
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def joined_sarif(logs: Sequence[Any]) -> Json:
    """Return one log of those of several models for the same target: one run has all results."""
    rules: dict[str, Any] = {}
    results: list[Json] = []
    for run in (log["runs"][0] for log in logs):
        for rule in run["tool"]["driver"]["rules"]:
            rules.setdefault(rule["id"], rule)
        results += run["results"]
    order = {rule: at for at, rule in enumerate(rules)}
    if not logs:
        return check_sarif("", "", ())
    first = logs[0]["runs"][0]
    driver = {**first["tool"]["driver"], "rules": list(rules.values())}
    placed = [{**each, "ruleIndex": order[str(each["ruleId"])]} for each in results]
    run = {**first, "tool": {"driver": driver}, "results": placed}
    return {**logs[0], "runs": [run]}


def _rule(known: Finding) -> Json:
    rule: Json = {
        "id": known.rule,
        "shortDescription": {"text": known.rule.replace("-", " ")},
        "defaultConfiguration": {"level": _LEVELS.get(known.severity, "error")},
        "help": {"text": _help(known)},
    }
    return rule


def _help(known: Finding) -> str:
    source = f" Source: {printable(known.source)}." if known.source else ""
    return f"{known.severity}: {SEVERITY_MEANS[known.severity]}.{source}"


def _result(found: Finding, rule: int, path: str, target: str) -> Json:
    level = _LEVELS.get(found.severity, "error" if found.certain else "warning")
    said = printable(found.message)
    if found.engine_text:
        said += "\n" + "\n".join(printable(line) for line in found.engine_text.splitlines())
    if found.removed_by:
        said += f"\nRemoved by {', '.join(found.removed_by)}."
    location: Json = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(PurePath(path).as_posix())},
            "region": {"startLine": 1},
        }
    }
    if found.node.op:
        location["logicalLocations"] = [_logical(found.node)]
    return {
        "ruleId": found.rule,
        "ruleIndex": rule,
        "level": level,
        "message": {"text": said},
        "locations": [location],
        "partialFingerprints": {"graphfixFinding/v1": _fingerprint(found, path, target)},
        "properties": {
            "feature": printable(found.feature),
            "severity": str(found.severity),
            "certain": found.certain,
            "removedBy": list(found.removed_by),
        },
    }


def _logical(node: NodeRef) -> Json:
    name = node_label(node)
    return {
        "name": printable(node.name or next(filter(None, node.outputs), "") or node.op),
        "fullyQualifiedName": printable(f"{node.scope}/{node.name or name}"),
        "decoratedName": printable(f"{node.domain}::{node.op}" if node.domain else node.op),
        "kind": "object",
    }


def _fingerprint(found: Finding, path: str, target: str) -> str:
    """Return what stays the same while a finding does: the rule, the node and where it is."""
    node = found.node
    parts = (path, target, found.rule, found.feature, node.scope, node.name, *node.outputs)
    return sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()
