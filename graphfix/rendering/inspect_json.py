"""The JSON view of an inspection."""

from __future__ import annotations

from collections.abc import Iterable

from graphfix.pipeline.inspecting import Inspection, Port
from graphfix.pipeline.reaching import Reach
from graphfix.rendering.as_json import SCHEMA, Json, node_json


def inspect_json(found: Inspection, reach: Reach | None = None) -> Json:
    """Return the object that `graphfix inspect --json` prints.

    An open dimension is its name or null, a shape of unknown rank is null, ``""`` is the default
    domain, and `since_opset` is null for an operator that ONNX does not define. `reach` is there
    where it was asked for.
    """
    return {
        "schema": SCHEMA,
        "path": found.path,
        "bytes": found.bytes,
        "ir_version": found.ir_version,
        "opsets": dict(found.opsets),
        "lowest_opset": found.lowest_opset,
        "producer": found.producer,
        "inputs": _ports(found.inputs),
        "outputs": _ports(found.outputs),
        "nodes": found.nodes,
        "operators": [
            {"domain": o.domain, "op": o.op, "count": o.nodes, "since_opset": o.since_opset}
            for o in found.histogram
        ],
        "weights": {
            "count": found.weight_count,
            "bytes": found.weight_bytes,
            "biggest": [
                {"name": w.name, "dtype": w.dtype, "shape": list(w.shape), "bytes": w.bytes}
                for w in found.weights
            ],
        },
        "functions": list(found.functions),
        "external_data": [
            {"path": e.path, "bytes": e.bytes, "exists": e.exists, "outside": e.outside}
            for e in found.external
        ],
        "metadata": dict(found.metadata),
        **({} if reach is None else {"reach": _reach(reach)}),
    }


def _ports(ports: Iterable[Port]) -> list[Json]:
    return [
        {"name": p.name, "dtype": p.dtype, "shape": None if p.shape is None else list(p.shape)}
        for p in ports
    ]


def _reach(reach: Reach) -> Json:
    blockers = [{"node": node_json(b.node), "reason": b.reason} for b in reach.blockers]
    return {"lowest_opset": reach.lowest, "blockers": blockers}
