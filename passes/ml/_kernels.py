"""What support vector machines compare rows with vectors by: dot products, polynomials, distances.

microsoft/onnxruntime: onnxruntime/core/providers/cpu/ml/ml_common.h, svmclassifier.h (SVMCommon).
"""

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value

KERNEL_EMITS = "Add Exp MatMul Mul Pow ReduceSum Sub Tanh Unsqueeze"


def compared(build: Builder, node: NodeView, x: Value, vectors: Array) -> Value:
    """Compare rows with vectors: [rows, columns] and [vectors, columns] -> [rows, vectors].

    Raises:
        Refuse: The kernel is none of ONNX, or has not the numbers that it needs.
    """
    kind = node.attr("kernel_type", "LINEAR")
    parameters = [float(number) for number in node.attr("kernel_params", [])]
    gamma, offset, degree = parameters if len(parameters) == 3 else (0.0, 0.0, 0.0)
    if kind not in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        raise Refuse(f"the kernel must be one of ONNX; it is {kind}")
    if kind != "LINEAR" and len(parameters) != 3:
        raise Refuse(f"a kernel {kind} must have three kernel_params; it has {len(parameters)}")
    if kind == "RBF":
        apart = build.Sub(build.Unsqueeze(x, axes=[1]), build.constant(vectors))
        distance = build.ReduceSum(build.Mul(apart, apart), axes=[2], keepdims=0)
        return build.Exp(build.Mul(distance, -gamma))
    dot = build.MatMul(x, build.constant(np.ascontiguousarray(vectors.T)))
    if kind == "LINEAR":
        return dot
    inner = build.Add(build.Mul(dot, gamma), offset)
    return build.Tanh(inner) if kind == "SIGMOID" else build.Pow(inner, degree)


def vectors_of(node: NodeView, count: int, x: Value) -> Array:
    """Return the support vectors: [vectors, columns].

    Raises:
        Refuse: Their numbers are no integer of vectors, or not of the columns of the rows.
    """
    given = np.array(node.attr("support_vectors", []), np.float32)
    if count <= 0 or given.size % count or x.dim(1) not in (None, given.size // count):
        raise Refuse(
            f"the support vectors must be {count} of {x.dim(1)} numbers; there are {given.size}"
        )
    return given.reshape(count, -1)
