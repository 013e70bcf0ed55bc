"""Reading scale and zero point of QuantizeLinear and DequantizeLinear."""

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse

# What adds up products of an operand and weights, its first two inputs.
PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
RANGES: dict[int, tuple[int, int]] = {
    TensorProto.INT8: (-128, 127),
    TensorProto.UINT8: (0, 255),
    TensorProto.INT16: (-32768, 32767),
    TensorProto.UINT16: (0, 65535),
    TensorProto.INT4: (-8, 7),
    TensorProto.UINT4: (0, 15),
}
# Element types that engines refuse in a file, and what rules say of them.
NARROW = frozenset(
    {
        *(TensorProto.INT4, TensorProto.UINT4, TensorProto.INT16, TensorProto.UINT16),
        *(TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2, TensorProto.UINT8),
    }
)
NARROW_FEATURES = tuple(
    f"dtype:{name}"
    for name in ("int4", "uint4", "int16", "uint16", "float8e4m3fn", "float8e5m2", "uint8")
)


def refuse_blocks(node: NodeView) -> None:
    """Refuse quantization by blocks, which came with opset 21."""
    if node.attr("block_size", 0):
        raise Refuse("the scale must not be given by blocks; it is")


def spread(array: Array, rank: int | None, axis: int) -> Array:
    """Return a scale or zero point in a shape that broadcasts along its axis.

    Raises:
        Refuse: The rank or the axis does not fit.
    """
    if array.size == 1:
        return array.reshape(())
    if rank is None:
        raise Refuse("the rank of what is quantized must be known")
    if array.ndim != 1 or not -rank <= axis < rank:
        raise Refuse("the scale must be a vector along an axis of what is quantized; it is not")
    shape = [1] * rank
    shape[axis % rank] = array.size
    return array.reshape(shape)


def by_element(node: NodeView, array: Array, shape: tuple[int, ...]) -> Array:
    """Return scales or zero points of blocks as they are for each element of a constant.

    Args:
        node: The DequantizeLinear.
        array: Its scales or zero points; those of no blocks come back as they broadcast.
        shape: The shape of the constant.

    Raises:
        Refuse: They do not fit it.
    """
    block, axis = int(node.attr("block_size", 0)), int(node.attr("axis", 1))
    if not block:
        return spread(array, len(shape), axis)
    if not -len(shape) <= axis < len(shape) or array.ndim != len(shape) or block < 0:
        raise Refuse("scales of blocks must have the rank of what is quantized; they have not")
    each = np.repeat(array, block, axis=axis)
    each = each.take(range(min(shape[axis], each.shape[axis])), axis=axis)
    if each.shape != shape:
        raise Refuse(f"there must be a scale for each block of {block}; there are {array.shape}")
    return each


def scale_of(node: NodeView, build: Builder, rank: int | None, *, half: bool = False) -> Array:
    """Return the scale as it broadcasts, as float32.

    Args:
        node: The QuantizeLinear or DequantizeLinear.
        build: The builder.
        rank: The rank of what is quantized, where it is known.
        half: Whether it may be given in float16.

    Raises:
        Refuse: It is computed at run time or is not float32.
    """
    refuse_blocks(node)
    scale = build.need_const(node.need(1), f"the scale of {node.op}")
    if scale.dtype != np.float32 and not (half and scale.dtype == np.float16):
        raise Refuse(f"the scale must be float32; it is {scale.dtype}")
    return spread(scale.astype(np.float32), rank, int(node.attr("axis", 1)))


def zero_of(node: NodeView, build: Builder, rank: int | None) -> Array:
    """Return the zero point as int64, as it broadcasts; 0 where there is none.

    Raises:
        Refuse: It is computed at run time.
    """
    given = node.input(2)
    if given is None:
        return np.zeros((), dtype=np.int64)
    zero = build.need_const(given, f"the zero point of {node.op}").astype(np.int64)
    return spread(zero, rank, int(node.attr("axis", 1)))


def quantized_type(node: NodeView) -> int:
    """Return the element type that QuantizeLinear gives; 0 while unknown."""
    zero = node.input(2)
    if zero is not None:
        return zero.elem_type
    return int(node.attr("output_dtype", 0)) or TensorProto.UINT8
