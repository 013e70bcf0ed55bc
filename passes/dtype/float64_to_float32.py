"""Compute in float32 what is between nodes as float64.

What it does: All nodes that pass float64 tensors to each other are written in float32, constants
    included; what the model gets and gives as float64 is cast at its ends.
Why engines need it: TensorRT before 8.0 has no float64 ("Unsupported data type for the Cast
    operator!", "Found unsupported datatype when importing initializer"); from 8.0 on the parser
    itself takes float32 for it, and clamps infinite constants to its largest number. ncnn has
    float32 alone.
Before:
    q = Cast <to = 11> (x)             # float64
    y = Cast <to = 1> (Mul (q, 0.1))
After: y = Mul (x, 0.1)
When it refuses: One of the nodes has a body, is of another domain, or handles sequences; a constant
    is larger than float32 reaches: then all that are connected with it stay as they are.
Accuracy: Approximate: every operator rounds to 24 bits instead of 53, and what is larger than
    3.4e38 becomes infinite.
References: onnx2trt_utils.cpp: convertDtype of onnx-tensorrt, releases 7.2 and 8.0; NVIDIA/TensorRT
    issue 1872
"""

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Editor, graph_pass

from ._floats import compute_in_float32, float_features


@graph_pass(
    removes=(
        *float_features("float64"),
        "dtype:float64-beyond-float32",
        f"dtype:Cast.{TensorProto.DOUBLE}",
    ),
    emits="*::*",
    accuracy=APPROXIMATE,
)
def float64_to_float32(editor: Editor) -> None:
    """Look at all that float64 tensors connect, see the module."""
    compute_in_float32(editor, TensorProto.DOUBLE)
