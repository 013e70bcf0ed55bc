"""Layers of language models that onnxruntime 1.32 has as one operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.coverage.contrib.form import Array, Form, const, real, whole

_F16, _F32 = np.float16, np.float32


def forms() -> Iterator[Form]:
    """Yield the forms of recurrences, routers and fused blocks."""
    yield from _delta_nets()
    yield from _routers()
    yield from _mixes()
    yield from _projections()
    yield from _rotated()


def _delta_nets() -> Iterator[Form]:
    op, both = "GatedDeltaNet", [_F32, _F32]
    rows = real(5, 2, 8)
    bounds = np.array([0, 2, 5], np.int32)
    yield Form(op, "linear", [rows, rows, rows, bounds], both, {"update_rule": "linear"})
    q, k, v = real(6, 2, 8), real(6, 2, 8, seed=1), real(6, 4, 3, seed=2)
    decay, rate = -np.abs(real(6, 4, seed=4)), real(6, 4, seed=5)
    state, unit = real(2, 4, 3, 8, seed=3), {"qk_l2_norm": 1}
    ends = np.array([0, 2, 6], np.int32)
    yield Form(op, "gated-delta", [q, k, v, None, decay, rate, state], both, unit)
    yield Form(op, "packed", [q, k, v, ends, decay, rate, state], both, unit)
    yield Form(op, "packed-new", [q, k, v, ends, decay, rate], both, unit)
    only = {"update_rule": "gated", "scale": 0.5}
    yield Form(op, "gated", [q, k, v, None, decay, None, state], both, only)
    only = {"update_rule": "delta", **unit}
    yield Form(op, "delta", [q, k, v, None, None, rate, state], both, only)
    by_key = -np.abs(real(6, 4, 8, seed=6))
    yield Form(op, "by-key", [q, k, v, None, by_key, rate, state], both, unit)
    slope, bias = const(real(4, seed=7)), const(real(4, seed=8))
    raw = real(6, 4, seed=4)
    for name in ("softplus", "sigmoid"):
        active = {**unit, "gate_activation": name, "beta_activation": "sigmoid"}
        inputs = [q, k, v, None, raw, rate, state, slope, bias]
        yield Form(op, f"gates-{name}", inputs, both, active)
    bounded: dict[str, Any] = {**unit, "gate_activation": "kda", "gate_lower_bound": -3.0}
    inputs = [q, k, v, None, real(6, 4, 8, seed=6), rate, state, slope, const(real(4, 8, seed=8))]
    yield Form(op, "gates-by-key", inputs, both, bounded)
    inputs = [q * _F32(1e-3), k * _F32(1e-3), v, None, raw, rate, state, slope, bias]
    active = {**unit, "gate_activation": "kda"}
    yield Form(op, "gates-short-keys", inputs, both, active)

    def apart(x: Array) -> Array:
        return x.reshape(2, 3, *x.shape[1:])

    inputs = [*map(apart, (q, k, v)), None, apart(decay), apart(rate), state]
    yield Form(op, "by-sequence", inputs, both, unit, ((0, 0), (1, 0), (2, 0), (4, 0), (5, 0)))
    short = [q * _F32(1e-6), k * _F32(1e-6), v, None, decay, rate, state]
    yield Form(op, "short-keys", short, both, unit)
    halves = [x.astype(_F16) for x in (q, k, v)]
    yield Form(op, "float16", [*halves, None, decay, rate, state], [_F16, _F32], unit)


def _routers() -> Iterator[Form]:
    op = "MoEGroupRouter"
    logits, bias = real(5, 8), const(real(8, seed=1))
    routed = {"top_k": 2, "n_group": 2, "topk_group": 1}
    yield Form(op, "plain", [logits, bias], [_F32], routed)
    yield Form(op, "one-group", [logits, bias], [_F32], {"top_k": 3})
    several = {"top_k": 3, "n_group": 4, "topk_group": 2, "group_topk": 1, "router_sentinel": -9.0}
    yield Form(op, "groups", [real(2, 3, 8), bias], [_F32], several)
    yield Form(op, "open", [real(2, 3, 8), bias], [_F32], routed, (0, 1))
    yield Form(op, "equal", [np.zeros((2, 8), _F32), const(np.zeros(8, _F32))], [_F32], several)
    least = np.array([[-200, -100, -60, 30, 1, 2, 3, 4]], _F32)
    yield Form(op, "least", [least, bias], [_F32], {"top_k": 8})
    yield Form(op, "float16", [logits.astype(_F16), bias], [_F16], routed)
    yield Form(op, "scores", [logits, bias], [None, _F32, _F32], {"top_k": 2})
    wide, weights = real(5, 256), const(real(8, 256, seed=2) / 16)
    yield Form(op, "projected", [wide, bias, weights], [None, _F32, _F32], {"top_k": 2})


def _mixes() -> Iterator[Form]:
    op, both = "HyperConnectionLowRankMix", [_F32, _F32]
    weights = [
        const(real(32, seed=1)),
        const(real(32, 6, seed=2)),
        const(real(6, 32, seed=3)),
        const(real(32, 4, seed=4)),
    ]
    x, count = real(2, 3, 32), {"num_branches": 4}
    yield Form(op, "plain", [x, *weights], both, count)
    before = [real(2, 3, 8, seed=5), real(2, 3, 4, seed=6)]
    scaled = {"gate_mul": 2.0, "gate_div": 3.0, "silu_alpha": 1.5, "reduction_scale": 0.25}
    yield Form(op, "later", [x, *weights, *before], [*both, _F32], {**count, **scaled})
    inputs = [x, *weights, *before]
    yield Form(op, "open", inputs, [*both, _F32], count, ((0, 0), (5, 0), (6, 0)))


def _projections() -> Iterator[Form]:
    op, both = "RouterGateUpProj", [_F16, _F16]
    x, weights = real(2, 3, 8, dtype=_F16), const(real(8, 10, seed=1, dtype=_F16))
    yield Form(op, "plain", [x, weights], both, {"router_size": 4})
    more = {"limit": 0.5, "activation_alpha": 1.7, "activation_beta": 1.0}
    yield Form(op, "limited", [x, weights], both, {"router_size": 2, **more}, (0,))


def _rotated() -> Iterator[Form]:
    op, whole_head = "RMSNormRotary", {"rotary_embedding_dim": 16, "output_fp16": 1}
    x, scale = real(2, 3, 2, 16, dtype=_F16), const(real(16, seed=1))
    tables = [const(real(6, 8, seed=2)), const(real(6, 8, seed=3))]
    places = whole(0, 6, 2, 3)
    yield Form(op, "plain", [x, scale, places, *tables], [_F16], whole_head)
    base = np.array([2], np.int64)
    yield Form(op, "base", [x, scale, base, *tables], [_F16, _F32], whole_head)
    yield Form(op, "open", [x, scale, base, *tables], [_F16], whole_head, ((0, 0), (0, 1)))
    joined = {**whole_head, "flatten_batch": 1}
    yield Form(op, "joined", [x, scale, places, *tables], [_F16, _F32], joined)
    part = {"rotary_embedding_dim": 4, "input_width": 8, "input_start": 4, "output_fp16": 1}
    few = [const(real(6, 2, seed=2)), const(real(6, 2, seed=3))]
    yield Form(op, "part", [x, const(real(8, seed=1)), places, *few], [_F16], part)
