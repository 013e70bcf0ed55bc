"""Between opset 12 and 11.

References: Clip-12, Max-12, Min-12 and Pow-12 in onnx/defs/math, Constant-12 in
onnx/defs/generator, Dropout-12 in onnx/defs/nn (defs.cc and old.cc).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto

from graphfix.authoring import Builder, NodeView, Refuse, Value, need_elem_type, respell
from graphfix.opset.adapting import KEEP, Adapted, adapter

_FLOATS = ("float16", "float32", "float64")
_LONGEST_PRODUCT = 8
_FIRST = -(2**63)  # before the first element, whatever the size


def _is_float(value: Value) -> bool:
    need_elem_type(value)
    return value.type_name in _FLOATS


@adapter("Clip", 12, 11)
def clip_down(node: NodeView, build: Builder) -> Adapted:
    """Integers are compared and chosen, the lower bound first."""
    x, low, high = node.need(0), node.input(1), node.input(2)
    if _is_float(x):
        return KEEP
    result = x
    if low is not None:
        result = build.Where(build.Less(result, low), low, result)
    if high is not None:
        result = build.Where(build.Greater(result, high), high, result)
    return result


@adapter(("Max", "Min"), 12, 11)
def extreme_down(node: NodeView, build: Builder) -> Adapted:
    """Integers are compared and chosen, two at a time."""
    values = [node.need(i) for i in range(len(node.inputs))]
    if _is_float(values[0]):
        return KEEP
    gives_way = build.Less if node.op == "Max" else build.Greater
    result = values[0]
    for value in values[1:]:
        result = build.Where(gives_way(result, value), value, result)
    return result


@adapter("Pow", 12, 11)
def pow_down(node: NodeView, build: Builder) -> Adapted:
    """Base and exponent had one float type; an integer power is a product, as ONNX means it.

    onnxruntime takes integers through float64 unless the exponent is 2 or 3, and loses what
    float64 does not hold.
    """
    base, exponent = node.need(0), node.need(1)
    kind = need_elem_type(base)
    known = build.const(exponent)
    if not _is_float(base):
        return _product(base, known, build)
    if need_elem_type(exponent) == kind:
        return KEEP
    if known is None:
        if exponent.type_name not in ("int8", "uint8", "int16", "uint16", *_FLOATS[:1]):
            raise Refuse(
                "the exponent must be a constant where it has another dtype; it is computed at "
                "run time"
            )
        return build.Pow(base, build.Cast(exponent, to=kind))
    assert base.dtype is not None
    same = known.astype(base.dtype)
    if not np.array_equal(same.astype(known.dtype), known):
        raise Refuse(f"the exponent must be a number of {base.type_name}; it is not")
    return build.Pow(base, build.constant(same))


def _product(base: Value, exponent: np.ndarray | None, build: Builder) -> Value:
    if base.type_name not in ("int32", "int64"):
        raise Refuse(f"opset 11 has no Pow of {base.type_name}")
    if exponent is None or exponent.size != 1:
        raise Refuse("the exponent of an integer must be a single constant; it is not")
    times = float(exponent.reshape(()))
    if not times.is_integer() or not 1 <= times <= _LONGEST_PRODUCT:
        raise Refuse(
            f"the power of an integer must be whole, from 1 to {_LONGEST_PRODUCT}; it is {times:g}"
        )
    if exponent.ndim > (base.rank or 0):
        raise Refuse("the exponent must not give the result a higher rank; it does")
    result = base
    for _ in range(int(times) - 1):
        result = build.Mul(result, base)
    return build.Identity(base) if result is base else result


@adapter("Constant", 12, 11)
def constant_down(node: NodeView, build: Builder) -> Adapted:
    """Numbers, text and lists are written as tensors."""
    for name, dtype in (("value_float", np.float32), ("value_floats", np.float32),
                        ("value_int", np.int64), ("value_ints", np.int64)):  # fmt: skip
        if node.has(name):
            value = np.array(node.attr(name), dtype=dtype)
            return build.Constant(value=onnx.numpy_helper.from_array(value))
    for name in ("value_string", "value_strings"):
        if node.has(name):
            given = node.attr(name)
            return build.Constant(value=_text(given))
    return KEEP


def _text(given: str | bytes | Sequence[str | bytes]) -> TensorProto:
    single = isinstance(given, str | bytes)
    parts = [given] if isinstance(given, str | bytes) else list(given)
    raw = [part.encode() if isinstance(part, str) else part for part in parts]
    tensor = TensorProto(data_type=TensorProto.STRING, dims=[] if single else [len(raw)])
    tensor.string_data.extend(raw)
    return tensor


@adapter("Dropout", 12, 11)
def dropout_down(node: NodeView, build: Builder) -> Adapted:
    """Outside training nothing is dropped; the ratio was an attribute."""
    training = node.input(2)
    if training is not None and bool(build.need_const(training, "training_mode").reshape(())):
        raise Refuse("training_mode must not be set; it is")
    ratio = node.input(1)
    given = {} if ratio is None else {"ratio": float(build.need_const(ratio, "ratio").reshape(()))}
    x = node.need(0)
    kept = build.Dropout(x, **given)
    if node.output(1) is None:
        return (kept, None)[: len(node.outputs)]
    # The older form leaves the mask open where nothing is dropped; the newer one sets all of it.
    ones = onnx.numpy_helper.from_array(np.ones(1, dtype=np.bool_))
    return kept, build.ConstantOfShape(build.Shape(x), value=ones)


@adapter("Dropout", 11, 12)
def dropout_up(node: NodeView, build: Builder) -> Adapted:
    """The ratio became an input.

    Outside training the older form leaves the mask open: onnxruntime gives False there, the
    reference implementation of ONNX True, as the newer form has it.
    """
    mask = node.output(1)
    if mask is not None and mask.is_used:
        raise Refuse(
            f"the mask {mask.name} is read by a node or returned, and opset 11 does not say what "
            "it is where nothing is dropped"
        )
    ratio = np.array(node.attr("ratio", 0.5), dtype=np.float32)
    return respell(node, build, drop=("ratio",), ratio=ratio)


@adapter(("ArgMax", "ArgMin"), 12, 11)
def arg_down(node: NodeView, build: Builder) -> Adapted:
    """The last of several equal ones is the first of them from the end."""
    if not node.attr("select_last_index", 0):
        return respell(node, build, drop=("select_last_index",))
    x, axis = node.need(0), node.attr("axis", 0)
    backwards = build.Slice(x, [-1], [_FIRST], [axis], [-1])
    (found,) = respell(node, build, drop=("select_last_index",), data=backwards)
    assert found is not None
    size = x.dim(axis)
    if size is not None:
        return build.Sub(size - 1, found)
    place = build.constant(np.array(axis, dtype=np.int64))
    return build.Sub(build.Sub(build.Gather(build.Shape(x), place, axis=0), 1), found)


@adapter("MaxPool", 12, 11)
def max_pool_down(node: NodeView, build: Builder) -> Adapted:
    """Small integers were not pooled; float32 holds them all."""
    x = node.need(0)
    kind = need_elem_type(x)
    if _is_float(x):
        return KEEP
    pooled, *others = respell(node, build, X=build.Cast(x, to=TensorProto.FLOAT))
    assert pooled is not None
    return (build.Cast(pooled, to=kind), *others)
