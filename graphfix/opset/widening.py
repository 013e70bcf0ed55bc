"""Casting around an operator whose other form takes fewer element types, where that is exact."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto

from graphfix.authoring.building import Builder
from graphfix.ir.schemas import Form
from graphfix.ir.storage.weights import dtype_of
from graphfix.ir.views import NodeView, Refuse, Value
from graphfix.operators.table import COMPARISONS, GIVES_ELEMENTS
from graphfix.opset.fitting import Narrow

_F32: int = TensorProto.FLOAT
_I32: int = TensorProto.INT32

# Every value of the first type is one of the second, so a cast there and back changes nothing.
_FLOATS: dict[int, int] = {TensorProto.BFLOAT16: _F32, TensorProto.FLOAT16: _F32}
_INTS: dict[int, int] = {
    TensorProto.INT8: _I32,
    TensorProto.UINT8: _I32,
    TensorProto.INT16: _I32,
    TensorProto.UINT16: _I32,
    TensorProto.BOOL: _I32,
}

# Operators that output values that came in (or 0), or compare them: exact in any wider type.
_SELECTING = GIVES_ELEMENTS | COMPARISONS | {"NonZero"}
# Operators whose result in the narrow float type is that of float32, rounded once.
_ROUNDED = (
    "Abs", "Acos", "Acosh", "Add", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Div",
    "Einsum", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "IsInf", "IsNaN", "LeakyRelu", "Log",
    "Mul", "Neg", "PRelu", "Pow", "Reciprocal", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh",
    "Softplus", "Softsign", "Sqrt", "Sub", "Tan", "Tanh", "ThresholdedRelu",
)  # fmt: skip

# Casting the result down drops the higher bits, which leaves what the narrow type overflows to.
_WRAPPING = ("Add", "Div", "Mul", "Sub")
_WRAPPED = dict.fromkeys((c for c in _INTS if c != TensorProto.BOOL), int(TensorProto.INT64))

WIDER: Mapping[str, Mapping[int, int]] = {
    **{op: {**_FLOATS, **_INTS} for op in _SELECTING},
    **dict.fromkeys(_ROUNDED, _FLOATS),
    **{op: {**_FLOATS, **_WRAPPED} for op in _WRAPPING},
}


def widen(node: NodeView, target: Form, build: Builder, narrow: Narrow) -> tuple[Value | None, ...]:
    """Emit the node between casts to and from a type that the target form takes.

    Raises:
        Refuse: The target form takes no type that holds every value exactly.
    """
    kinds = WIDER[node.op]
    by_name: dict[str, int] = {}
    formal = target.schema.inputs
    inputs: list[Value | None] = []
    for position, value in enumerate(node.inputs):
        parameter = formal[min(position, len(formal) - 1)]
        if value is None:
            inputs.append(None)
            continue
        if not value.elem_type:
            raise narrow
        if _tensor_type(value.elem_type) in parameter.types:
            inputs.append(value)
            continue
        wider = kinds.get(value.elem_type)
        if wider is None or _tensor_type(wider) not in parameter.types:
            raise narrow
        by_name[parameter.type_str] = value.elem_type
        inputs.append(build.Cast(value, to=wider))
    if not by_name:
        raise narrow
    attributes = node.written()
    if any(name not in target.attributes for name in attributes):
        raise Refuse(narrow.reason)
    made = build.multi(node.op, *inputs, outputs=len(node.outputs), **attributes)
    outputs: list[Value | None] = []
    for position, value in enumerate(made):
        parameter = target.schema.outputs[min(position, len(target.schema.outputs) - 1)]
        narrowed = by_name.get(parameter.type_str)
        old = node.output(position)
        if old is None:
            outputs.append(None)
        elif narrowed is None:
            outputs.append(value)
        else:
            outputs.append(build.Cast(_in_range(node, value, narrowed, build), to=narrowed))
    return tuple(outputs)


def _in_range(node: NodeView, value: Value, narrowed: int, build: Builder) -> Value:
    """Bring what the wider type gives for no elements at all to what the narrow one gives."""
    x = node.inputs[0]
    if node.op not in ("ReduceMax", "ReduceMin") or narrowed not in _INTS or x is None:
        return value
    if x.static_shape is not None and 0 not in x.static_shape:
        return value
    if narrowed == TensorProto.BOOL:
        low, high = 0, 1
    else:
        limits = np.iinfo(dtype_of(narrowed))
        low, high = int(limits.min), int(limits.max)
    bound = low if node.op == "ReduceMax" else high
    beyond = build.Less(value, bound) if node.op == "ReduceMax" else build.Greater(value, bound)
    return build.Where(beyond, build.constant(np.array(bound, dtype=np.int32)), value)


def _tensor_type(elem_type: int) -> str:
    return f"tensor({str(TensorProto.DataType.Name(elem_type)).lower()})"
