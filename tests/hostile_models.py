"""Models that a hostile file stores: around tensors, and of calls that double."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper


def model(*tensors: TensorProto) -> ModelProto:
    node = helper.make_node("Mod", ["x", "w"], ["y"], name="MARK", fmod=1)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    stored = list(tensors) or [onnx.numpy_helper.from_array(np.ones((2, 3), np.float32), "w")]
    graph = helper.make_graph([node], "g", [x], [y], stored)
    imports = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def doubling(depth: int) -> ModelProto:
    """Return functions that each call the one before twice."""
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    functions: list[onnx.FunctionProto] = []
    for level in range(depth):
        domain, op = ("", "Neg") if level == 0 else ("f", f"f{level - 1}")
        nodes = [
            helper.make_node(op, ["a"], ["b"], domain=domain),
            helper.make_node(op, ["b"], ["c"], domain=domain),
        ]
        functions.append(helper.make_function("f", f"f{level}", ["a"], ["c"], nodes, imports))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    call = helper.make_node(f"f{depth - 1}", ["x"], ["y"], domain="f")
    graph = helper.make_graph([call], "g", [x], [y])
    return helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=8)
