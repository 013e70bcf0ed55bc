"""Models of one operator of ai.onnx.ml, which reads rows x and gives y, and a label before it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

Array = np.ndarray[Any, Any]
ROUNDED: dict[str, Any] = {"rtol": 2e-6, "atol": 2e-6}


def model_of(
    op: str,
    shape: Sequence[int | str],
    *,
    kind: int = TensorProto.FLOAT,
    result: int = TensorProto.FLOAT,
    label: int = 0,
    **attributes: Any,
) -> onnx.ModelProto:
    """Return a model of one node.

    Args:
        op: The operator.
        shape: The shape of x.
        kind: The element type of x.
        result: The element type of y.
        label: That of the label; 0 where the operator gives none.
        attributes: Those of the node.
    """
    outputs = ["label", "y"] if label else ["y"]
    types = [label, result] if label else [result]
    node = helper.make_node(op, ["x"], outputs, domain="ai.onnx.ml", **attributes)
    shapes: list[list[int | str]] = [["N"], [*shape[:-1], "C"]]
    ends = [
        helper.make_tensor_value_info(name, of, sizes)
        for name, of, sizes in zip(outputs, types, shapes[-len(outputs) :], strict=True)
    ]
    x = helper.make_tensor_value_info("x", kind, shape)
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    graph = helper.make_graph([node], "g", [x], ends)
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def rows(kind: str = "float32") -> Array:
    """Return rows of three numbers: zeros, negative ones, wholes and others."""
    data = [[0, 0, 0], [1, -1, 0.5], [2, 0.25, -1.75], [-1, -2, -0.5], [0.5, 1.5, 1], [3, 1, -4]]
    return np.array(data).astype(kind)
