"""Passes on models in which a free dimension turns out to be 0 or 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from graphfix.testing import assert_rewrite
from tests.passes.lowering_models import written

X = np.random.default_rng(2).normal(size=(2, 3, 5)).astype(np.float32)
I = np.random.default_rng(3).integers(-9, 9, size=(2, 3, 5))  # noqa: E741
F = "float[A, B, C] x"
# pass, body, inputs, output, opset, further inputs
CASES: list[tuple[str, str, str, str, int, dict[str, Any]]] = [
    ("trilu-to-where", "@y = Trilu (x)", F, "float[p, q, r]", 17, {}),
    ("bitwise-to-bits", "@y = BitwiseAnd (x, x)", "int32[A, B, C] x", "int32[p, q, r]", 18, {}),
    ("castlike-to-cast", "@y = CastLike (x, x)", F, "float[p, q, r]", 17, {}),
    ("celu-to-elu", "@y = Celu (x)", F, "float[p, q, r]", 17, {}),
    (
        "cumsum-to-sum",
        "@k = Constant <value = int64 {1}> ()\n@y = CumSum (x, @k)",
        "int64[A, 3, C] x", "int64[p, q, r]", 17, {},
    ),
    ("hardmax-to-equal", "@y = Hardmax (x)", "float[A, B, 5] x", "float[p, q, r]", 17, {}),
    ("hardswish-to-hardsigmoid", "@y = HardSwish (x)", F, "float[p, q, r]", 17, {}),
    ("is-nan-to-comparisons", "@y = IsNaN (x)", F, "bool[p, q, r]", 17, {}),
    (
        "layer-normalization-to-arithmetic", "@y = LayerNormalization (x, s)",
        "float[A, B, C] x, float[C] s", "float[p, q, r]", 17, {"s": X[0, 0]},
    ),
    ("mish-to-softplus", "@y = Mish (x)", F, "float[p, q, r]", 18, {}),
    (
        "mod-elimination", "@k = Constant <value = int64 {3}> ()\n@y = Mod (x, @k)",
        "int64[A, B, C] x", "int64[p, q, r]", 17, {},
    ),
    (
        "pad-constant-to-concat",
        "@p = Constant <value = int64[6] {0, 1, -1, 2, 0, 3}> ()\n@y = Pad (x, @p)",
        F, "float[p, q, r]", 17, {},
    ),
    (
        "pad-by-repeating",
        '@p = Constant <value = int64[6] {0, 0, 7, 0, 0, 2}> ()\n@y = Pad <mode = "wrap"> (x, @p)',
        F, "float[p, q, r]", 19, {},
    ),
    (
        "pad-by-repeating",
        '@p = Constant <value = int64[6] {0, 0, 2, 0, 0, 2}> ()\n@y = Pad <mode = "edge"> (x, @p)',
        F, "float[p, q, r]", 17, {},
    ),
    (
        "reverse-sequence-to-gather",
        "@y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, n)",
        "float[A, 3, C] x, int64[A] n", "float[p, q, r]", 17, {"n": np.array([1, 3])},
    ),
    (
        "gathernd-to-gather", "@y = GatherND <batch_dims = 1> (x, i)",
        "float[A, 3, C] x, int64[A, D, 1] i", "float[p, q, r]", 17,
        {"i": np.array([[[0], [-1]], [[2], [1]]])},
    ),
    ("shrink-to-where", "@y = Shrink (x)", F, "float[p, q, r]", 17, {}),
    ("sign-to-comparisons", "@y = Sign (x)", F, "float[p, q, r]", 17, {}),
    ("xor-to-and", "@b = Cast <to = 9> (x)\n@y = Xor (@b, @b)", F, "bool[p, q, r]", 17, {}),
    ("einsum-to-matmul", '@y = Einsum <equation = "aij->aji"> (x)', F, "float[p, q, r]", 17, {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "body", "inputs", "output", "opset", "more"),
    CASES,
    ids=[f"{place}-{case[0]}" for place, case in enumerate(CASES)],
)
def test_a_free_dimension_of_0_or_1(
    name: str, body: str, inputs: str, output: str, opset: int, more: dict[str, Any]
) -> None:
    x = X if inputs.startswith("float") else I.astype(inputs.split("[")[0])
    feed = {"x": x, **more}
    text = written(body, inputs, output, opset=opset)
    assert_rewrite(name, text, feeds=[feed], rtol=1e-5, atol=1e-6)
