"""The JSON view of an inspection."""

from __future__ import annotations

from collections.abc import Iterable

from graphfix.inspection.inspection import ExternalFile, Inspection, Port, Weight
from graphfix.pipeline.reach import Reach
from graphfix.rendering.as_json import SCHEMA, Json, picked


def inspect_json(found: Inspection, reach: Reach | None = None) -> Json:
    """Return the object that `graphfix inspect --json` prints.

    An open dimension is its name or null, a shape of unknown rank is null, ``""`` is the default
    domain, and `since_opset` is null for an operator that ONNX does not define. `reach` is there
    where it was asked for.
    """
    fields = (
        *("path", "bytes", "ir_version", "opsets", "lowest_opset", "producer", "inputs"),
        *("outputs", "nodes", "operators", "weights", "functions", "external_data", "metadata"),
    )
    answer = picked(
        found,
        *fields,
        inputs=_named(found.inputs),
        outputs=_named(found.outputs),
        operators=[
            picked(o, "domain", "op", "count", "since_opset", count=o.nodes)
            for o in found.histogram
        ],
        weights={
            "count": found.weight_count,
            "bytes": found.weight_bytes,
            "biggest": _named(found.weights),
        },
        external_data=_named(found.external),
    )
    if reach is not None:
        answer["reach"] = {"lowest_opset": reach.lowest, **picked(reach, "blockers")}
    return {"schema": SCHEMA, **answer}


def _named(rows: Iterable[Port | Weight | ExternalFile]) -> list[Json]:
    """Return named tuples as objects."""
    return [picked(row, *row._fields) for row in rows]
