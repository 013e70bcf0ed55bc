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

from collections.abc import Sequence

from graphfix.authoring import Builder, InferredType, NodeView, Refuse, Value, rewrite

from ._blocks import read_weights

_NAME = "com.microsoft::GatherBlockQuantized"


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The places of the indices, the columns of the table, the type of the scales.

    What is written for it reads the weights, which a look at types must not.
    """
    table, indices, scales = (node.input(place) for place in range(3))
    if table is None or indices is None or scales is None or not scales.elem_type:
        return (None,)
    width = table.dim(1) if table.rank == 2 else None
    if indices.shape is None or width is None:
        return (InferredType(scales.elem_type),)
    columns = width * (8 // int(node.attr("bits", 4)))
    return (InferredType(scales.elem_type, (*indices.shape, columns)),)


@rewrite(_NAME, emits="Gather", infer=infer)
def gather_block_quantized_to_gather(node: NodeView, build: Builder) -> Value:
    """Unpack and look up, see the module."""
    table, indices, scales = node.need(0), node.need(1), node.need(2)
    bits, block = int(node.attr("bits", 4)), int(node.attr("block_size", 128))
    shape = table.static_shape
    if shape is None or len(shape) != 2 or scales.dtype is None:
        raise Refuse(f"{table.name} must be a matrix of known sizes")
    along, axis = int(node.attr("quantize_axis", 1)), int(node.attr("gather_axis", 0))
    if along not in (-1, 1) or axis not in (-2, 0):
        raise Refuse(
            "the blocks must lie along the last axis and the lookup be along the first; they are "
            f"along {along} and {axis}"
        )
    sizes = (shape[0], shape[1] * 8 // bits, block)
    numbers = read_weights(node, build, (0, 2, 3, None), sizes, bits)
    return build.Gather(build.constant(numbers.astype(scales.dtype)), indices, axis=0)
