"""The weights of a node that reads numbers packed into bytes by blocks."""

from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse
from graphfix.authoring.packed_blocks import WIDTHS, weights_of


def read_weights(
    node: NodeView,
    build: Builder,
    places: tuple[int, int, int | None, int | None],
    sizes: tuple[int, int, int],
    bits: int,
) -> Array:
    """Return the matrix [N, K] of a node.

    Args:
        node: The node.
        build: The builder.
        places: Where the bytes, the scales, the zero points and the order are.
        sizes: N, K and the size of a block.
        bits: Of a number.

    Raises:
        Refuse: They are computed at run time, or sizes do not fit.
    """
    if bits not in WIDTHS:
        raise Refuse(f"the weights must have 2, 4 or 8 bits; they have {bits}")
    if node.need(places[0]).elem_type != TensorProto.UINT8:
        raise Refuse(f"{node.need(places[0]).name} must be uint8; it is not")
    words = ("the weights", "the scales", "the zero points", "the order of the weights")
    given = [None if place is None else node.input(place) for place in places]
    found = [
        None if value is None else build.need_const(value, what)
        for value, what in zip(given, words, strict=True)
    ]
    data, scales, zeros, order = found
    if data is None or scales is None:
        raise Refuse("weights and scales must be given; one is not")
    try:
        return weights_of(data, scales, zeros, bits=bits, sizes=sizes, order=order)
    except (ValueError, IndexError) as error:
        raise Refuse(f"the sizes of weights and scales must fit; they do not: {error}") from None
