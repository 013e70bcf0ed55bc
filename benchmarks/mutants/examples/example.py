"""What an example is: a small model on which a pass acts, or refuses to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx


@dataclass(frozen=True)
class Example:
    """A model as text, and what may go into it.

    Attributes:
        unit: The pass, or ``opset 13 12`` for a step.
        text: For `onnx.parser`, from the name of the graph on; ``T`` stands for an element type.
        types: The element types it is made with.
        opset: The opset of the model.
        ir: Its IR version.
        imports: Further domains.
        domains: Input -> see `feeds.py`.
        sizes: Name of a dynamic dimension -> the sizes it takes in turn.
        arrays: Constants by name; floats and, where they are marked so, integers become ``T``.
        special: Whether NaN and infinities belong to what the pass claims.
        options: Options of the pass.
    """

    unit: str
    text: str
    types: tuple[str, ...] = ("float",)
    opset: int = 17
    ir: int = 8
    imports: tuple[str, ...] = ()
    domains: Mapping[str, str] = field(default_factory=dict[str, str])
    sizes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    arrays: Mapping[str, Any] = field(default_factory=dict[str, Any])
    special: bool = False
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def model(self, element: str) -> onnx.ModelProto:
        """Return the model for one element type."""
        domains = "".join(f', "{name}" : 1' for name in self.imports)
        head = f'<ir_version: {self.ir}, opset_import: ["" : {self.opset}{domains}]>'
        proto = onnx.parser.parse_model(head + re.sub(r"\bT\b", element, self.text))
        number = onnx.TensorProto.DataType.Value(element.upper())
        dtype = onnx.helper.tensor_dtype_to_np_dtype(number)
        for name, given in self.arrays.items():
            array = np.asarray(given)
            if array.dtype == np.float64:
                array = array.astype(dtype)
            proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
        return proto

    @property
    def arguments(self) -> dict[str, Any]:
        """What `graphfix.run` is asked for."""
        if self.unit.startswith("opset "):
            return {"opset": int(self.unit.split()[2])}
        options = {f"{self.unit}.{key}": value for key, value in self.options.items()}
        return {"passes": [self.unit], "options": options}
