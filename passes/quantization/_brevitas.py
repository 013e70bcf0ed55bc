"""The quantizers of QONNX, Brevitas and FINN: domains, rounding, and ranges of bit widths.

Read in fastmachinelearning/qonnx, src/qonnx/custom_op/general/quant.py (min_int, max_int,
resolve_rounding_mode), trunc.py, bipolar_quant.py, floatquant.py, multithreshold.py, and
src/qonnx/custom_op/channels_last/base_wrapped_op.py.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, InferredType, NodeView, Refuse, Value

DOMAINS = ("qonnx.custom_op.general", "onnx.brevitas", "finn.custom_op.general", "finn")
ROUND_EMITS = "Abs Add Ceil Clip Div Floor Max Mul Round Sub"
_WIDEST = 24  # what float32 holds
_WIDEST_BEFORE_ROUND = 20  # what `rounded` does without Round, which came with opset 11


def named(*operators: str) -> tuple[str, ...]:
    """Return operators in each of the domains."""
    return tuple(f"{domain}::{op}" for domain in DOMAINS for op in operators)


def features(*operators: str) -> tuple[str, ...]:
    """Return their features."""
    return tuple(f"op:{name}" for name in named(*operators))


def infer_like(node: NodeView) -> Sequence[InferredType | None]:
    """Float32 of the shape of the first input."""
    return (InferredType(TensorProto.FLOAT, node.need(0).shape),)


def need_floats(node: NodeView) -> Value:
    """Return the first input.

    Raises:
        Refuse: It is not float32.
    """
    x = node.need(0)
    if x.elem_type != TensorProto.FLOAT:
        raise Refuse(f"{x.name} must be float32; it is {x.type_name}")
    return x


def bits_at(node: NodeView, build: Builder, place: int) -> int:
    """Return a bit width.

    Raises:
        Refuse: It is computed, or no integer from 1 to 24.
    """
    given = build.need_const(node.need(place), "the bit width").reshape(-1)
    most = _WIDEST if build.opset >= 11 else _WIDEST_BEFORE_ROUND
    if given.size != 1 or given[0] != int(given[0]) or not 1 <= given[0] <= most:
        raise Refuse(f"the bit width must be one integer from 1 to {most}; it is {given}")
    return int(given[0])


def range_of(bits: int, signed: int, narrow: int) -> tuple[float, float]:
    """Return the least and the greatest integer of a bit width."""
    if signed:
        half = 2.0 ** (bits - 1)
        return (1 - half if narrow else -half), half - 1
    return 0.0, 2.0**bits - (2 if narrow else 1)


def numpy_rounding(attributes: dict[str, Any]) -> Any:
    """Return numpy's function of a rounding mode."""
    mode = str(attributes.get("rounding_mode", "ROUND")).upper()
    return {"ROUND": np.round, "CEIL": np.ceil, "FLOOR": np.floor}[mode]


def quantized_by_numpy(
    x: Array, scale: Array, zero: Array, bounds: tuple[float, float], rounding: Any
) -> Array:
    """Quantize and dequantize in float32."""
    steps = rounding(np.clip(x / scale + zero, *bounds))
    return np.asarray((steps - zero) * scale, np.float32)
