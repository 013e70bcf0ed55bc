"""The JSON view of a replay, as schemas/report.schema.json has it."""

from __future__ import annotations

from graphfix.pipeline.reproducers.replay import Replay
from graphfix.rendering.as_json import SCHEMA, Json, certificate_json, picked


def replay_json(found: Replay) -> Json:
    """Return the object that `graphfix replay --json` prints."""
    fields = (
        *("folder", "kind", "pass", "node", "shows", "then", "now", "certificate"),
        *("versions", "versions_now", "pass_files", "anonymized", "notes"),
    )
    views = {
        "pass": found.pass_id or None,
        "certificate": None if found.certificate is None else certificate_json(found.certificate),
        "anonymized": found.anonymised or None,
    }
    return {"schema": SCHEMA, **picked(found, *fields, **views)}
