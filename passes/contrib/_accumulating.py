"""The sums of accumulators that write into their inputs."""

from graphfix.authoring import GRADIENT_ACCUMULATOR, Builder, NodeView, Refuse, Value

from ._typing import need_float

FIRST, SECOND = "InPlaceAccumulator", GRADIENT_ACCUMULATOR[1]
SUM = 1  # the output of the second version that holds it


def check_operands(node: NodeView) -> None:
    """Look at buffer and gradient.

    Raises:
        Refuse: They are not known to be of one type and rank and of floats, or their sizes differ.
    """
    buffer, new = node.need(0), node.need(1)
    need_float(buffer)
    sizes = list(zip(buffer.shape or (), new.shape or (), strict=False))
    odd = any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in sizes)
    if buffer.elem_type != new.elem_type or buffer.rank is None or buffer.rank != new.rank or odd:
        raise Refuse(
            f"{new.name} must be known to be of the type and rank of {buffer.name}; they are "
            f"{new.type_name} {new.shape} and {buffer.type_name} {buffer.shape}"
        )


def accumulated(node: NodeView, build: Builder) -> Value:
    """Return what the node writes.

    Raises:
        Refuse: As `check_operands`, and where it is not known that one truth value says how.
    """
    check_operands(node)
    buffer, new, flag = node.need(0), node.need(1), node.input(2)
    both = build.Add(buffer, new)
    if flag is None:
        return both
    if flag.static_shape != () and (flag.static_shape != (1,) or not buffer.rank):
        raise Refuse(f"{flag.name} must be known to be one truth value; its shape is {flag.shape}")
    return build.Where(flag, both, buffer) if node.op == FIRST else build.Where(flag, new, both)
