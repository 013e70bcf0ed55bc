"""PyTorch's own operators."""

from __future__ import annotations

import numpy as np

from benchmarks.mutants.examples.example import Example

_RNG = np.random.default_rng(7)


def _aten(
    name: str, inputs: str, given: str, outputs: str, arrays: dict[str, object], **more: object
) -> Example:
    listed = ", ".join(["x", *(n for n in given.split())])
    text = (
        f"g ({inputs}) => ({outputs}) "
        f'{{ y = org.pytorch.aten.ATen <operator = "{name}"> ({listed}) }}'
    )
    unit = f"aten-{name.replace('_', '-')}"
    return Example(unit, text, imports=("org.pytorch.aten",), arrays=arrays, **more)  # type: ignore[arg-type]


def _i(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def _n(value: int) -> np.ndarray:
    return np.array(value, np.int64)


EXAMPLES = (
    _aten(
        "tril",
        "T[N, 12, 9] x",
        "d",
        "T[N, 12, 9] y",
        {"d": _n(2)},
        types=("float", "int32", "bool"),
        sizes={"N": (2, 40)},
    ),
    _aten(
        "tril",
        "T[N, 12, 9] x",
        "d",
        "T[N, 12, 9] y",
        {"d": _n(-3)},
        types=("float",),
        sizes={"N": (2, 40)},
        opset=8,
        ir=4,
    ),
    _aten(
        "tril",
        "T[6, N, M] x",
        "d",
        "T[6, N, M] y",
        {"d": _n(1)},
        sizes={"N": (9, 30), "M": (11, 20)},
    ),
    _aten(
        "flip",
        "T[N, 12, 9] x",
        "d",
        "T[N, 12, 9] y",
        {"d": _i(1, -1)},
        types=("float", "int64"),
        sizes={"N": (2, 40)},
    ),
    _aten("flip", "T[N, 12, 9] x", "d", "T[N, 12, 9] y", {"d": _i(0)}, sizes={"N": (3, 40)}),
    _aten(
        "diff",
        "T[N, 12, 9] x",
        "n d",
        "T[N, A, 9] y",
        {"n": _n(2), "d": _n(1)},
        types=("float", "int32"),
        sizes={"N": (3, 40)},
    ),
    _aten(
        "diff",
        "T[N, 12] x, T[N, 1] f, T[N, 2] e",
        "n d f e",
        "T[N, A] y",
        {"n": _n(1), "d": _n(-1)},
        sizes={"N": (30, 200)},
    ),
    _aten(
        "diag_embed",
        "T[N, 20] x",
        "o a b",
        "T[N, 22, 22] y",
        {"o": _n(2), "a": _n(-2), "b": _n(-1)},
        types=("float", "int64"),
        sizes={"N": (3, 50)},
    ),
    _aten(
        "diag_embed",
        "T[N, 20] x",
        "o a b",
        "T[A, N, B] y",
        {"o": _n(-1), "a": _n(2), "b": _n(0)},
        sizes={"N": (3, 50)},
    ),
    _aten(
        "group_norm",
        "T[N, 6, 7, 8] x",
        "g w b e c",
        "T[N, 6, 7, 8] y",
        {
            "g": _n(3),
            "w": _RNG.uniform(0.5, 2, 6),
            "b": _RNG.standard_normal(6),
            "e": np.array(1e-5, np.float64).astype(np.float32),
            "c": np.array(True),
        },
        sizes={"N": (2, 12)},
    ),
    _aten(
        "group_norm",
        "T[N, 6, 40] x",
        "g w b e c",
        "T[N, 6, 40] y",
        {
            "g": _n(2),
            "w": _RNG.uniform(0.5, 2, 6),
            "b": _RNG.standard_normal(6),
            "e": np.array(0.1, np.float32),
            "c": np.array(True),
        },
        sizes={"N": (2, 12)},
        opset=18,
    ),
    _aten(
        "layer_norm",
        "T[N, 7, 8] x",
        "z w b e c",
        "T[N, 7, 8] y",
        {
            "z": _i(8),
            "w": _RNG.uniform(0.5, 2, 8),
            "b": _RNG.standard_normal(8),
            "e": np.array(1e-5, np.float32),
            "c": np.array(True),
        },
        sizes={"N": (2, 40)},
    ),
    _aten(
        "layer_norm",
        "T[N, 7, 8] x",
        "z w b e c",
        "T[N, 7, 8] y",
        {
            "z": _i(7, 8),
            "w": _RNG.uniform(0.5, 2, (7, 8)),
            "b": _RNG.standard_normal((7, 8)),
            "e": np.array(0.1, np.float32),
            "c": np.array(True),
        },
        sizes={"N": (2, 40)},
        opset=18,
    ),
    _aten("tril", "T[8, 8, 8] x", "d", "T[8, 8, 8] y", {"d": _n(-1)}, types=("float", "bool")),
    _aten("triu", "T[8, 8, 8] x", "d", "T[8, 8, 8] y", {"d": _n(1)}, types=("float", "int32")),
    _aten(
        "triu",
        "T[6, N, M] x",
        "d",
        "T[6, N, M] y",
        {"d": _n(-2)},
        sizes={"N": (9, 30), "M": (11, 20)},
    ),
    _aten("flip", "T[8, 8, 8] x", "d", "T[8, 8, 8] y", {"d": _i(1)}),
    _aten(
        "flip",
        "T[N, 8, M] x",
        "d",
        "T[N, 8, M] y",
        {"d": _i(-1, 0)},
        sizes={"N": (8, 3), "M": (8, 5)},
    ),
    _aten(
        "diff",
        "T[8, 8, 8] x, T[8, 1, 8] f",
        "n d f",
        "T[8, 8, 8] y",
        {"n": _n(1), "d": _n(1)},
    ),
    _aten(
        "diff",
        "T[N, M, K] x",
        "n d",
        "T[A, B, C] y",
        {"n": _n(3), "d": _n(-2)},
        sizes={"N": (8, 8), "M": (8, 12), "K": (8, 9)},
    ),
    _aten(
        "layer_norm",
        "T[8, 8, 8] x",
        "z w b e c",
        "T[8, 8, 8] y",
        {
            "z": _i(8),
            "w": _RNG.uniform(0.5, 2, 8),
            "b": _RNG.standard_normal(8),
            "e": np.array(0.5, np.float32),
            "c": np.array(True),
        },
    ),
    _aten(
        "group_norm",
        "T[8, 8, 8] x",
        "g w b e c",
        "T[8, 8, 8] y",
        {
            "g": _n(8),
            "w": _RNG.uniform(0.5, 2, 8),
            "b": _RNG.standard_normal(8),
            "e": np.array(0.5, np.float32),
            "c": np.array(True),
        },
    ),
    _aten("logcumsumexp", "T[8, 8, 8] x", "d", "T[8, 8, 8] y", {"d": _n(-1)}),
    _aten("logcumsumexp", "T[N, 7, 8] x", "d", "T[N, 7, 8] y", {"d": _n(1)}, sizes={"N": (2, 40)}),
)
