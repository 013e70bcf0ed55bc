"""Write a lookup in a table of 4 bits with DequantizeLinear, which keeps the 4 bits.

What it does: Writes the table of com.microsoft::GatherBlockQuantized as a tensor of int4 with a
    scale for each block, DequantizeLinear of it, and Gather. Where zero points are not 8 or
    scales not positive, what the numbers of a block are off is looked up and subtracted.
Why engines need it: TensorRT has weights of 4 bits from 10.0 on, as int4 with positive scales and
    without zero points, and no GatherBlockQuantized. It takes quantized weights before
    DequantizeLinear alone, so the table and not its rows are dequantized.
Before: y = com.microsoft.GatherBlockQuantized <bits = 4, block_size = 32> (table, ids, scales)
After: y = Gather (DequantizeLinear <axis = 1, block_size = 32> (int4 table, scales), ids)
When it refuses: The table has not 4 bits or not bytes, is no matrix with blocks along its last axis
    or is computed at run time, the lookup is not along the first axis; the opset is below 21, or
    the engine does not take what is written.
Accuracy: Exact without zero points; with them up to rounding.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.GatherBlockQuantized;
    onnxruntime/contrib_ops/cpu/quantization/gather_block_quantized.cc;
    https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html; built by TensorRT for RTX 1.7.1
"""

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

from ._int4 import EMITS, int4_of
from ._lookup import infer, need_rows


@rewrite(
    "com.microsoft::GatherBlockQuantized",
    emits=(EMITS, "Gather Reshape Sub Unsqueeze"),
    infer=infer,
    since=21,
    as_written=True,
)
def gather_block_quantized_to_dequantize(node: NodeView, build: Builder) -> Value:
    """Keep the bytes and look up, see the module."""
    shape = need_rows(node)
    indices = node.need(1)
    block = max(int(node.attr("block_size", 128)), 1)
    found = int4_of(node, build, (0, 2, 3), (shape[0], -(-2 * shape[1] // block), block))
    if found.columns != 2 * shape[1]:
        raise Refuse(f"the columns must be blocks of {block}; there are {2 * shape[1]}")
    rows = build.Gather(found.weights, indices, axis=0)
    if found.shift is None:
        return rows
    rank = indices.rank
    if rank is None:
        raise Refuse(f"the rank of {indices.name} must be known; it is not")
    apart = build.Reshape(rows, np.array([0] * rank + [found.columns // block, block]))
    shift = build.Unsqueeze(build.Gather(found.shift, indices, axis=0), axes=[rank + 1])
    return build.Reshape(build.Sub(apart, shift), np.array([0] * rank + [found.columns]))
