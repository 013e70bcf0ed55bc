"""Scales and zero points that are computed at run time, or given by blocks, as they broadcast."""

from graphfix.authoring import Builder, NodeView, Refuse, Value

LATE_EMITS = ("Expand", "Reshape", "Slice", "Unsqueeze")


def broadcast_late(node: NodeView, build: Builder, value: Value, number: Value) -> Value:
    """Return a scale or zero point in a shape that broadcasts with what is quantized.

    Args:
        node: The QuantizeLinear or DequantizeLinear.
        build: The builder.
        value: The scale or zero point.
        number: The same values in the element type that is computed in.

    Raises:
        Refuse: A rank or, by blocks, a size is not known, or they do not fit.
    """
    x, block, axis = node.need(0), int(node.attr("block_size", 0)), int(node.attr("axis", 1))
    if block:
        return _repeated(build, x, value, number, axis, block)
    if value.rank is None or (value.rank == 1 and x.rank is None):
        raise Refuse("the ranks of the operands must be known")
    if value.rank != 1 or value.dim(0) == 1:
        return number
    rank = x.rank or 0
    if not -rank <= axis < rank:
        raise Refuse(f"the axis must lie in rank {rank}; it is {axis}")
    return build.Reshape(number, shape=[-1 if at == axis % rank else 1 for at in range(rank)])


def _repeated(
    build: Builder, x: Value, value: Value, number: Value, axis: int, block: int
) -> Value:
    """Repeat each entry for the elements of its block."""
    sizes, given = x.static_shape, value.static_shape
    if sizes is None or given is None or len(sizes) != len(given):
        raise Refuse("of blocks the sizes must be known, and of one rank")
    axis %= len(sizes)
    fits = [-(-size // block) if at == axis else size for at, size in enumerate(sizes)]
    if fits != [*given]:
        raise Refuse(f"there must be a scale for each block of {block}; there are {[*given]}")
    apart = [*given[: axis + 1], block, *given[axis + 1 :]]
    together = [size * block if at == axis else size for at, size in enumerate(given)]
    each = build.Expand(build.Unsqueeze(number, axes=[axis + 1]), apart)
    each = build.Reshape(each, shape=together)
    if together[axis] == sizes[axis]:
        return each
    return build.Slice(each, starts=[0], ends=[sizes[axis]], axes=[axis])
