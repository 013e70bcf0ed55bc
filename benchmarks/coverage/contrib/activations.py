"""Biases, activations and gates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.coverage.contrib.form import Form, const, real

_X = real(2, 3, 8)
_BIAS = const(real(8, seed=1))


def forms() -> Iterator[Form]:
    """Yield the forms."""
    for operator in ("Gelu", "QuickGelu", "FastGelu"):
        yield Form(operator, "plain", [_X])
        yield Form(operator, "open", [_X], free=(0, 1))
        yield Form(operator, "float16", [_X.astype(np.float16)], [np.float16])
    yield Form("QuickGelu", "alpha", [_X], attributes={"alpha": 0.5})
    for operator in ("BiasGelu", "FastGelu"):
        yield Form(operator, "bias", [_X, _BIAS])
        yield Form(operator, "open-bias", [_X, _BIAS], free=(0, 1))
    yield Form("BiasSplitGelu", "plain", [_X, _BIAS])
    yield Form("BiasSplitGelu", "open", [_X, _BIAS], free=(0, 1))
    yield Form("BiasAdd", "plain", [_X, _BIAS, real(2, 3, 8, seed=2)])
    yield Form("BiasAdd", "open", [_X, _BIAS, real(2, 3, 8, seed=2)], free=(0, 1))
    yield from _softmaxes()
    yield from _dropouts()
    yield Form("GemmFastGelu", "plain", [_X, const(real(8, 5, seed=3))])
    yield Form("GemmFastGelu", "bias", [_X, const(real(8, 5, seed=3)), const(real(5, seed=4))])
    yield from _gates()
    yield from _streams()


def _softmaxes() -> Iterator[Form]:
    scores = real(2, 4, 3, 5)
    for inner, shape in ((1, (2, 1, 1, 5)), (0, (2, 4, 3, 5))):
        name = "inner" if inner else "outer"
        attributes = {"axis": 3, "is_inner_broadcast": inner}
        bias = real(*shape, seed=1)
        yield Form("BiasSoftmax", name, [scores, bias], attributes=attributes)
    yield Form(
        "BiasSoftmax",
        "axis1",
        [real(2, 3, 4), real(1, 3, 4, seed=1)],
        attributes={"axis": 1, "is_inner_broadcast": 0},
    )


def _dropouts() -> Iterator[Form]:
    ratio, training = const(np.float32(0.5)), const(False)
    residual = real(2, 3, 8, seed=2)
    yield Form("BiasDropout", "plain", [_X, _BIAS])
    yield Form("BiasDropout", "residual", [_X, _BIAS, residual, ratio, training])
    yield Form("BiasDropout", "mask", [_X, _BIAS, residual, ratio], [np.float32, np.bool_])
    trained = const(True)
    yield Form("BiasDropout", "training", [_X, _BIAS, residual, ratio, trained])
    yield Form("BitmaskBiasDropout", "residual", [_X, _BIAS, residual, ratio, training])
    yield Form("BitmaskBiasDropout", "mask", [_X, _BIAS, residual], [np.float32, np.uint32])
    yield Form("BitmaskDropout", "plain", [_X, ratio])
    yield Form("BitmaskDropout", "mask", [_X, ratio], [np.float32, np.uint32])


def _gates() -> Iterator[Form]:
    other = real(2, 3, 8, seed=1)
    yield Form("GatedAdd", "plain", [_X, other, real(2, 3, 1, seed=2)])
    yield Form("ScaledSiLU", "alpha", [_X], attributes={"alpha": 0.7})
    yield Form("ScaledSiLU", "scale", [_X, const(np.float32(0.3))])
    yield Form("SwiGLU", "plain", [_X, other])
    yield Form(
        "SwiGLU",
        "limited",
        [_X, other],
        attributes={"limit": 0.5, "activation_alpha": 1.7, "activation_beta": 1.0},
    )
    yield Form(
        "LinearAttentionGate",
        "both",
        [_X, _BIAS, const(-np.abs(real(8, seed=2))), other],
        [np.float32, np.float32],
    )
    yield Form("LinearAttentionGate", "decay", [_X, _BIAS, const(-np.abs(real(8, seed=2)))])


def _streams() -> Iterator[Form]:
    streams = real(2, 3, 4, 8)
    yield Form("HyperConnectionPreMix", "by-branch", [streams, real(2, 3, 4, seed=1)])
    yield Form("HyperConnectionPreMix", "by-number", [streams, real(2, 3, 4, 8, seed=1)])
    flat, count = streams.reshape(2, 3, 32), {"num_branches": 4}
    scaled = {**count, "reduction_scale": 0.5}
    yield Form("HyperConnectionPreMix", "flat", [flat, real(2, 3, 32, seed=1)], attributes=scaled)
    mixed = [flat, real(2, 3, 4, seed=1)]
    yield Form("HyperConnectionPreMix", "flat-open", mixed, [np.float32], count, (0, 1))
    yield Form(
        "HyperConnectionPostMix",
        "mixed",
        [streams, real(2, 3, 8, seed=1), real(2, 3, 4, seed=2), real(2, 3, 4, 4, seed=3)],
    )
    yield Form(
        "HyperConnectionPostMix",
        "plain",
        [streams, real(2, 3, 8, seed=1), real(2, 3, 4, seed=2)],
    )
    inputs = [flat, real(2, 3, 8, seed=1), real(2, 3, 4, 1, seed=2), real(2, 3, 4, 4, seed=3)]
    yield Form("HyperConnectionPostMix", "flat-open", inputs, [np.float32], count, (0, 1))
    keys = real(2, 3, 4, 8, seed=1)
    scales = [const(real(4, 8, seed=at)) for at in (3, 4)]
    gate = [keys, streams, real(2, 3, 8, seed=2), *scales]
    yield Form("EngramGate", "plain", gate)
    yield Form("EngramGate", "open", gate, free=(0, 1))
    both = [np.float32, np.float32]
    yield Form("EngramGate", "normed", [*gate, const(real(4, 8, seed=5))], both)
