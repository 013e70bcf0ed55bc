"""The values of a stored tensor, read when they are asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from graphfix.ir.storage.weights import dtype_of, load_array


class Weights:
    """The values of a constant, read when they are asked for and never before.

    Attributes:
        proto: The tensor.
        base_dir: The folder of the model, for external data.
        elem_type: TensorProto.DataType.
        shape: Dimensions.
    """

    __slots__ = ("_span", "base_dir", "elem_type", "proto", "shape")

    def __init__(self, proto: TensorProto | onnx.SparseTensorProto, base_dir: str) -> None:
        """Refer to `proto`; external data is looked up in `base_dir`."""
        self.proto = proto
        self.base_dir = base_dir
        dense = proto.values if isinstance(proto, onnx.SparseTensorProto) else proto
        self.elem_type: int = dense.data_type
        self.shape: tuple[int, ...] = tuple(proto.dims)
        self._span: tuple[Any, Any] | None = None

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
