"""Normalisations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.coverage.contrib.form import Array, Const, Form, const, real, whole

_X, _SKIP = real(2, 3, 8), real(2, 3, 8, seed=1)
_GAMMA, _BETA, _BIAS = (const(real(8, seed=at)) for at in (2, 3, 4))
_ALL = [np.float32, np.float32, np.float32, np.float32]


def forms() -> Iterator[Form]:
    """Yield the forms."""
    yield from _skips()
    yield from _groups()
    yield from _roots()
    yield from _embeddings()


def _skips() -> Iterator[Form]:
    eps = {"epsilon": 1e-5}
    forms_of: dict[str, list[Array | Const]] = {
        "SkipLayerNormalization": [_X, _SKIP, _GAMMA, _BETA, _BIAS],
        "SkipSimplifiedLayerNormalization": [_X, _SKIP, _GAMMA, _BIAS],
    }
    for operator, inputs in forms_of.items():
        yield Form(operator, "gamma", inputs[:3], attributes=eps)
        yield Form(operator, "all", inputs, attributes=eps)
        yield Form(operator, "open", inputs, attributes=eps, free=(0, 1))
        yield Form(operator, "sum", inputs, [np.float32, None, None, np.float32], eps)
        flat = [inputs[0], real(1, 3, 8, seed=1), *inputs[2:]]
        yield Form(operator, "one-skip", flat, attributes=eps)
        yield Form(operator, "skip-of-rank-2", [_X, real(3, 8, seed=1), *inputs[2:]], [np.float32])
        matrix = [real(3, 8), real(3, 8, seed=1), *inputs[2:]]
        yield Form(operator, "matrix", matrix, attributes=eps)
        half = [
            const(i.array.astype(np.float16)) if isinstance(i, Const) else i.astype(np.float16)
            for i in inputs
        ]
        yield Form(operator, "float16", half, [np.float16], eps)


def _groups() -> Iterator[Form]:
    gamma, beta = const(real(8, seed=1)), const(real(8, seed=2))
    first, last = real(2, 8, 3, 5), real(2, 3, 5, 8)
    for layout, x in ((0, first), (1, last)):
        for act in (0, 1):
            attributes = {"activation": act, "groups": 4, "channels_last": layout, "epsilon": 1e-5}
            name = f"{'last' if layout else 'first'}-{'silu' if act else 'plain'}"
            yield Form("GroupNorm", name, [x, gamma, beta], attributes=attributes)
            yield Form(
                "GroupNorm", name + "-open", [x, gamma, beta], [np.float32], attributes, (0,)
            )
    attributes = {"activation": 1, "groups": 4, "epsilon": 1e-5}
    skip, bias = real(2, 3, 5, 8, seed=3), const(real(8, seed=4))
    several = [np.float32, np.float32]
    yield Form("SkipGroupNorm", "plain", [last, gamma, beta, skip], attributes=attributes)
    yield Form("SkipGroupNorm", "all", [last, gamma, beta, skip, bias], several, attributes)
    row = real(2, 8, seed=5)
    yield Form("SkipGroupNorm", "row", [last, gamma, beta, row, bias], several, attributes)
    corner = real(2, 1, 1, 8, seed=5)
    yield Form("SkipGroupNorm", "corner", [last, gamma, beta, corner], [np.float32], attributes)


def _roots() -> Iterator[Form]:
    scale = const(real(8, seed=1))
    yield Form("SimplifiedLayerNormalization", "plain", [_X, scale], domain="")
    yield Form("SimplifiedLayerNormalization", "open", [_X, scale], free=(0, 1), domain="")
    yield Form("GatedRMSNorm", "silu", [_X, scale, _SKIP], attributes={"epsilon": 1e-5})
    yield Form("GatedRMSNorm", "sigmoid", [_X, scale, _SKIP], attributes={"activation": "sigmoid"})
    yield Form("BranchwiseRMSNorm", "grouped", [real(2, 3, 4, 8), const(real(4, 8, seed=1))])
    yield Form("BranchwiseRMSNorm", "bare", [real(2, 3, 4, 8)])
    yield Form(
        "BranchwiseRMSNorm",
        "flat",
        [real(2, 3, 32), const(real(32, seed=1))],
        attributes={"num_branches": 4},
    )


def _embeddings() -> Iterator[Form]:
    words, places, segments = (const(real(size, 8, seed=size)) for size in (12, 6, 2))
    ids = whole(0, 12, 2, 5, dtype=np.int32)
    kinds = whole(0, 2, 2, 5, dtype=np.int32)
    gamma, beta = const(real(8, seed=1)), const(real(8, seed=2))
    mask = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
    outputs = [np.float32, np.int32]
    base = [ids, kinds, words, places, segments, gamma, beta]
    yield Form("EmbedLayerNormalization", "plain", base, outputs)
    yield Form("EmbedLayerNormalization", "mask", [*base, mask], outputs)
    yield Form("EmbedLayerNormalization", "open", [*base, mask], outputs, free=(0, 1))
    yield Form(
        "EmbedLayerNormalization",
        "no-segments",
        [ids, None, words, places, None, gamma, beta, mask],
        [np.float32, np.int32, np.float32],
    )
    given = whole(0, 6, 2, 5, seed=3, dtype=np.int32)
    yield Form("EmbedLayerNormalization", "positions", [*base, mask, given], outputs)
    yield from _quantized_embeddings(ids, kinds, mask)


def _quantized_embeddings(ids: Array, kinds: Array, mask: Array) -> Iterator[Form]:
    tables = [const(whole(0, 256, size, 8, seed=size, dtype=np.uint8)) for size in (12, 6, 2)]
    rows = [const(whole(0, 256, 8, seed=seed, dtype=np.uint8)) for seed in (1, 2)]
    scales = [const(np.float32(0.01 * (at + 1))) for at in range(5)]
    zeros = [const(np.uint8(120 + at)) for at in range(5)]
    inputs = [ids, kinds, *tables, *rows, mask, *scales, *zeros]
    outputs = [np.float32, np.int32]
    yield Form("QEmbedLayerNormalization", "all", inputs, outputs)
    bare = [ids, None, *tables[:2], None, *rows, mask, *scales[:2], None, *scales[3:]]
    bare += [*zeros[:2], None, *zeros[3:]]
    yield Form("QEmbedLayerNormalization", "no-segments", bare, outputs)
