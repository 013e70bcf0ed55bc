"""The JSON view of a replay, as docs/report.schema.json has it."""

from __future__ import annotations

from graphfix.rendering.as_json import SCHEMA, Json, certificate_json, node_json
from graphfix.reproducers.replaying import Replay


def replay_json(found: Replay) -> Json:
    """Return the object that `graphfix replay --json` prints."""
    return {
        "schema": SCHEMA,
        "folder": found.folder,
        "kind": found.kind,
        "pass": found.pass_id or None,
        "node": node_json(found.node),
        "shows": found.shows,
        "then": found.then,
        "now": found.now,
        "certificate": None if found.certificate is None else certificate_json(found.certificate),
        "versions": dict(found.versions),
        "versions_now": dict(found.versions_now),
        "pass_files": list(found.pass_files),
        "anonymized": found.anonymised or None,
        "notes": list(found.notes),
    }
