"""Operators of PyTorch, com.microsoft and ai.onnx.ml, no argument at its default."""

from __future__ import annotations

import numpy as np

from benchmarks.mutants.examples.example import Example


def _called(unit: str, operator: str, given: str, outputs: str, **arrays: object) -> Example:
    """Return a call of one operator, named with its overload; arguments in the schema's order."""
    name, _, overload = operator.partition(".")
    text = (
        f"g (T[N, 12, 9] x{', T[N, 12, 9] b' if ' b' in given else ''}) => (T[{outputs}] y) "
        f'{{ y = org.pytorch.aten.ATen <operator = "{name}", overload_name = "{overload}"> '
        f"({', '.join(given.split())}) }}"
    )
    constants = {key: np.asarray(value) for key, value in arrays.items()}
    return Example(
        unit, text, imports=("org.pytorch.aten",), sizes={"N": (2, 40)}, arrays=constants
    )


def _other(
    unit: str, domain: str, call: str, output: str, given: str = "T[N, 9] x", **arrays: object
) -> Example:
    """Return a call of an operator of another library as ``Op <attributes> (inputs)``."""
    text = f"g ({given}) => (T[{output}] y) {{ y = {domain}.{call} }}"
    constants = {key: np.asarray(value) for key, value in arrays.items()}
    return Example(unit, text, imports=(domain,), sizes={"N": (2, 40)}, arrays=constants)


_MS, _ML = "com.microsoft", "ai.onnx.ml"
_AXES, _ON = np.array([1, -1], np.int64), np.array(True)


def _f(value: float) -> np.ndarray:
    return np.array(value, np.float32)


_TABLE = np.random.default_rng(3).standard_normal((4, 9))

EXAMPLES = (
    _called("aten-reduction", "sum.dim_IntList", "x d k", "N, 1, 1", d=_AXES, k=_ON),
    _called("aten-reduction", "var.correction", "x d c k", "N, 1, 1", d=_AXES, c=_f(2), k=_ON),
    _called("aten-reduction", "norm.ScalarOpt_dim", "x p d k", "N, 1, 1", p=_f(3), d=_AXES, k=_ON),
    _called("aten-arithmetic", "add.Tensor", "x b a", "N, 12, 9", a=_f(2.5)),
    _called("aten-arithmetic", "rsub.Tensor", "x b a", "N, 12, 9", a=_f(-1.5)),
    _called("aten-arithmetic", "addcmul", "x b b v", "N, 12, 9", v=_f(0.25)),
    _called("aten-clamp", "clamp", "x low high", "N, 12, 9", low=_f(-0.5), high=_f(0.25)),
    _called("aten-activation", "elu", "x a s i", "N, 12, 9", a=_f(2), s=_f(1.5), i=_f(0.5)),
    _called("aten-activation", "leaky_relu", "x s", "N, 12, 9", s=_f(0.25)),
    _called("aten-activation", "threshold", "x t v", "N, 12, 9", t=_f(0.5), v=_f(-2)),
    _called("aten-activation", "softplus", "x q t", "N, 12, 9", q=_f(0.5), t=_f(0.75)),
    _called("aten-activation", "hardtanh", "x low high", "N, 12, 9", low=_f(-0.5), high=_f(0.75)),
    _called("aten-activation", "hardshrink", "x l", "N, 12, 9", l=_f(1.25)),
    _called(
        "aten-select", "slice.Tensor", "x d s e t", "N, 3, 9",
        d=np.array(1), s=np.array(2), e=np.array(9), t=np.array(3),
    ),
    _called(
        "aten-distance", "pairwise_distance", "x b p e k", "N, 12",
        p=_f(1), e=_f(0.5), k=np.array(False),
    ),
    _other("contrib-gelu-to-erf", _MS, "QuickGelu <alpha = 0.5> (x)", "N, 9"),
    _other("cdist-to-matmul", _MS, 'CDist <metric = "euclidean"> (x, r)', "N, 4", r=_TABLE),
    _other(
        "bias-softmax-to-softmax", _MS, "BiasSoftmax <axis = 2, is_inner_broadcast = 0> (x, b)",
        "N, 4, 9", "T[N, 4, 9] x, T[N, 4, 9] b",
    ),
    _other(
        "group-norm-to-arithmetic", _MS,
        "GroupNorm <groups = 3, channels_last = 0, activation = 1, epsilon = 0.5> (x, g, b)",
        "N, 9, 4, 5", "T[N, 9, 4, 5] x", g=_TABLE[0].astype(np.float32),
        b=_TABLE[1].astype(np.float32),
    ),
    _other("binarizer-to-greater", _ML, "Binarizer <threshold = 0.5> (x)", "N, 9"),
    _other(
        "scaler-to-arithmetic", _ML,
        "Scaler <offset = [0.5, 1.5, -1.0], scale = [2.0, 0.25, -3.0]> (x)", "N, 3", "T[N, 3] x",
    ),
    _other("normalizer-to-div", _ML, 'Normalizer <norm = "L1"> (x)', "N, 9"),
    _other(
        "linear-regressor-to-matmul", _ML,
        "LinearRegressor <coefficients = [1.0, -2.0, 0.5, 0.25, 3.0, -1.0], "
        "intercepts = [0.5, -1.5], targets = 2> (x)", "N, 2", "T[N, 3] x",
    ),
    _called("aten-rot90", "roll", "x s d", "N, 12, 9", s=np.array([1, 2]), d=np.array([1, 2])),
)  # fmt: skip
