"""Give inputs and outputs of int16, uint16 and uint32 a type that engines have.

What it does:
    Declares int16 and uint16 as int32, and uint32 as int64, and casts behind inputs and before
    outputs, so that the model computes as before. It runs only with --allow-io-change, and the
    report names each change as old -> new.

Why engines need it:
    No TensorRT takes these types ("Failed to convert ONNX date type to TensorRT data type.").

Before:
    x: uint16[4]
    y = Add (x, x)                     # uint16

After:
    x: int32[4]
    y = Cast <to = 6> (Add (Cast <to = 4> (x), Cast <to = 4> (x)))

When it refuses:
    Without --allow-io-change; an output that is given out twice, or by a node with bodies.

Accuracy:
    Exact for the values that the old type can have, which is what the caller has to go on feeding.

References:
    onnx2trt_utils.cpp:346 of onnx-tensorrt, release 8.6: convertDtype
"""

from __future__ import annotations

from onnx import TensorProto

from graphfix.authoring import INTERFACE, Editor, graph_pass
from graphfix.passes.dtype._ends import ends_of, retype_ends

_WIDER: dict[int, int] = {
    TensorProto.INT16: TensorProto.INT32,
    TensorProto.UINT16: TensorProto.INT32,
    TensorProto.UINT32: TensorProto.INT64,
}


@graph_pass(removes=ends_of("int16", "uint16", "uint32"), emits="*::*", stage=INTERFACE)
def integer_ends_to_wider(editor: Editor) -> None:
    """Look at every input and output, see the module."""
    retype_ends(editor, _WIDER)
