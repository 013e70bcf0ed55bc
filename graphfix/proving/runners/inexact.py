"""Integer kernels of onnxruntime that compute in float64 and saturate.

ONNX says of none of these operators that integers are rounded. A sum past 2^53 comes out rounded
all the same, and one that does not fit into the type as the largest number that does. Where the
original has such a kernel, what onnxruntime says of it is no truth for large integers.
"""

from __future__ import annotations

import onnx

from graphfix.ir.protos import nodes_of_model

# Measured with onnxruntime 1.31 against numpy; a test measures again.
INEXACT_FOR_INTEGERS = frozenset(
    {"ReduceSum", "ReduceProd", "ReduceSumSquare", "ReduceL1", "ReduceMean", "Pow"}
)


def has_inexact_integers(model: onnx.ModelProto) -> bool:
    """Say whether a model has an operator whose integer kernel is inexact."""
    return any(
        node.op_type in INEXACT_FOR_INTEGERS and node.domain in ("", "ai.onnx")
        for node in nodes_of_model(model)
    )
