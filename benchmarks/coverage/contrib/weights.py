"""Products with packed weights, and mixtures of experts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.coverage.contrib.form import Array, Const, Form, const, real, rng, whole

_N, _K, _BLOCK = 6, 32, 16


def forms() -> Iterator[Form]:
    """Yield the forms."""
    yield from _n_bits()
    yield from _fused()
    yield from _gathered()
    yield from _experts()
    yield from _formats()


def _packed(
    bits: int, rows: int = _N, columns: int = _K, block: int = _BLOCK, seed: int = 0
) -> Const:
    shape = (rows, -(-columns // block), block * bits // 8)
    return const(whole(0, 256, *shape, seed=seed, dtype=np.uint8))


def _scales(rows: int = _N, columns: int = _K, block: int = _BLOCK, seed: int = 5) -> Array:
    count = -(-columns // block)
    return rng(seed).uniform(0.01, 0.05, (rows, count)).astype(np.float32)


def _n_bits() -> Iterator[Form]:
    x = real(2, 3, _K)
    for bits in (2, 4, 8):
        attributes = {"K": _K, "N": _N, "bits": bits, "block_size": _BLOCK}
        base = [x, _packed(bits), const(_scales())]
        count = -(-2 * bits // 8)
        zeros = const(whole(0, 256, _N, count, seed=1, dtype=np.uint8))
        yield Form("MatMulNBits", f"bits{bits}", base, attributes=attributes)
        yield Form("MatMulNBits", f"bits{bits}-zeros", [*base, zeros], attributes=attributes)
        yield Form(
            "MatMulNBits", f"bits{bits}-open", [*base, zeros], [np.float32], attributes, (0, 1)
        )
    attributes = {"K": _K, "N": _N, "bits": 4, "block_size": _BLOCK}
    base = [x, _packed(4), const(_scales())]
    bias = const(real(_N, seed=2))
    yield Form("MatMulNBits", "bias", [*base, None, None, bias], attributes=attributes)
    real_zeros = const(rng(3).uniform(6, 9, (_N, 2)).astype(np.float32))
    yield Form("MatMulNBits", "real-zeros", [*base, real_zeros], attributes=attributes)
    order = const((np.arange(_K) // _BLOCK)[::-1].astype(np.int32))
    yield Form("MatMulNBits", "order", [*base, None, order], attributes=attributes)
    short = {**attributes, "K": 40}
    inputs = [real(2, 3, 40), _packed(4, columns=40), const(_scales(columns=40))]
    yield Form("MatMulNBits", "short-block", inputs, attributes=short)
    flat = [base[0], base[1], const(_scales().reshape(-1))]
    yield Form("MatMulNBits", "flat-scales", flat, attributes=attributes)
    half = [x.astype(np.float16), base[1], const(_scales().astype(np.float16))]
    yield Form("MatMulNBits", "float16", half, [np.float16], attributes)
    for kind, name in ((0, "fp4"), (1, "nf4")):
        sizes = {"K": _K, "N": _N, "block_size": _BLOCK, "quant_type": kind}
        data = const(whole(0, 256, _N * _K // 2, seed=1, dtype=np.uint8))
        largest = const(rng(2).uniform(0.1, 1, _N * _K // _BLOCK).astype(np.float32))
        yield Form("MatMulBnb4", name, [x, data, largest], attributes=sizes)
        yield Form("MatMulBnb4", f"{name}-open", [x, data, largest], [np.float32], sizes, (0, 1))


def _fused() -> Iterator[Form]:
    x, norm = real(2, 3, _K), const(real(_K, seed=1))
    sizes: dict[str, Any] = {"K": _K, "bits": 4, "block_size": _BLOCK}
    parts = [[_packed(4, seed=at), const(_scales(seed=at)), None] for at in range(3)]
    mlp = {**sizes, "N": _N, "activation": "silu"}
    yield Form("MatMulNBitsMlp", "plain", [x, None, None, *parts[0], *parts[1]], attributes=mlp)
    skipped = [x, real(2, 3, _K, seed=4), norm, *parts[0], *parts[1]]
    yield Form("MatMulNBitsMlp", "skip", skipped, [np.float32, np.float32], mlp)
    qkv = {**sizes, "Nq": _N, "Nkv": _N}
    inputs = [x, None, norm, *parts[0], *parts[1], *parts[2]]
    yield Form("MatMulNBitsQkv", "plain", inputs, [np.float32] * 3, qkv)
    skipped = [x, real(2, 3, _K, seed=4), *inputs[2:]]
    yield Form("MatMulNBitsQkv", "skip", skipped, [np.float32] * 4, qkv)
    lora = {**sizes, "N": _N, "lora_bits": 4, "lora_block_size": _BLOCK}
    down, up = _packed(4, rows=16, seed=6), _packed(4, columns=16, seed=7)
    scales = [const(_scales(rows=16)), const(_scales(columns=16))]
    inputs = [x, *parts[0][:2], down, scales[0], up, scales[1]]
    yield Form("MatMulNBitsQLoRA", "plain", inputs, attributes=lora)


def _gathered() -> Iterator[Form]:
    indices = whole(0, 8, 2, 3)
    for bits in (4, 8):
        attributes = {"bits": bits, "block_size": 16, "gather_axis": 0, "quantize_axis": 1}
        data = const(whole(0, 256, 8, 32 * bits // 8, dtype=np.uint8))
        scales = const(rng(1).uniform(0.01, 0.05, (8, 2)).astype(np.float32))
        zeros = const(whole(0, 256, 8, 2 * bits // 8, seed=2, dtype=np.uint8))
        yield Form(
            "GatherBlockQuantized", f"bits{bits}", [data, indices, scales], attributes=attributes
        )
        inputs = [data, indices, scales, zeros]
        yield Form("GatherBlockQuantized", f"bits{bits}-zeros", inputs, attributes=attributes)
        yield Form(
            "GatherBlockQuantized", f"bits{bits}-open", inputs, [np.float32], attributes, (0, 1)
        )


def _experts() -> Iterator[Form]:
    x, router = real(5, 8), real(5, 4, seed=1)
    first, second = const(real(4, 16, 8, seed=2)), const(real(4, 8, 16, seed=3))
    attributes = {"k": 2, "activation_type": "relu", "normalize_routing_weights": 1}
    yield Form("MoE", "relu", [x, router, first, None, second], attributes=attributes)
    biases = [const(real(4, 16, seed=4)), const(real(4, 8, seed=5))]
    inputs = [x, router, first, biases[0], second, biases[1]]
    gelu = {"k": 1, "activation_type": "gelu"}
    yield Form("MoE", "gelu-bias", inputs, attributes=gelu)
    silu = {"k": 2, "activation_type": "silu"}
    yield Form("MoE", "silu", [x, router, first, None, second], attributes=silu)
    x = real(3, 32)
    packed = [
        const(whole(0, 256, 4, rows, columns // 2, seed=rows, dtype=np.uint8))
        for rows, columns in ((32, 32), (32, 32))
    ]
    scales = [const(rng(at).uniform(0.01, 0.05, (4, 32)).astype(np.float32)) for at in (1, 2)]
    quantized = {"k": 2, "expert_weight_bits": 4, "activation_type": "relu"}
    inputs = [x, real(3, 4), packed[0], scales[0], None, packed[1], scales[1]]
    yield Form("QMoE", "relu", inputs, attributes=quantized)
    yield Form(
        "QMoE", "normalized", inputs, attributes={**quantized, "normalize_routing_weights": 1}
    )
    packed_form = {"gate_type": 2, "down_type": 2}
    blob = const(np.zeros((4, 8, 64), np.uint8))
    yield Form(
        "MoEPacked",
        "plain",
        [real(5, 8), real(5, 4), blob, None, blob],
        attributes=packed_form,
        runs=False,
    )


def _formats() -> Iterator[Form]:
    x, blob = real(3, 32), const(np.zeros((6, 32), np.uint8))
    yield Form(
        "MatMulFpQ4",
        "plain",
        [x, const(np.zeros(512, np.uint8)), const(np.array([32, 6]))],
        attributes={"blk_quant_type": 1},
        runs=False,
    )
    sizes = {"K": 32, "N": 6, "packed_type": 2}
    yield Form("MatMulPacked", "plain", [x, blob], attributes=sizes, runs=False)
    yield Form(
        "GatherPacked",
        "plain",
        [blob, whole(0, 6, 3)],
        attributes={"K": 32, "packed_type": 2},
        runs=False,
    )
    ones = const(np.ones((6, 2), np.float32))
    yield Form("MatMulBlockQuantizedFp4Weight", "plain", [x, blob, ones, ones], runs=False)
    yield Form("MatMulBlockQuantizedFp8Weight", "plain", [x, blob, ones], runs=False)
    yield Form(
        "GemmFloat8",
        "float",
        [real(3, 8), real(5, 8, seed=1)],
        attributes={"transB": 1},
        runs=False,
    )
