"""Compute in float32 what is between nodes as bfloat16.

What it does: All nodes that pass bfloat16 tensors to each other are written in float32, constants
    included; what the model gets and gives as bfloat16 is cast at its ends.
Why engines need it: TensorRT before 9.0 has no bfloat16 ("Unsupported data type for the Cast
    operator!", "Found unsupported datatype when importing initializer").
Before: y = Cast <to = 1> (Gather (table, i))       # table: bfloat16
After: y = Gather (table, i)                       # table: float32
When it refuses: One of the nodes has a body, is of another domain, or handles sequences: then all
    that are connected with it stay as they are. Where the whole model gives other values than
    rounding explains it is rolled back; bfloat16-arithmetic-to-float32 does the same by consent.
Accuracy: Exact where the nodes move and compare elements only: float32 holds every number of
    bfloat16. Else approximate: what the model rounds to 8 bits after every operator (a relative
    error of 2^-9) is rounded to 24 bits, so that the result is nearer to the exact one.
References: onnx2trt_utils.cpp:346, 748 of onnx-tensorrt, release 8.6 (no BFLOAT16); onnx_utils.hpp
    and importerUtils.cpp: convertDtype, release 10.1
"""

from onnx import TensorProto

from graphfix.authoring import APPROXIMATE, Editor, graph_pass

from ._floats import compute_in_float32, float_features


@graph_pass(removes=float_features("bfloat16"), emits="*::*", accuracy=APPROXIMATE)
def bfloat16_to_float32(editor: Editor) -> None:
    """Look at all that bfloat16 tensors connect, see the module."""
    compute_in_float32(editor, TensorProto.BFLOAT16)
