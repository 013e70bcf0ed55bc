"""The values of tensors: element types, sizes, and reading them when they are asked for."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from graphfix.errors import InvalidModel
from graphfix.ir.storage.aside import Aside

MAX_DENSE = 1 << 30
LEAST_SHARED = 64  # bytes: what is smaller is a number or a shape, and stays where it is read
_EXTERNAL = TensorProto.EXTERNAL


@cache
def dtype_of(elem_type: int) -> np.dtype[Any] | None:
    """Return the numpy (or ml_dtypes) dtype of a TensorProto.DataType; None for UNDEFINED."""
    if elem_type == TensorProto.UNDEFINED:
        return None
    try:
        return numpy_dtype(elem_type)
    except KeyError:
        return None


@cache  # numpy spells the name of a dtype again each time it is asked
def numpy_dtype(elem_type: int) -> np.dtype[Any]:
    """Return the numpy dtype of an ONNX element type; strings are objects.

    Raises:
        KeyError: It is none.
    """
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(elem_type))


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
    return proto.data_location == _EXTERNAL


def external_span(proto: TensorProto) -> tuple[str, int, int]:
    """Return (location, offset, length in bytes) of an external tensor.

    Raises:
        ValueError: Offset or length is no number.
    """
    entries = external_entries(proto)
    length = int(entries.get("length", 0))  # 0 stands for a length that no one wrote
    return (
        entries.get("location", ""),
        int(entries.get("offset", 0)),
        length or stored_bytes(proto),
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
    try:
        name = TensorProto.DataType.Name(elem_type)
    except ValueError:  # none that this onnx knows
        return 0
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
        InvalidModel: The data is not what element type and dims say, the external data is missing
            or shorter than that, or a sparse tensor is too big to be written out.
    """
    if isinstance(proto, onnx.SparseTensorProto):
        return _densify(proto, base_dir)
    if not is_external(proto):
        return _decoded(proto, proto.name)
    location, offset, length = external_span(proto)
    path = Path(base_dir) / location
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            raw = stream.read(length)
    except (OSError, OverflowError, MemoryError, ValueError) as error:
        said = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
        raise InvalidModel(
            f"external data of {proto.name!r}, {length} bytes, cannot be read: {said}",
            where=str(path),
        ) from error
    if len(raw) != length:
        raise InvalidModel(
            f"external data of {proto.name!r} is too short: {len(raw)} of {length} bytes",
            where=str(path),
        )
    filled = TensorProto(data_type=proto.data_type, dims=list(proto.dims), raw_data=raw)
    return _decoded(filled, proto.name)


def _decoded(proto: TensorProto, name: str) -> np.ndarray[Any, Any]:
    """Decode a tensor of a file that no one vouches for.

    Whatever onnx raises there, the bytes do not make the tensor that they are said to be.
    """
    try:
        return numpy_helper.to_array(proto)
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        kind = f"{type_name(proto.data_type)}{list(proto.dims)}"
        raise InvalidModel(
            f"the data of tensor {name!r} does not make {kind}: {said}",
            hint="the file is damaged; export it again",
        ) from error


def _densify(proto: onnx.SparseTensorProto, base_dir: str) -> np.ndarray[Any, Any]:
    values = load_array(proto.values, base_dir)
    indices = load_array(proto.indices, base_dir)
    dims = tuple(proto.dims)
    name = proto.values.name
    if math.prod(max(dim, 0) for dim in dims) * values.itemsize > MAX_DENSE:
        raise InvalidModel(
            f"the sparse tensor {name!r} of {list(dims)} is too big to be written out"
        )
    try:
        dense = np.zeros(dims, dtype=values.dtype)
        if indices.ndim == 1:
            dense.reshape(-1)[indices] = values
        else:
            dense[tuple(indices.T)] = values
    except (ValueError, IndexError, TypeError) as error:
        raise InvalidModel(f"the indices of sparse tensor {name!r} do not fit: {error}") from error
    return dense


class Weights:
    """The values of a constant, read when they are asked for and never before.

    Attributes:
        proto: The tensor.
        base_dir: The folder of the model, for external data.
        elem_type: TensorProto.DataType.
        shape: Dimensions.
        aside: The file of a run that has them; it is there as long as they are.
        digest: That of the bytes as they are stored; None until someone asks.
    """

    __slots__ = ("_span", "aside", "base_dir", "digest", "elem_type", "proto", "shape")

    def __init__(
        self,
        proto: TensorProto | onnx.SparseTensorProto,
        base_dir: str,
        aside: Aside | None = None,
    ) -> None:
        """Refer to `proto`; external data is looked up in `base_dir`."""
        self.proto = proto
        self.aside = aside
        self.base_dir = base_dir
        dense = proto.values if isinstance(proto, onnx.SparseTensorProto) else proto
        self.elem_type: int = dense.data_type
        self.shape: tuple[int, ...] = tuple(proto.dims)
        self._span: tuple[Any, Any] | None = None
        self.digest: bytes | None = None

    @property
    def dtype(self) -> Any:
        """The numpy dtype of the values."""
        return dtype_of(self.elem_type)

    @property
    def nbytes(self) -> int:
        """Bytes that the values take in memory."""
        dtype = self.dtype
        return math.prod(self.shape) * (dtype.itemsize if dtype else 1)

    def load(self) -> np.ndarray[Any, Any]:
        """Read the values.

        Raises:
            InvalidModel: The external data is missing or too short.
        """
        return load_array(self.proto, self.base_dir)

    def span(self) -> tuple[Any, Any]:
        """Return the least and the largest of numbers, (0, 0) of none; read once and kept.

        Raises:
            InvalidModel: The external data is missing or too short.
        """
        if self._span is None:
            values = self.load()
            self._span = (values.min(), values.max()) if values.size else (0, 0)
        return self._span
