"""Weights that an edit makes: in memory, or in a file where those of the model are in files."""

from __future__ import annotations

import contextlib

import numpy as np
from onnx import ModelProto, TensorProto, numpy_helper

from graphfix.edits.arrays import Array
from graphfix.ir.model import Model
from graphfix.ir.storage.aside import LEAST, Aside
from graphfix.ir.storage.reading import walk_tensors
from graphfix.ir.storage.weights import is_external


class Store:
    """Makes tensors of arrays; a model that has its weights in files gets no big one in memory.

    Attributes:
        base_dir: Where the external data of the model lies.
        aside: The file next to it; None while nothing is in it.
    """

    def __init__(self, proto: ModelProto, base_dir: str) -> None:
        """Look at where a model has its weights."""
        self.base_dir = base_dir
        self.aside: Aside | None = None
        self._outside = any(is_external(tensor) for tensor in walk_tensors(proto))

    def tensor(self, name: str, array: Array) -> TensorProto:
        """Return a tensor of these values and their type."""
        if self._outside and array.nbytes >= LEAST and array.dtype.kind in "iuf":
            with contextlib.suppress(OSError):  # it stays in memory
                self.aside = self.aside or Aside(self.base_dir)
                kind = numpy_helper.from_array(np.empty(0, array.dtype)).data_type
                made = TensorProto(name=name, data_type=kind, dims=array.shape)
                raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
                return self.aside.write(made, raw)
        return numpy_helper.from_array(array, name)

    def keep_for(self, model: Model) -> None:
        """Keep the file as long as a model that was made of these tensors."""
        if self.aside is not None:
            model.hold(self.aside)
