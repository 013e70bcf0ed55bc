"""Replace LabelEncoder of numbers by a comparison with its keys.

What it does: Compares each number with all keys, takes the value of the one that it is equal to,
    and the default where it is none.
Why engines need it: TensorRT has no operator of ai.onnx.ml.
Before: y = ai.onnx.ml.LabelEncoder <keys_int64s = [4, 7], values_floats = [0.5, 2]> (x)
After:
    hits = Cast (Equal (Unsqueeze (x, -1), {4, 7}))
    y = Where (Equal (ReduceMax (hits), 1), Gather ({0.5, 2}, ArgMax (hits)), -0.0)
When it refuses: Keys or values are texts, which no tensor of an engine holds; a key is NaN or there
    twice.
Accuracy: Exact: numbers are compared and moved.
References: https://onnx.ai/onnx/operators/onnx_aionnxml_LabelEncoder.html;
    onnxruntime/core/providers/cpu/ml/label_encoder.h
"""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, rewrite

_DEFAULTS = {"int64": ("default_int64", -1), "float32": ("default_float", -0.0)}
_MOST = 1 << 16  # keys, each of which every number is compared with


@rewrite("ai.onnx.ml::LabelEncoder", emits="ArgMax Cast Equal Gather ReduceMax Unsqueeze Where")
def label_encoder_to_gather(node: NodeView, build: Builder) -> Value:
    """Compare with the keys, see the module."""
    x = node.need(0)
    keys, values = _numbers(node, "keys"), _numbers(node, "values")
    if keys.size != values.size or not 0 < keys.size <= _MOST:
        raise Refuse(
            f"there must be as many values as keys, and 1 to {_MOST}; there are {values.size} and "
            f"{keys.size}"
        )
    if (keys != keys).any() or len(np.unique(keys)) < keys.size:
        raise Refuse("each key must be there once and be no NaN; one is not")
    if x.rank is None or x.dtype != keys.dtype:
        raise Refuse(f"the rank of {x.name} must be known and its dtype that of the keys")
    equal = build.Equal(build.Unsqueeze(x, axes=[x.rank]), build.constant(keys))
    hits = build.Cast(equal, to=TensorProto.FLOAT)
    at = build.ArgMax(hits, axis=x.rank, keepdims=0)
    found = build.Equal(build.ReduceMax(hits, axes=[x.rank], keepdims=0), 1.0)
    return build.Where(found, build.Gather(values, at, axis=0), _default(node, values))


def _numbers(node: NodeView, name: str) -> Array:
    """Return keys or values, which are lists of integers or floats, or a tensor.

    Raises:
        Refuse: They are texts, or there are none.
    """
    given = node.attr(f"{name}_tensor")
    if given is None:
        for ending, kind in (("int64s", np.int64), ("floats", np.float32)):
            if node.has(f"{name}_{ending}"):
                return np.array(node.attr(f"{name}_{ending}"), kind)
    array = np.zeros(0) if given is None else np.asarray(given).reshape(-1)
    if str(array.dtype) not in ("int64", "float32", "float64") or given is None:
        raise Refuse(
            f"the {name} must be numbers; they are texts, which no tensor of an engine holds: "
            "encode them before the model"
        )
    return array


def _default(node: NodeView, values: Array) -> Array:
    given = node.attr("default_tensor")
    if given is not None:
        return np.asarray(given).reshape(()).astype(values.dtype)
    name, instead = _DEFAULTS.get(str(values.dtype), ("", 0))
    return np.array(node.attr(name, instead) if name else instead, values.dtype)
