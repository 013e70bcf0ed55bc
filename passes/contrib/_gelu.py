"""The three curves that onnxruntime calls Gelu."""

import math
from typing import Any

import numpy as np

from graphfix.authoring import Builder, Value

Array = np.ndarray[Any, Any]
EMITS = "Add Erf Mul Sigmoid Tanh"
_ROOT = math.sqrt(2 / math.pi)
_CUBE = 0.044715


def by_erf(build: Builder, x: Value) -> Value:
    """Return 0.5 x (1 + erf (x / sqrt (2)))."""
    share = build.Add(build.Erf(build.Mul(x, math.sqrt(0.5))), 1)
    return build.Mul(build.Mul(x, 0.5), share)


def by_tanh(build: Builder, x: Value) -> Value:
    """Return 0.5 x (1 + tanh (sqrt (2 / pi) (x + 0.044715 x^3)))."""
    slope = build.Add(build.Mul(build.Mul(x, x), _CUBE * _ROOT), _ROOT)
    return build.Mul(build.Mul(x, 0.5), build.Add(build.Tanh(build.Mul(x, slope)), 1))


def silu(build: Builder, x: Value, slope: float = 1.0) -> Value:
    """Return x sigmoid (slope x)."""
    return build.Mul(x, build.Sigmoid(x if slope == 1 else build.Mul(x, slope)))


def erf_of(x: Array) -> Array:
    """Compute Gelu by erf in float64."""
    work = np.asarray(x, np.float64)
    curve = np.frompyfunc(math.erf, 1, 1)(work * math.sqrt(0.5))
    return np.asarray(0.5 * work * (1 + np.asarray(curve, np.float64)))


def tanh_of(x: Array) -> Array:
    """Compute Gelu by tanh in float64."""
    work = np.asarray(x, np.float64)
    return np.asarray(0.5 * work * (1 + np.tanh(_ROOT * (work + _CUBE * work**3))))


def silu_of(x: Array, slope: float = 1.0) -> Array:
    """Compute x sigmoid (slope x) in float64."""
    work = np.asarray(x, np.float64)
    return np.asarray(work / (1 + np.exp(-slope * work)))
