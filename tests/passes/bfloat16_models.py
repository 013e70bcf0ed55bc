"""Models that compute in bfloat16."""

import ml_dtypes
import numpy as np
import onnx

TABLE = np.array([[1.5, -2.25, 300], [0, -0.0, 1e30]], ml_dtypes.bfloat16)


def embedding() -> onnx.ModelProto:
    """Return a model that only moves bfloat16."""
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]> g (int64[N] i) => (float[N, 3] y) {
        rows = Gather (table, i)  z = Neg (rows)  y = Cast <to = 1> (z) }"""
    )
    model.graph.initializer.append(onnx.numpy_helper.from_array(TABLE, "table"))
    return model


def network() -> onnx.ModelProto:
    """Return a model that multiplies and adds bfloat16."""
    rng = np.random.default_rng(0)
    model = onnx.parser.parse_model(
        """<ir_version: 8, opset_import: ["" : 17]> g (float[2, 8] x) => (float[2, 4] y) {
        q = Cast <to = 16> (x)  h = MatMul (q, w)  r = Relu (h)  s = Add (r, b)
        y = Cast <to = 1> (s) }"""
    )
    for name, shape in (("w", (8, 4)), ("b", (4,))):
        array = rng.standard_normal(shape).astype(ml_dtypes.bfloat16)
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model
