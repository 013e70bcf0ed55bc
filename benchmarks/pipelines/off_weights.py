"""Files whose float weights are off by a rounding error, which shows what engines may round."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

# Engines round scales and products in other places: how far steps carry that shows where all float
# weights of the original are off by so much (of float16 by one unit in the last place).
_ROUNDING, _HALF_ROUNDING = 1e-6, 2.0**-11
_SCALED = ("Resize", "Upsample")  # whose scales are sizes


def rounded(described: bytes, *, alone: bool = False) -> bytes:
    """Return a file whose float weights, scales among them, are off by a rounding error.

    Args:
        described: The file.
        alone: Whether single numbers and integers stay, with which networks compute positions.
    """
    onnx: Any = import_module("onnx")
    model = onnx.load_from_string(described)
    rng = np.random.default_rng(3)
    kinds = onnx.TensorProto
    errors = {kinds.FLOAT: _ROUNDING, kinds.FLOAT16: _HALF_ROUNDING}
    sizes = {name for n in model.graph.node if n.op_type in _SCALED for name in n.input[1:]}
    for stored in model.graph.initializer:
        if stored.external_data or stored.data_type not in errors or stored.name in sizes:
            continue
        values: Any = onnx.numpy_helper.to_array(stored)
        if alone and (values.size == 1 or bool((values == np.rint(values)).all())):
            continue
        signs = rng.choice(np.array([-1, 1]), values.shape)
        most: Any = np.finfo(values.dtype)
        exact = values.astype(np.float64) * (1 + errors[stored.data_type] * signs)
        # What masks hold is the least number of the type, and stays one.
        off: Any = np.array(np.clip(exact, most.min, most.max), values.dtype)
        infinite = np.isinf(values)
        off[infinite] = values[infinite]
        stored.CopyFrom(onnx.numpy_helper.from_array(off, stored.name))
    return bytes(model.SerializeToString())
