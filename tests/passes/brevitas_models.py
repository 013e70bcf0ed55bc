"""Models of one quantizer of QONNX, Brevitas or FINN; their inputs but the first are constants."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from passes.quantization._brevitas import DOMAINS
from passes.quantization.brevitas_quantizers import (
    evaluate_bipolar,
    evaluate_float,
    evaluate_quant,
    evaluate_thresholds,
    evaluate_trunc,
)

Array = np.ndarray[Any, Any]
GENERAL = "qonnx.custom_op.general"
# Zero, halves of steps, both ends of the range and beyond it.
NUMBERS = np.array(
    [0, 0.25, -0.25, 0.75, 1.25, 1.3, -1.3, 3.75, 4.25, -4.25, 100, -100], np.float32
)
_MODELS = {
    "Quant": evaluate_quant,
    "IntQuant": evaluate_quant,
    "BipolarQuant": evaluate_bipolar,
    "Trunc": evaluate_trunc,
    "FloatQuant": evaluate_float,
    "MultiThreshold": evaluate_thresholds,
}
EVALUATORS = {(domain, op): model for domain in DOMAINS for op, model in _MODELS.items()}


def quantizer(
    op: str,
    constants: Sequence[Array],
    *,
    domain: str = GENERAL,
    shape: Sequence[int | str] = ("N",),
    opset: int = 13,
    **attributes: Any,
) -> onnx.ModelProto:
    """Return a model that reads x and gives y."""
    names = [f"c{place}" for place in range(len(constants))]
    node = helper.make_node(op, ["x", *names], ["y"], domain=domain, **attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    weights = [numpy_helper.from_array(c, n) for c, n in zip(constants, names, strict=True)]
    graph = helper.make_graph([node], "g", [x], [y], weights)
    imports = [helper.make_opsetid("", opset), helper.make_opsetid(domain, 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def number(value: float) -> Array:
    """Return a constant of rank 0."""
    return np.array(value, np.float32)
