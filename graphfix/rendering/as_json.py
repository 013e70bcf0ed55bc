"""The JSON view, field by field as docs/report.schema.json has it.

Every function returns plain dicts, lists and strings that `json.dumps(allow_nan=False)` takes. A
number that is NaN or infinite becomes null, and the object that holds it says `nonfinite`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite

from graphfix.report import (
    Certificate,
    Explanation,
    FileFacts,
    Finding,
    NodeRef,
    Outcome,
    Report,
    Site,
    Verification,
)

SCHEMA = 1
Json = dict[str, object]


def report_json(report: Report) -> Json:
    """Return the object that `graphfix run --json` prints."""
    found: Json = {
        "schema": SCHEMA,
        "graphfix": report.version,
        "target": report.target or None,
        "input": _file(report.input),
        "output": None if report.output is None else _file(report.output),
        "findings_before": findings_json(report.findings_before),
        "outcomes": _outcomes(report.outcomes),
        "findings_after": findings_json(report.findings_after),
        "io_changes": [{"name": c.name, "old": c.old, "new": c.new} for c in report.io_changes],
        "verification": verification_json(report.verification),
        "seconds": numbers_json(report.seconds),
    }
    if report.reproducers:
        found["reproducers"] = [
            {
                "pass": made.pass_id or None,
                "node": node_json(made.node),
                "kind": made.kind,
                "folder": made.folder or None,
                "reason": made.reason,
            }
            for made in report.reproducers
        ]
    return found


def check_json(
    target: str, findings: Iterable[Finding], explanations: Iterable[Explanation] = ()
) -> Json:
    """Return the object that `graphfix check --json` prints.

    Args:
        target: The resolved target.
        findings: What was found.
        explanations: With `--explain`, one for each finding, in their order.
    """
    found = tuple(findings)
    explained = tuple(explanations)
    result: Json = {
        "schema": SCHEMA,
        "target": target,
        "ok": not any(f.blocks for f in found),
        "findings": findings_json(found),
    }
    if explained:
        result["explanations"] = [_explanation(known) for known in explained]
    return result


def _explanation(known: Explanation) -> Json:
    return {
        "removed": known.removed,
        "others": list(known.others),
        "candidates": [
            {
                "pass": c.pass_id,
                "choice": str(c.choice),
                "reason": c.reason,
                "accuracy": None if c.accuracy is None else str(c.accuracy),
                "nodes": c.nodes,
                "helped_by": list(c.helped_by),
            }
            for c in known.candidates
        ],
    }


def error_json(code: int, message: str, where: str = "", hint: str = "") -> Json:
    """Return the object for a run that ended in an error; `code` is the exit code."""
    error = {"code": code, "message": message, "where": where, "hint": hint}
    return {"schema": SCHEMA, "error": error}


def findings_json(findings: Iterable[Finding]) -> list[Json]:
    """Return findings in their order."""
    return [
        {
            "rule": f.rule,
            "feature": f.feature,
            "severity": str(f.severity),
            "certain": f.certain,
            "missing": f.missing,
            "node": node_json(f.node),
            "message": f.message,
            "engine_text": f.engine_text,
            "removed_by": list(f.removed_by),
        }
        for f in findings
    ]


def node_json(node: NodeRef) -> Json:
    return {
        "name": node.name,
        "index": node.index,
        "op": node.op,
        "domain": node.domain,
        "outputs": list(node.outputs),
        "scope": node.scope,
    }


def _file(facts: FileFacts) -> Json:
    return {
        "path": facts.path,
        "sha256": facts.sha256,
        "opset": facts.opset,
        "ir_version": facts.ir_version,
        "nodes": facts.nodes,
        "bytes": facts.bytes,
    }


def _outcomes(outcomes: Iterable[Outcome]) -> list[Json]:
    """Return one entry per pass and status; reasons that differ are joined, sites follow on."""
    merged: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        merged.setdefault((outcome.pass_id, str(outcome.status)), []).append(outcome)
    return [
        {
            "pass": pass_id,
            "status": status,
            "reason": "; ".join(dict.fromkeys(o.reason for o in group if o.reason)),
            "sites": [site_json(site) for o in group for site in o.sites],
        }
        for (pass_id, status), group in merged.items()
    ]


def site_json(site: Site) -> Json:
    """Return a site with its certificate."""
    return {
        "node": node_json(site.node),
        "accuracy": str(site.accuracy),
        "removed": [node_json(node) for node in site.removed],
        "added": [node_json(node) for node in site.added],
        "certificate": None if site.certificate is None else certificate_json(site.certificate),
    }


def certificate_json(proof: Certificate) -> Json:
    measured = numbers_json({"max_abs": proof.max_abs, "max_rel": proof.max_rel})
    return {
        "status": str(proof.status),
        **measured,
        "samples": proof.samples,
        "own": proof.own,
        "reason": proof.reason,
    }


def verification_json(found: Verification) -> Json:
    return {
        "status": str(found.status),
        "reason": found.reason,
        "method": found.method,
        "outputs": [
            {"name": o.name, **numbers_json({"max_abs": o.max_abs, "max_rel": o.max_rel})}
            for o in found.outputs
        ],
    }


def numbers_json(values: Mapping[str, float | None]) -> Json:
    """Return the numbers with null for what JSON has no word for, and a flag that says so."""
    finite = {k: v if v is not None and isfinite(v) else None for k, v in values.items()}
    lost = any(v is not None and not isfinite(v) for v in values.values())
    return {**finite, "nonfinite": True} if lost else dict(finite)
