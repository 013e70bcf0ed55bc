"""Operands brought to the one type that PyTorch computes in.

Source: pytorch/pytorch c10/core/ScalarType.cpp and aten/src/ATen/native/TypeProperties.cpp
(result_type): tensors with axes decide, a number only raises the kind (bool, integer, float).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from graphfix.authoring import Array, Builder, Refuse, Value
from graphfix.authoring.pytorch.call import SCALAR_TYPES

from ._arguments import ArrayCall, Call
from ._axes import FLOATS, LOW_PRECISION

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


# What an exporter writes a Python number as, a constant without axes, is of one of these types.
_OF_NUMBERS = frozenset({np.dtype(np.bool_), np.dtype(np.int64), np.dtype(np.float64)})
_LADDER = "biuf"


def common_dtype(operands: Sequence[Value | Array], *, to_float: bool = False) -> np.dtype[Any]:
    """Return the type that PyTorch computes in.

    Tensors with axes decide, then tensors without, then numbers; what is lower decides only where
    it is of a higher kind, and a number of floats is then a float32.

    Args:
        operands: The operands, or their arrays.
        to_float: Whether integers and booleans become float32.

    Raises:
        Refuse: A type is unknown or no number, a rank is unknown where types differ, or it cannot
            be known whether a tensor without axes is a number.
    """
    types = [_dtype_of(operand) for operand in operands]
    found = types[0] if len({*types}) == 1 else _decided(operands, types)
    return np.dtype(np.float32) if to_float and found.kind != "f" else found


def _dtype_of(operand: Value | Array) -> np.dtype[Any]:
    dtype = operand.dtype
    if dtype is None or dtype.kind not in _LADDER:
        name = operand.name if isinstance(operand, Value) else "an operand"
        raise Refuse(f"{name} must be numbers of a type that numpy has; it is {dtype or 'unknown'}")
    return dtype


def _decided(operands: Sequence[Value | Array], types: Sequence[np.dtype[Any]]) -> np.dtype[Any]:
    tensors: list[np.dtype[Any]] = []
    single: list[np.dtype[Any]] = []
    numbers: list[np.dtype[Any]] = []
    for operand, dtype in zip(operands, types, strict=True):
        rank = operand.rank if isinstance(operand, Value) else operand.ndim
        if rank is None:
            raise Refuse("the ranks of operands of several types must be known")
        if rank:
            tensors.append(dtype)
        else:
            (numbers if dtype in _OF_NUMBERS else single).append(dtype)
    found = _highest(tensors)
    for several in (single, numbers):
        other = _highest(several)
        if other is None:
            continue
        if several is numbers and other.kind == "f":
            other = np.dtype(np.float32)
        if found is None or _place(other) > _place(found):
            _be_sure(operands, several is numbers, found)
            found = other
    assert found is not None  # there are operands
    return found


def _place(dtype: np.dtype[Any]) -> int:
    return _KINDS[dtype.kind]


def _highest(types: Sequence[np.dtype[Any]]) -> np.dtype[Any] | None:
    found: np.dtype[Any] | None = None
    for dtype in types:
        if found is None or _place(dtype) > _place(found):
            found = dtype
        elif _place(dtype) == _place(found):
            found = np.promote_types(found, dtype)
    return found


def _be_sure(operands: Sequence[Value | Array], numbers: bool, found: np.dtype[Any] | None) -> None:
    """Refuse where what decides the type may be a number or a tensor, which decide differently.

    Raises:
        Refuse: It is computed at run time, so that it may be a tensor.
    """
    for operand in operands if numbers and found is not None else ():
        if isinstance(operand, Value) and operand.rank == 0 and operand.array() is None:
            raise Refuse(f"{operand.name} must be a constant number or of the type of the others")


def asked_dtype(call: Call | ArrayCall) -> np.dtype[Any] | None:
    """Return the type that a call asks for, None where it asks for none.

    Raises:
        Refuse: It is none that numpy has.
    """
    asked = call.number("dtype") if "dtype" in call.schema else None
    if asked is None:
        return None
    name = SCALAR_TYPES.get(int(asked))
    if name is None or name == "bfloat16":
        raise Refuse(f"dtype must be one that numpy has; it is {asked}")
    return np.dtype(name)


def of_one_type(
    build: Builder, values: Sequence[Value | None], dtype: np.dtype[Any]
) -> list[Value | None]:
    """Return operands in one type; None stays None."""
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    found: list[Value | None] = []
    for value in values:
        if value is None or value.elem_type == kind:
            found.append(value)
            continue
        known = build.const(value)
        if known is not None:
            with np.errstate(all="ignore"):
                found.append(build.constant(known.astype(dtype)))
        else:
            found.append(build.Cast(value, to=kind))
    return found
