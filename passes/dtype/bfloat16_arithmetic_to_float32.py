"""Compute in float32 what is between nodes as bfloat16, though other values come out.

What it does: All nodes that pass bfloat16 tensors to each other are written in float32, constants
    included; what the model gets and gives as bfloat16 is cast at its ends.
Why engines need it: TensorRT before 9.0 has no bfloat16 ("Unsupported data type for the Cast
    operator!", "Found unsupported datatype when importing initializer").
Before:
    q = Cast <to = 16> (x)             # bfloat16
    y = Cast <to = 1> (Mul (q, 0.1))
After: y = Mul (x, 0.1)
When it refuses: Without --allow-lossy; where bfloat16-to-float32 does it already. One of the nodes
    has a body, is of another domain, or handles sequences: then all that are connected with it stay
    as they are.
Accuracy: Lossy: what the model rounds to 8 bits after every operator (a relative error of 2^-9) is
    rounded to 24 bits, so that the result is nearer to the exact one, and not the same.
References: onnx2trt_utils.cpp:346, 748 of onnx-tensorrt, release 8.6 (no BFLOAT16); onnx_utils.hpp
    and importerUtils.cpp: convertDtype, release 10.1
"""

from onnx import TensorProto

from graphfix.authoring import LOSSY, Editor, graph_pass

from ._floats import compute_in_float32, float_features


@graph_pass(removes=float_features("bfloat16"), emits="*::*", accuracy=LOSSY)
def bfloat16_arithmetic_to_float32(editor: Editor) -> None:
    """Look at all that bfloat16 tensors connect, see the module."""
    compute_in_float32(editor, TensorProto.BFLOAT16, LOSSY)
