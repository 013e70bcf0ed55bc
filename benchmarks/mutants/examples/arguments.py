"""Operators of PyTorch with arguments that are not at their defaults."""

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


_AXES, _ON = np.array([1, -1], np.int64), np.array(True)


def _f(value: float) -> np.ndarray:
    return np.array(value, np.float32)


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
    _called("aten-rot90", "roll", "x s d", "N, 12, 9", s=np.array([1, 2]), d=np.array([1, 2])),
)
