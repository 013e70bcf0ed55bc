"""The JSON view, field by field as schemas/report.schema.json has it.

Every function returns plain dicts, lists and strings that `json.dumps(allow_nan=False)` takes:
msgspec's view of the dataclasses, where their fields have the names of the schema. A number that
is NaN or infinite becomes null, and the object that holds it says `nonfinite`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, cast

from graphfix.report import (
    Accuracy,
    Asked,
    Certificate,
    Finding,
    Outcome,
    Placement,
    Report,
    Site,
    Verification,
)
from graphfix.report.explanations import Explanation, NamedPattern

SCHEMA = 1
Json = dict[str, object]


def plain(value: object) -> Any:
    """Return a value of dataclasses, enumerations, mappings and sequences as JSON has it."""
    from msgspec import to_builtins

    return _finite(to_builtins(value))


def picked(value: object, *names: str, **views: object) -> Json:
    """Return these fields of an object in their order, see `plain`; `views` stand for its own."""
    found: Json = plain(
        {name: views[name] if name in views else getattr(value, name) for name in names}
    )
    return found


def _finite(part: Any) -> Any:
    if isinstance(part, dict):
        fields = cast("Json", part)
        found: Json = {name: _finite(value) for name, value in fields.items()}
        lost = any(found[name] is None and fields[name] is not None for name in fields)
        return {**found, "nonfinite": True} if lost else found
    if isinstance(part, list | tuple):
        return [_finite(item) for item in cast("Sequence[object]", part)]
    return None if isinstance(part, float) and not isfinite(part) else part


def report_json(report: Report) -> Json:
    """Return the object that `graphfix run --json` prints."""
    found: Json = {
        "schema": SCHEMA,
        "graphfix": report.version,
        "target": report.target or None,
        "input": plain(report.input),
        "output": plain(report.output),
        "findings_before": findings_json(report.findings_before),
        "outcomes": _outcomes(report.outcomes),
        "findings_after": findings_json(report.findings_after),
        "io_changes": plain(report.io_changes),
        "verification": verification_json(report.verification),
        "seconds": plain(report.seconds),
    }
    if report.reading is not None:
        found["reading"] = verification_json(report.reading)
    engine = report.engine
    if engine is not None and (engine.did is not Asked.NOT_RUN or engine.questions):
        # One that was asked about nodes, and is not about what is left to be repaired.
        did = Asked.INCONCLUSIVE if engine.did is Asked.NOT_RUN else engine.did
        often: dict[str, Any] = {"questions": engine.questions, "said": engine.said}
        often = {key: value for key, value in often.items() if value}
        found["engine"] = {"title": engine.title, "did": plain(did), **often}
    if report.engine is not None and report.engine.missed:
        found["not_asked"] = True
    if report.reproducers:
        found["reproducers"] = [
            {
                "pass": made.pass_id or None,
                **picked(made, "node", "kind", "folder", "reason", folder=made.folder or None),
            }
            for made in report.reproducers
        ]
    if report.integers is not None:
        found["integers"] = plain(report.integers)
    if report.placed_after is not None:
        from graphfix.rendering.placement_text import joined

        both = {"before": plain(report.placed_before), "after": plain(report.placed_after)}
        made = [{"pass": pass_id, "cuts": plain(cuts)} for pass_id, cuts in joined(report).items()]
        found["placement"] = {**both, "joined": made}
    if report.costs is not None:
        found["costs"] = plain(report.costs)
    if report.front:
        found["front"] = plain(report.front)
    if report.switch:
        found["switch"] = report.switch
    if report.open_inputs and any(finding.blocks for finding in report.findings_after):
        names = (name for name, _ in report.open_inputs)
        found["example_sizes"] = plain(dict(zip(names, report.example_sizes, strict=True)))
    return found


def check_json(
    target: str,
    findings: Iterable[Finding],
    explanations: Iterable[Explanation] = (),
    named: Iterable[NamedPattern] = (),
    placed: Placement | None = None,
) -> Json:
    """Return the object that `graphfix check --json` prints.

    Args:
        target: The resolved target.
        findings: What was found.
        explanations: With `--explain`, one for each finding, in their order.
        named: With `--explain`, what passes that run only when they are named would do.
        placed: Where the nodes run.
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
    if placed is not None:
        result["placement"] = plain(placed)
    if known := [_named_pattern(each) for each in named]:
        result["named"] = known
    return result


def _named_pattern(known: NamedPattern) -> Json:
    refused = [{"node": plain(node), "reason": reason} for node, reason in known.refused]
    return {
        "pass": known.pass_id,
        **picked(known, "sites", "nearest", "reason"),
        "refused": refused,
    }


def _explanation(known: Explanation) -> Json:
    fields = ("choice", "reason", "accuracy", "nodes", "helped_by")
    return {
        **picked(known, "removed", "others"),
        "candidates": [{"pass": c.pass_id, **picked(c, *fields)} for c in known.candidates],
    }


def error_json(code: int, message: str, where: str = "", hint: str = "") -> Json:
    """Return the object for a run that ended in an error; `code` is the exit code."""
    error = {"code": code, "message": message, "where": where, "hint": hint}
    return {"schema": SCHEMA, "error": error}


def findings_json(findings: Iterable[Finding]) -> list[Json]:
    """Return findings in their order."""
    fields = (
        *("rule", "feature", "severity", "certain", "missing", "node", "message"),
        *("engine_text", "removed_by"),
    )
    return [picked(finding, *fields) for finding in findings]


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
    proof = None if site.certificate is None else certificate_json(site.certificate)
    fields = ("node", "accuracy", "removed", "added", "certificate")
    found = picked(site, *fields, certificate=proof)
    return {**found, "reading": site.note} if site.accuracy is Accuracy.MENDED else found


def certificate_json(proof: Certificate) -> Json:
    """Return a certificate."""
    sizes = [picked(each, "name", "shapes") for each in proof.sizes]
    fields = ("status", "max_abs", "max_rel", "samples", "own", "sizes", "shorter", "reason")
    return picked(proof, *fields, sizes=sizes)


def verification_json(found: Verification) -> Json:
    """Return the comparison of the whole model."""
    outputs = [picked(output, "name", "max_abs", "max_rel") for output in found.outputs]
    written = picked(found, "status", "reason", "method", "outputs", outputs=outputs)
    limit = found.expected_rel
    return written if limit is None else {**written, "expected_rel": limit}
