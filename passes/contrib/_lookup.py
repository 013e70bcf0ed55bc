"""What GatherBlockQuantized reads, and the types of what it gives."""

from collections.abc import Sequence

from graphfix.authoring import InferredType, NodeView, Refuse


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


def need_rows(node: NodeView) -> tuple[int, int]:
    """Return the sizes of the table of bytes, whose rows are looked up.

    Raises:
        Refuse: It is no matrix, its blocks lie along its rows, or not rows are looked up.
    """
    table, scales = node.need(0), node.need(2)
    shape = table.static_shape
    if shape is None or len(shape) != 2 or scales.dtype is None:
        raise Refuse(f"{table.name} must be a matrix of known sizes")
    along, axis = int(node.attr("quantize_axis", 1)), int(node.attr("gather_axis", 0))
    if along not in (-1, 1) or axis not in (-2, 0):
        raise Refuse(
            "the blocks must lie along the last axis and the lookup be along the first; they are "
            f"along {along} and {axis}"
        )
    return shape[0], shape[1]
