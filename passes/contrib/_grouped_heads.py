"""The heads of a GroupQueryAttention, and what it gives."""

from collections.abc import Sequence

from msgspec import Struct

from graphfix.authoring import InferredType, NodeView, Refuse, need_rank_of

from ._attention import heads_of, size_of_head

PAST = (3, 4)


class Grouped(Struct, frozen=True):
    """Heads of the queries and of the keys, the size of one, and whether all come in one."""

    heads: int
    shared: int
    head: int
    packed: bool


def grouped(node: NodeView) -> Grouped:
    """Return the form.

    Raises:
        Refuse: A size is unknown, or two do not fit.
    """
    q = node.need(0)
    need_rank_of(q, 3)
    heads, shared = heads_of(node), int(node.attr("kv_num_heads", 0))
    if shared < 1 or heads % shared:
        raise Refuse(f"num_heads must be a multiple of kv_num_heads; they are {heads} and {shared}")
    packed = node.input(1) is None
    count = heads + 2 * shared if packed else heads
    return Grouped(heads, shared, size_of_head(q.dim(2), count, "the queries"), packed)


def infer(node: NodeView) -> Sequence[InferredType | None]:
    """[B, S, N H], and keys and values, [B, M, T, H].

    ONNX infers less of what is written: it loses the names of sizes.
    """
    q, past = node.input(0), node.input(PAST[0])
    if q is None or not q.elem_type:
        return (None,)
    untyped = InferredType(q.elem_type)
    try:
        form = grouped(node)
    except Refuse:
        return (untyped,) * 3
    assert q.shape is not None  # its rank is known
    batch, length, _ = q.shape
    keys = length if past is None else None
    present = InferredType(q.elem_type, (batch, form.shared, keys, form.head))
    return (InferredType(q.elem_type, (batch, length, form.heads * form.head)), present, present)
