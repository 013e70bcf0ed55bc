"""Write a lookup in a quantized table out.

What it does: Unpacks the table of com.microsoft::GatherBlockQuantized (4 or 8 bits, by blocks) into
    floats and writes Gather.
Why engines need it: It is how weight-only quantization for onnxruntime writes an embedding; other
    engines do not know it.
Before: y = com.microsoft.GatherBlockQuantized <bits = 4, block_size = 32> (table, ids, scales)
After: y = Gather (float table, ids)
When it refuses: Table, scales or zero points are computed at run time, the bytes are not uint8, the
    blocks do not lie along the last axis of a matrix, or the lookup is not along the first.
Accuracy: Exact: each number is what its steps and scale give. The file grows by what packing saved.
References: microsoft/onnxruntime docs/ContribOperators.md, com.microsoft.GatherBlockQuantized;
    onnxruntime/contrib_ops/cpu/quantization/gather_block_quantized.cc
"""

from graphfix.authoring import Builder, NodeView, Value, rewrite

from ._blocks import read_weights
from ._lookup import infer, need_rows

_NAME = "com.microsoft::GatherBlockQuantized"


@rewrite(_NAME, emits="Gather", infer=infer, last_resort=True)
def gather_block_quantized_to_gather(node: NodeView, build: Builder) -> Value:
    """Unpack and look up, see the module."""
    shape = need_rows(node)
    indices, scales = node.need(1), node.need(2)
    bits, block = int(node.attr("bits", 4)), int(node.attr("block_size", 128))
    sizes = (shape[0], shape[1] * 8 // bits, block)
    numbers = read_weights(node, build, (0, 2, 3, None), sizes, bits)
    return build.Gather(build.constant(numbers.astype(scales.dtype)), indices, axis=0)
