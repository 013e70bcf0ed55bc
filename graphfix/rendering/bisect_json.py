"""The JSON views of `graphfix bisect`, as schemas/bisect.schema.json has them."""

from __future__ import annotations

from graphfix.bisection.bisecting import Blamed, RunBisection
from graphfix.proving.layers.divergence import Bisection, Divergence
from graphfix.rendering.as_json import SCHEMA, Json, picked, plain, site_json, verification_json
from graphfix.rendering.diff_json import weight_json


def bisect_json(before: str, after: str, found: Bisection) -> Json:
    """Return the object that `graphfix bisect A B --json` prints."""
    return {
        "schema": SCHEMA,
        "before": before,
        "after": after,
        "status": str(found.status),
        "verification": verification_json(found.comparison.verification),
        "compared": len(found.comparison.layers),
        "layers_reason": found.comparison.layers_reason,
        "notes": list(found.comparison.notes),
        "first": None if found.divergence is None else _divergence(found.divergence),
    }


def _divergence(found: Divergence) -> Json:
    weights = [weight_json(change) for change in found.weights]
    return {
        "tensor": plain(found.layer),
        "new_node": plain(found.after),
        "inputs": plain(found.operands),
        **picked(found, "inputs_equal", "unseen", "fields", "weights", "inner", weights=weights),
    }


def bisect_run_json(model: str, found: RunBisection) -> Json:
    """Return the object that `graphfix bisect MODEL --target T --json` prints."""
    return {
        "schema": SCHEMA,
        "model": model,
        "target": found.target or None,
        "status": str(found.status),
        "verification": verification_json(found.verification),
        "sites": found.sites,
        "comparisons": found.comparisons,
        "first": None if found.first is None else _blamed(found.first),
        "place": found.place or None,
        "together": [_blamed(blamed) for blamed in found.together],
        "without": None if found.right is None else verification_json(found.right),
        "with": None if found.wrong is None else verification_json(found.wrong),
    }


def _blamed(blamed: Blamed) -> Json:
    return {"passes": list(blamed.passes), "site": site_json(blamed.site)}
