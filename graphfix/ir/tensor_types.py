"""Element types and shapes as a graph holds them."""

from __future__ import annotations

from typing import Any

from onnx import TypeProto

Shape = tuple["int | str | None", ...]
Kept = dict[Any, Any]  # answers by question; see `graphfix.analysis.memo`


def shape_of_type(proto: TypeProto) -> tuple[int, Shape | None]:
    """Return (element type, shape) of a tensor type; (0, None) for any other kind."""
    if not proto.HasField("tensor_type"):
        return 0, None
    tensor = proto.tensor_type
    if not tensor.HasField("shape"):
        return tensor.elem_type, None
    dims: list[int | str | None] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            dims.append(dim.dim_value)
        else:
            dims.append(dim.dim_param or None)
    return tensor.elem_type, tuple(dims)
