"""The sizes that types declare: walked, and set."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import TensorShapeProto, TypeProto

Size = int | str | None


def set_size(dim: TensorShapeProto.Dimension, size: Size) -> None:
    """Declare a size: a number or a symbol; None leaves it as it is."""
    if isinstance(size, int):
        dim.dim_value = size
    elif size is not None:
        dim.dim_param = size


def dims_of(kind: TypeProto) -> Iterator[TensorShapeProto.Dimension]:
    """Walk the declared dimensions of a type."""
    form = kind.WhichOneof("value")
    if form == "tensor_type":
        yield from kind.tensor_type.shape.dim
    elif form == "sequence_type":
        yield from dims_of(kind.sequence_type.elem_type)
    elif form == "optional_type":
        yield from dims_of(kind.optional_type.elem_type)
