"""The types of MatMulNBits, which do not follow from what is written for it without its weights."""

from collections.abc import Sequence

from graphfix.authoring import InferredType, NodeView


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """The axes of the input, the last one N.

    What is written for it reads the weights, which a look at types must not.
    """
    x = node.input(0)
    if x is None or not x.elem_type:
        return (None,)
    columns = int(node.attr("N", 0)) or None
    shape = None if not x.shape else (*x.shape[:-1], columns)
    return (InferredType(x.elem_type, shape),)
