"""The values of tensors: element types, sizes, and reading them when they are asked for."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from graphfix.errors import InvalidModel


@cache
def dtype_of(elem_type: int) -> np.dtype[Any] | None:
    """Return the numpy (or ml_dtypes) dtype of a TensorProto.DataType; None for UNDEFINED."""
    if elem_type == TensorProto.UNDEFINED:
        return None
    try:
        return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
    except KeyError:
        return None


@cache
def type_name(elem_type: int) -> str:
    """Return the name that profiles and reports use: ``float32``, ``int64``, ``bfloat16``."""
    names: dict[int, str] = {
        TensorProto.UNDEFINED: "unknown",
        TensorProto.FLOAT: "float32",
        TensorProto.DOUBLE: "float64",
    }
    if elem_type in names:
        return names[elem_type]
    try:
        return str(TensorProto.DataType.Name(elem_type)).lower()
    except ValueError:
        return f"type{elem_type}"


def external_entries(proto: TensorProto) -> dict[str, str]:
    """Return location, offset, length and checksum of a tensor stored outside the file."""
    return {entry.key: entry.value for entry in proto.external_data}


def is_external(proto: TensorProto) -> bool:
    """Say whether the values lie outside the .onnx file."""
    return proto.data_location == TensorProto.EXTERNAL


def external_span(proto: TensorProto) -> tuple[str, int, int]:
    """Return (location, offset, length in bytes) of an external tensor."""
    entries = external_entries(proto)
    length = entries.get("length")
    return (
        entries.get("location", ""),
        int(entries.get("offset", 0)),
        int(length) if length is not None else stored_bytes(proto),
    )


def stored_bytes(proto: TensorProto) -> int:
    """Return how many bytes the values take as raw data, 4-bit and 2-bit types packed."""
    count = 1
    for dim in proto.dims:
        count *= dim
    bits = _bits(proto.data_type)
    return (count * bits + 7) // 8


@cache
def _bits(elem_type: int) -> int:
    name = TensorProto.DataType.Name(elem_type)
    for prefix, bits in (("INT4", 4), ("UINT4", 4), ("FLOAT4", 4), ("INT2", 2), ("UINT2", 2)):
        if name.startswith(prefix):
            return bits
    dtype = dtype_of(elem_type)
    return 8 * (dtype.itemsize if dtype is not None else 1)


def load_array(proto: TensorProto | onnx.SparseTensorProto, base_dir: str) -> np.ndarray[Any, Any]:
    """Return the values of a tensor, dense.

    Args:
        proto: The tensor, dense or sparse.
        base_dir: The folder of the model, for external data.

    Raises:
        InvalidModel: The external data is missing or shorter than the tensor says.
    """
    if isinstance(proto, onnx.SparseTensorProto):
        return _densify(proto, base_dir)
    if not is_external(proto):
        return numpy_helper.to_array(proto)
    location, offset, length = external_span(proto)
    path = Path(base_dir) / location
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            raw = stream.read(length)
    except OSError as error:
        raise InvalidModel(
            f"external data of {proto.name!r} cannot be read: {error.strerror}", where=str(path)
        ) from error
    if len(raw) != length:
        raise InvalidModel(
            f"external data of {proto.name!r} is too short: {len(raw)} of {length} bytes",
            where=str(path),
        )
    filled = TensorProto(data_type=proto.data_type, dims=list(proto.dims), raw_data=raw)
    return numpy_helper.to_array(filled)


def _densify(proto: onnx.SparseTensorProto, base_dir: str) -> np.ndarray[Any, Any]:
    values = load_array(proto.values, base_dir)
    indices = load_array(proto.indices, base_dir)
    dims = tuple(proto.dims)
    dense = np.zeros(dims, dtype=values.dtype)
    if indices.ndim == 1:
        dense.reshape(-1)[indices] = values
    else:
        dense[tuple(indices.T)] = values
    return dense
