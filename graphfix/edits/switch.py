"""A switch: an input of one bool that decides what a model computes."""

from __future__ import annotations

from onnx import TensorProto, ValueInfoProto, helper

from graphfix.errors import UsageError

VALUES = (True, False)


def flag_of(info: ValueInfoProto, value: bool, where: str) -> TensorProto:
    """Return what a switch is fed with.

    Raises:
        UsageError: It is none.
    """
    kind = info.type.tensor_type
    sizes = [dim.dim_value if dim.HasField("dim_value") else 1 for dim in kind.shape.dim]
    if kind.elem_type != TensorProto.BOOL or any(size != 1 for size in sizes):
        raise UsageError(f"input {info.name!r} is not one bool", where=where)
    return helper.make_tensor(info.name, TensorProto.BOOL, sizes, [value])


def is_on(flag: TensorProto) -> bool:
    """Return the value of a switch."""
    return bool(flag.int32_data[0])
