"""Write BitCast between integers of one width as Cast.

What it does: Signed and unsigned integers of one width lie in the same bits, which a Cast keeps: it
    drops higher bits and takes the rest as two's complement. A bool is 0 or 1.
Why engines need it: TensorRT has no BitCast, and onnxruntime none of bools.
Before: y = BitCast <to = 2> (x)          # x: int8
After: y = Cast <to = 2> (x)
When it refuses: One of the types is no integer, or the result is bool, of which other bits than 0
    and 1 are none; the widths differ.
Accuracy: Exact.
References: https://onnx.ai/onnx/operators/onnx__BitCast.html, onnx__Cast.html
"""

import numpy as np
from onnx import helper

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite


@rewrite("BitCast", removes="op:BitCast dtype:BitCast.*", emits="Cast", since=26)
def bitcast_to_cast(node: NodeView, build: Builder) -> Value:
    """Cast, see the module."""
    x, to = node.need(0), int(node.attr("to"))
    target = np.dtype(helper.tensor_dtype_to_np_dtype(to))
    if x.dtype is None or x.dtype.kind not in "iub" or target.kind not in "iu":
        raise Refuse(f"both types must be integers; they are {x.type_name} and {target}")
    if x.dtype.itemsize != target.itemsize:
        raise Refuse(f"both types must be as wide; they are {x.type_name} and {target}")
    return build.Cast(x, to=to)
