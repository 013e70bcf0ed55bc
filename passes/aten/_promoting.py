"""Operands brought to the one type that PyTorch computes in.

Source: pytorch/pytorch c10/core/ScalarType.cpp and aten/src/ATen/native/TypeProperties.cpp
(result_type): tensors with axes decide, a number only raises the kind (bool, integer, float).
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value
from graphfix.passes.aten._axes import FLOATS, LOW_PRECISION

_KINDS = {"b": 0, "i": 1, "u": 1, "f": 2}


def kind_of(value: Value) -> int:
    """Return 0 for booleans, 1 for integers, 2 for floats.

    Raises:
        Refuse: The type is unknown, or none of them.
    """
    if value.elem_type in LOW_PRECISION:
        return 2
    if value.dtype is None or value.dtype.kind not in _KINDS:
        raise Refuse(f"{value.name} must be numbers; it is {value.type_name or 'unknown'}")
    return _KINDS[value.dtype.kind]


def joined(build: Builder, values: list[Value]) -> list[Value]:
    """Return operands in one type.

    Raises:
        Refuse: A rank or type is unknown, tensors have different types, or a number is of a
            higher kind than the tensors.
    """
    if any(value.rank is None for value in values):
        raise Refuse("the ranks of the operands must be known")
    deciding = [v for v in values if v.rank] or [v for v in values if build.const(v) is None]
    deciding = deciding or values
    kinds = {v.elem_type for v in deciding}
    if len(kinds) != 1:
        names = ", ".join(sorted({v.type_name for v in deciding}))
        raise Refuse(f"the operands must have one dtype; they are {names}")
    model = deciding[0]
    found: list[Value] = []
    for value in values:
        if kind_of(value) > kind_of(model):
            raise Refuse(f"{value.name} must be of the kind of {model.name}; it is a higher one")
        if value.elem_type == model.elem_type:
            found.append(value)
            continue
        known = build.const(value)
        if known is not None and model.dtype is not None:
            found.append(build.constant(known.astype(model.dtype)))
        else:
            found.append(build.Cast(value, to=model.elem_type))
    return found


def to_float(build: Builder, value: Value) -> Value:
    """Return a value that functions of floats take: integers as float32, as PyTorch has them."""
    return value if kind_of(value) == 2 else build.Cast(value, to=TensorProto.FLOAT)


def result_type(value: Value) -> int:
    """Return the type of a function of floats."""
    return value.elem_type if value.elem_type in FLOATS else TensorProto.FLOAT


def widest(build: Builder, value: Value) -> Value:
    """Return float16 and bfloat16 as float32, which PyTorch computes them in."""
    if value.elem_type in LOW_PRECISION:
        return build.Cast(value, to=TensorProto.FLOAT)
    return value
