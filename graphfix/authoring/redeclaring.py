"""Writing another shape into the declaration of a tensor."""

from __future__ import annotations

from onnx import ValueInfoProto

from graphfix.authoring.views import Value
from graphfix.exporting import make_info
from graphfix.graph import Shape, Variable


def redeclare(tensor: Variable, shape: Shape) -> tuple[str, str]:
    """Give a tensor another shape, also where the file declares one; return old and new type."""
    old = _text(tensor)
    tensor.shape = shape
    if tensor.info is not None:
        info = ValueInfoProto()
        info.CopyFrom(tensor.info)
        info.type.CopyFrom(make_info(tensor).type)
        tensor.info = info
    return old, _text(tensor)


def _text(tensor: Variable) -> str:
    if tensor.shape is None:
        return f"{Value(tensor).type_name} of unknown rank"
    dims = ", ".join("?" if dim is None else str(dim) for dim in tensor.shape)
    return f"{Value(tensor).type_name}[{dims}]"
