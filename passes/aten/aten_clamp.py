"""Replace limits of numbers that exporters were told to leave as ATen nodes: clamp, maximum, relu.

What it does: Brings the operands to the type that PyTorch computes in and writes clamp, clip,
    clamp_min, clamp_max, maximum, minimum, fmax, fmin, relu, heaviside and nan_to_num with Max, Min
    and Where.
Why engines need it: Exporters that are told to write ATen nodes (OperatorExportTypes.ONNX_ATEN)
    write these too, and no engine has an importer for them.
Before: y = org.pytorch.aten.ATen <operator = "clamp"> (x, 0, 6)            # x: float
After: y = Min (Max (x, 0), 6)
When it refuses: A type is unknown, ranks are unknown where types differ, or what nan_to_num puts in
    is computed at run time.
Accuracy: Exact.
References: pytorch/pytorch aten/src/ATen/native/TensorCompare.cpp, UnaryOps.cpp (nan_to_num),
    cpu/BinaryOpsKernel.cpp (maximum, fmax, heaviside)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from graphfix.authoring import Builder, Value

from ._arguments import ArrayCall, Call
from ._arithmetic import Arithmetic, Write, held, is_float, larger, one, smaller, two
from ._family import Family


def _clamp(build: Builder, _: Call, v: list[Any]) -> Value:
    x, low, high = v
    found = x if low is None else larger(build, x, low)
    found = found if high is None else smaller(build, found, high)
    return build.Identity(x) if found is x else found


def _clamp_model(_: ArrayCall, v: list[Any]) -> Any:
    x, low, high = v
    found = x if low is None else np.maximum(x, low)
    return found if high is None else np.minimum(found, high)


def _without_nan(pick: Callable[[Builder, Value, Value], Value]) -> Write:
    def write(build: Builder, _: Call, v: list[Any]) -> Value:
        a, b = v
        if not is_float(a):
            return pick(build, a, b)
        either = build.Where(build.IsNaN(b), a, pick(build, a, b))
        return build.Where(build.IsNaN(a), b, either)

    return write


def _relu(build: Builder, _: Call, v: list[Any]) -> Value:
    x = v[0]
    return build.Relu(x) if is_float(x) else larger(build, x, held(build, x, 0))


def _heaviside(build: Builder, _: Call, v: list[Any]) -> Value:
    x, at_zero = v
    step = build.Where(build.Less(held(build, x, 0), x), held(build, x, 1), held(build, x, 0))
    return build.Where(build.Equal(x, held(build, x, 0)), at_zero, step)


def _heaviside_model(_: ArrayCall, v: list[Any]) -> Any:
    return np.where(v[0] == 0, v[1], np.where(v[0] > 0, 1, 0))


def _limits(call: Any, dtype: Any) -> tuple[float, float, float]:
    largest = np.finfo(dtype).max
    return (
        float(call.number("nan", 0.0)),
        float(call.number("posinf", float(largest))),
        float(call.number("neginf", -float(largest))),
    )


def _nan_to_num(build: Builder, call: Call, v: list[Any]) -> Value:
    x = v[0]
    if not is_float(x):
        return build.Identity(x)
    nan, high, low = _limits(call, x.dtype)
    found = build.Where(build.Equal(x, held(build, x, np.inf)), held(build, x, high), x)
    found = build.Where(build.Equal(x, held(build, x, -np.inf)), held(build, x, low), found)
    return build.Where(build.IsNaN(x), held(build, x, nan), found)


def _nan_to_num_model(call: ArrayCall, v: list[Any]) -> Any:
    if v[0].dtype.kind != "f":
        return v[0]
    nan, high, low = _limits(call, v[0].dtype)
    return np.nan_to_num(v[0], nan=nan, posinf=high, neginf=low)


def _extreme(pick: Callable[[Builder, Value, Value], Value]) -> Write:
    return lambda build, _, v: pick(build, v[0], v[1])


_MAX = two(_extreme(larger), lambda _, v: np.maximum(v[0], v[1]))
_MIN = two(_extreme(smaller), lambda _, v: np.minimum(v[0], v[1]))
_CLAMP = Arithmetic(("self", "min", "max"), ("self", "min", "max"), _clamp, _clamp_model)
_TABLE = {
    "maximum": _MAX, "minimum": _MIN,
    "fmax": two(_without_nan(larger), lambda _, v: np.fmax(v[0], v[1])),
    "fmin": two(_without_nan(smaller), lambda _, v: np.fmin(v[0], v[1])),
    "clamp": _CLAMP, "clip": _CLAMP,
    "clamp_min": two(_extreme(larger), lambda _, v: np.maximum(v[0], v[1]), second="min"),
    "clamp_max": two(_extreme(smaller), lambda _, v: np.minimum(v[0], v[1]), second="max"),
    "relu": one(_relu, lambda _, v: np.maximum(v[0], 0)),
    "heaviside": two(_heaviside, _heaviside_model, second="values"),
    "nan_to_num": Arithmetic(("self", "nan", "posinf", "neginf"), ("self",), _nan_to_num,
                             _nan_to_num_model, takes="biuf"),
}  # fmt: skip
FAMILY = Family({name: row.function() for name, row in _TABLE.items()})


aten_clamp = FAMILY.replaced(__name__, emits="Cast Equal Identity IsNaN Less Max Min Relu Where")
