"""Declare uint8 inputs and outputs as int32.

What it does:
    Declares them as int32 and casts behind inputs and before outputs, so that the model computes
    as before. Inputs that are only cast are left to uint8-input-by-cast. It runs only with
    --allow-io-change, and the report names each change as old -> new.

Why engines need it:
    TensorRT before 8.5 takes no uint8 inputs and outputs ("Unsupported ONNX data type: UINT8 (2)").

Before:
    x: uint8[1,3,224,224]
    y = Transpose (x)                  # uint8

After:
    x: int32[1,3,224,224]
    y = Cast <to = 6> (Transpose (Cast <to = 2> (x)))

When it refuses:
    Without --allow-io-change; an output that is given out twice, or by a node with bodies.

Accuracy:
    Exact for the values that a uint8 can have, which is what the caller has to go on feeding.

References:
    onnx/onnx-tensorrt 8.0 onnx2trt_utils.cpp, convertDtype; NVIDIA/TensorRT issues 1022, 2592
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import INTERFACE, Editor, graph_pass
from graphfix.passes.dtype._ends import ends_of, retype_ends

_WIDER: dict[int, int] = {TensorProto.UINT8: TensorProto.INT32}


@graph_pass(removes=ends_of("uint8"), emits="*::*", stage=INTERFACE)
def uint8_ends_to_int32(editor: Editor) -> None:
    """Look at every input and output, see the module."""
    retype_ends(editor, _WIDER, but_for_casts=True)
