"""Declare float64 inputs and outputs as float32.

What it does:
    Declares them as float32 and casts behind inputs and before outputs; what is computed in
    between is for float64-to-float32. It runs only with --allow-io-change and --allow-lossy,
    and the report names each change as old -> new.

Why engines need it:
    TensorRT before 8.0 takes no float64 ("Failed to convert ONNX date type to TensorRT
    data type.").

Before:
    x: float64[2,3]
    y = Sin (x)                        # float64

After:
    x: float[2,3]
    y = Cast <to = 1> (Sin (Cast <to = 11> (x)))

When it refuses:
    Without --allow-io-change and --allow-lossy; an output that is given out twice, or by a node
    with bodies.

Accuracy:
    Lossy: inputs and outputs are rounded to 24 bits, and so is what is computed in between.

References:
    onnx2trt_utils.cpp: convertDtype of onnx-tensorrt, releases 7.2 and 8.0
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import INTERFACE, LOSSY, Editor, graph_pass
from graphfix.passes.dtype._ends import ends_of, retype_ends

_WIDER: dict[int, int] = {TensorProto.DOUBLE: TensorProto.FLOAT}


@graph_pass(removes=ends_of("float64"), emits="*::*", stage=INTERFACE, accuracy=LOSSY)
def float64_ends_to_float32(editor: Editor) -> None:
    """Look at every input and output, see the module."""
    retype_ends(editor, _WIDER)
