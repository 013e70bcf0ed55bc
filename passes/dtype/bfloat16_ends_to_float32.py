"""Declare bfloat16 inputs and outputs as float32.

What it does:
    Declares them as float32 and casts behind inputs and before outputs; what is computed in
    between is for bfloat16-to-float32. It runs only with --allow-io-change, and the report names
    each change as old -> new.

Why engines need it:
    TensorRT before 9.0 takes no bfloat16 ("Failed to convert ONNX date type to TensorRT
    data type.").

Before:
    x: bfloat16[2,3]
    y = Sin (x)                        # bfloat16

After:
    x: float[2,3]
    y = Cast <to = 1> (Sin (Cast <to = 16> (x)))

When it refuses:
    Without --allow-io-change; an output that is given out twice, or by a node with bodies.

Accuracy:
    Exact for the values that a bfloat16 can have, which is what the caller has to go on feeding.

References:
    onnx2trt_utils.cpp: convertDtype of onnx-tensorrt, releases 8.6 and 9.3
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import INTERFACE, Editor, graph_pass
from graphfix.passes.dtype._ends import ends_of, retype_ends

_WIDER: dict[int, int] = {TensorProto.BFLOAT16: TensorProto.FLOAT}


@graph_pass(removes=ends_of("bfloat16"), emits="*::*", stage=INTERFACE)
def bfloat16_ends_to_float32(editor: Editor) -> None:
    """Look at every input and output, see the module."""
    retype_ends(editor, _WIDER)
