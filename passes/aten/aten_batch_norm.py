"""Replace normalization by batches or instances that torch.onnx leaves as ATen nodes.

What it does: Writes batch_norm, native_batch_norm, _native_batch_norm_legit (which may have no
    statistics, or no training) and instance_norm: with the statistics of the input where the call
    is told to train, else with those that it is given, as BatchNormalization where all are
    constants.
Why engines need it: Exporters that are told to write ATen nodes, or to train, write these, and no
    engine has an importer for them.
Before:
    y = org.pytorch.aten.ATen <operator = "batch_norm"> (x, w, b, mean, var, False, 0.1, 1e-5, True)
After: y = BatchNormalization <epsilon = 1e-5> (x, w, b, mean, var)
When it refuses: A rank or type is unknown or of less than two axes, a flag is computed at run time,
    the type is float16 or bfloat16, or there are neither statistics nor are those of the input to
    be taken.
Accuracy: Exact up to rounding and the order of sums. What a call does to the statistics that it is
    given is no result of the file.
References: pytorch/pytorch aten/src/ATen/native/Normalization.cpp;
    https://onnx.ai/onnx/operators/onnx__BatchNormalization.html
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Family, Function, ranked
from ._normalizing import centred

_STATISTICS = ("running_mean", "running_var")
_EPS = 1e-5


def _flag(call: Call | ArrayCall) -> bool:
    for name in ("training", "use_input_stats"):
        if name in call.schema:
            return bool(call.number(name, 0))
    return False


def _needed(call: Call) -> tuple[Value, int]:
    x, rank = ranked(call, "input", 2)
    if x.elem_type not in (TensorProto.FLOAT, TensorProto.DOUBLE):
        raise Refuse(f"{x.name} must be float32 or float64; it is {x.type_name}")
    for name in ("weight", "bias", *_STATISTICS):
        value = call.tensor(name) if name in call.schema else None
        if value is not None and (value.rank != 1 or value.elem_type != x.elem_type):
            raise Refuse(f"{value.name} must be a vector of {x.type_name}")
    return x, rank


def _channels(build: Builder, value: Value, rank: int) -> Value:
    return build.Unsqueeze(value, axes=list(range(1, rank - 1))) if rank > 2 else value


def _scaled(build: Builder, call: Call, y: Value, rank: int) -> Value:
    weight, bias = call.tensor("weight"), call.tensor("bias")
    y = y if weight is None else build.Mul(y, _channels(build, weight, rank))
    return y if bias is None else build.Add(y, _channels(build, bias, rank))


def _of_input(build: Builder, call: Call, axes: Sequence[int]) -> tuple[Value, Value, Value]:
    x, rank = _needed(call)
    y, mean, rate = centred(build, x, axes, float(call.number("eps", _EPS)))
    return _scaled(build, call, y, rank), mean, rate


def _given(build: Builder, call: Call) -> Value:
    x, rank = _needed(call)
    mean, variance = (call.tensor(n) if n in call.schema else None for n in _STATISTICS)
    if mean is None or variance is None:
        raise Refuse(f"{call.operator} must be given statistics, or be told to take the input's")
    vectors = [call.tensor("weight"), call.tensor("bias"), mean, variance]
    eps = float(call.number("eps", _EPS))
    known = [v for v in vectors if v is not None and build.const(v) is not None]
    if len(known) == len(vectors):
        return build.BatchNormalization(x, *known, epsilon=eps)
    rate = build.Sqrt(build.Add(variance, eps))
    away = build.Sub(x, _channels(build, mean, rank))
    return _scaled(build, call, build.Div(away, _channels(build, rate, rank)), rank)


def _by_batch(build: Builder, call: Call) -> tuple[Value, ...]:
    x, rank = _needed(call)
    if not _flag(call):
        nothing = build.constant(np.zeros(0, x.dtype))
        return _given(build, call), nothing, nothing
    y, *both = _of_input(build, call, [0, *range(2, rank)])
    mean, rate = (build.Reshape(one, [-1]) for one in both)
    return y, mean, rate


def _by_instance(build: Builder, call: Call) -> Value:
    _, rank = _needed(call)
    if not _flag(call):
        return _given(build, call)
    if rank < 3:
        raise Refuse(f"the rank must be at least 3 to normalize instances; it is {rank}")
    return _of_input(build, call, list(range(2, rank)))[0]


def _modelled(call: ArrayCall, axes: tuple[int, ...]) -> tuple[Any, Any, Any]:
    x = call.need("input")
    wide, eps = x.astype(np.float64), float(call.number("eps", _EPS))
    lined = (-1,) + (1,) * (x.ndim - 2)
    own = _flag(call)
    if own:
        mean, variance = (f(wide, axis=axes, keepdims=True) for f in (np.mean, np.var))
    else:
        mean, variance = (call.need(n).astype(np.float64).reshape(lined) for n in _STATISTICS)
    rate = 1 / np.sqrt(variance + eps)
    y = (wide - mean) * rate
    weight, bias = call.array("weight"), call.array("bias")
    y = y if weight is None else y * weight.reshape(lined)
    y = y if bias is None else y + bias.reshape(lined)
    nothing = np.zeros(0, x.dtype)
    if not own:
        return y.astype(x.dtype), nothing, nothing
    return y.astype(x.dtype), mean.reshape(-1).astype(x.dtype), rate.reshape(-1).astype(x.dtype)


def _batch_model(call: ArrayCall) -> Any:
    return _modelled(call, (0, *range(2, call.need("input").ndim)))


_ALL = ("input", "weight", "bias", *_STATISTICS)
_LEGIT = "_native_batch_norm_legit"
FAMILY = Family({
    "batch_norm": Function(
        (*_ALL, "training", "momentum", "eps", "cudnn_enabled"), lambda b, c: _by_batch(b, c)[:1],
        lambda call: _batch_model(call)[0],
    ),
    "native_batch_norm": Function(
        (*_ALL, "training", "momentum", "eps"), _by_batch, _batch_model
    ),
    **{name: Function(schema, _by_batch, _batch_model) for name, schema in {
        _LEGIT: (*_ALL, "training", "momentum", "eps"),
        f"{_LEGIT}.no_stats": ("input", "weight", "bias", "training", "momentum", "eps"),
        f"{_LEGIT}_no_training": (*_ALL, "momentum", "eps"),
    }.items()},
    "instance_norm": Function(
        (*_ALL, "use_input_stats", "momentum", "eps", "cudnn_enabled"), _by_instance,
        lambda call: _modelled(call, tuple(range(2, call.need("input").ndim)))[0],
    ),
})  # fmt: skip


aten_batch_norm = FAMILY.replaced(
    __name__,
    emits=(
        "Add BatchNormalization Div Mul Reciprocal ReduceMean ReduceSum Reshape Sqrt Sub Unsqueeze"
    ),
)
