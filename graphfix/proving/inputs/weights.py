"""Models without their large weights, for what looks at shapes alone."""

from __future__ import annotations

import math

import onnx


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """Copy a model; large initializers become inputs, so that inference copies no weights."""
    slim = onnx.ModelProto()
    slim.ir_version = model.ir_version
    slim.opset_import.extend(model.opset_import)
    slim.graph.node.extend(model.graph.node)
    slim.graph.input.extend(model.graph.input)
    slim.graph.output.extend(model.graph.output)
    slim.graph.value_info.extend(model.graph.value_info)
    slim.graph.name = model.graph.name
    present = {info.name for info in model.graph.input}
    for tensor in model.graph.initializer:
        if math.prod(tensor.dims) <= 64 and tensor.data_location == onnx.TensorProto.DEFAULT:
            slim.graph.initializer.append(tensor)
        elif tensor.name not in present:
            info = onnx.helper.make_tensor_value_info(
                tensor.name, tensor.data_type, list(tensor.dims)
            )
            slim.graph.input.append(info)
    return slim
