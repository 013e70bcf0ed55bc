"""SwiGLU: one half of what a layer gives opens a gate for the other half."""

from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Value

from ._gelu import silu, silu_of


def swiglu(inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
    """Compute in float64."""
    gate, up = (np.asarray(x, np.float64) for x in inputs[:2])
    limit = float(attributes.get("limit", 0.0))
    if limit > 0:
        gate, up = np.minimum(gate, limit), np.clip(up, -limit, limit)
    alpha, beta = (
        float(attributes.get(f"activation_{n}", d)) for n, d in (("alpha", 1), ("beta", 0))
    )
    return ((silu_of(gate, alpha) * (up + beta)).astype(np.asarray(inputs[0]).dtype),)


def swiglu_of(node: NodeView, build: Builder, gate: Value, up: Value) -> Value:
    """Return the second half through the gate of the first, by the attributes of a node."""
    limit = float(node.attr("limit", 0.0))
    if limit > 0:
        low, high = np.float32(-limit), np.float32(limit)
        gate = build.Min(gate, limit)
        up = build.Clip(up, min=low, max=high)
    beta = float(node.attr("activation_beta", 0.0))
    active = silu(build, gate, float(node.attr("activation_alpha", 1.0)))
    return build.Mul(active, build.Add(up, beta) if beta else up)
