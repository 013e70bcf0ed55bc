"""What onnxruntime's attention operators share: heads, masks, scaled products, softmax.

Letters, as in onnxruntime: B batch, S queries, L new keys, P past keys, T = P + L, N heads,
H size of a head. Read in onnxruntime/contrib_ops/cpu/bert/attention_cpu_base.h and
attention_helper.h (PrepareMask); what these say was tried in onnxruntime 1.31.
"""

import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, need_rank_of

# Later keys are masked by the lowest float, padding by the attribute mask_filter_value.
LOWEST = float(np.finfo(np.float32).min)
DEFAULT_FILTER = -10000.0
MAX_MASK = 1 << 20
EMITS = (
    "Add And Cast Concat Equal Gather Greater Less MatMul Mul Not Or Range Reshape Shape Slice "
    "Softmax Split Squeeze Sub Transpose Unsqueeze Where"
)

Size = int | Value  # a number where it is known, else an int64 scalar
Dim = int | str | None


class Lengths(Struct, frozen=True):
    """Whose axis has as many queries, past keys (None for none), and keys in all."""

    queries: tuple[Value, int]
    past: tuple[Value, int] | None
    keys: tuple[Value, int]


def heads_of(node: NodeView) -> int:
    """Return the number of heads.

    Raises:
        Refuse: The attribute is missing or not positive.
    """
    heads = int(node.attr("num_heads", 0))
    if heads < 1:
        raise Refuse(f"num_heads must be positive; it is {heads}")
    return heads


def size_of_head(hidden: int | None, heads: int, what: str) -> int:
    """Return the size of one head.

    Raises:
        Refuse: The size of all heads is unknown, or not a multiple of their number.
    """
    if not hidden:
        raise Refuse(f"the size of {what} must be known")
    if hidden % heads:
        raise Refuse(f"the size of {what} must be a multiple of {heads} heads; it is {hidden}")
    return hidden // heads


def same(a: Dim, b: Dim) -> bool:
    """Say whether two dimensions are known to be the same."""
    return a is not None and a == b


def total(a: Dim, b: Dim) -> Dim:
    """Return the sum of two dimensions where both are known."""
    return a + b if isinstance(a, int) and isinstance(b, int) else None


def dim(x: Value, axis: int) -> Dim:
    """Return a dimension: number, symbol or None."""
    return None if x.shape is None else x.shape[axis]


def wide(build: Builder, x: Value) -> Value:
    """Return float16 as float32, in which onnxruntime computes it on a CPU."""
    if x.elem_type == TensorProto.FLOAT:
        return x
    if x.elem_type == TensorProto.FLOAT16:
        return build.Cast(x, to=TensorProto.FLOAT)
    raise Refuse(f"{x.name} must be float32 or float16; it is {x.type_name}")


def size(build: Builder, x: Value, axis: int) -> Size:
    """Return a size, computed where it is unknown."""
    known = x.dim(axis)
    if known is not None:
        return known
    cut = build.Slice(build.Shape(x), starts=[axis], ends=[axis + 1], axes=[0])
    return build.Squeeze(cut, axes=[0])


def numbered(build: Builder, count: Size) -> Value:
    """Return 0, 1, ... below `count`, int64."""
    if isinstance(count, int) and count <= MAX_MASK:
        return build.constant(np.arange(count, dtype=np.int64))
    return build.Range(np.int64(0), _scalar(count), np.int64(1))


def _scalar(count: Size) -> Value | Array:
    return np.array(count, np.int64) if isinstance(count, int) else count


def split_heads(build: Builder, x: Value, heads: int, head: int) -> Value:
    """[B, S, N H] as [B, N, S, H]."""
    return build.Transpose(build.Reshape(x, np.array([0, 0, heads, head])), perm=[0, 2, 1, 3])


def padding(
    build: Builder, mask: Value, batch: Dim, keys: Dim, lengths: Lengths, *, starts: bool
) -> Value | None:
    """Return which keys a mask leaves visible, as bool of rank 4; None where it leaves all.

    Args:
        build: The builder.
        mask: [B] ends, [2 B] ends and starts, [B, T], [B, S, T], or [B, 1] and [1, 1], which
            onnxruntime does not look at.
        batch: B.
        keys: T.
        lengths: Where the lengths are.
        starts: Whether the entries of a mask of rank 1 after the ends are starts; else they are
            not looked at.

    Raises:
        Refuse: The mask has another form, or its form is unknown.
    """
    if mask.elem_type != TensorProto.INT32:
        raise Refuse(f"the mask {mask.name} must be int32; it is {mask.type_name}")
    rank = need_rank_of(mask, 1, 2, 3)
    if rank == 1:
        return _by_length(build, mask, batch, lengths, starts=starts)
    if rank == 2 and mask.dim(1) == 1:
        return None  # with one key its weight is 1, whatever the mask says
    seen = build.Greater(mask, np.array(0, np.int32))
    if rank == 2 and not isinstance(dim(mask, 1), int) and not same(dim(mask, 1), keys):
        alone = build.Slice(build.Shape(mask), starts=[1], ends=[2], axes=[0])
        seen = build.Or(seen, build.Equal(alone, np.array([1])))
    return build.Unsqueeze(seen, axes=[1] if rank == 3 else [1, 2])


def _by_length(build: Builder, mask: Value, batch: Dim, lengths: Lengths, *, starts: bool) -> Value:
    given = dim(mask, 0)
    places = build.Unsqueeze(numbered(build, size(build, *lengths.keys)), axes=[0])
    bounds = build.Cast(mask, to=TensorProto.INT64)
    if same(given, batch):
        seen = build.Less(places, build.Unsqueeze(bounds, axes=[1]))
        return build.Unsqueeze(seen, axes=[1, 2])
    known = isinstance(given, int) and isinstance(batch, int)
    if known and starts and given != 2 * int(batch or 0):
        raise Refuse(
            f"{mask.name} must have one or two entries for each of a batch of {batch}; it has "
            f"{given}"
        )
    tokens, _ = lengths.queries
    count = (
        build.constant(np.array([batch]))
        if isinstance(batch, int)
        else build.Slice(build.Shape(tokens), starts=[0], ends=[1], axes=[0])
    )
    ends = build.Slice(bounds, starts=[0], ends=count, axes=[0])
    seen = build.Less(places, build.Unsqueeze(ends, axes=[1]))
    if starts:
        twice = build.Add(count, count)
        if not known:  # so that there are so many
            bounds = build.Concat(bounds, ends, axis=0)
        begun = build.Slice(bounds, starts=count, ends=twice, axes=[0])
        if not known:
            # Starts are there where two entries are; where not, every key is past its start.
            paired = build.Equal(build.Shape(mask), twice)
            begun = build.Mul(begun, build.Cast(paired, to=TensorProto.INT64))
        hidden = build.Less(places, build.Unsqueeze(begun, axes=[1]))
        seen = build.And(seen, build.Not(hidden))
    return build.Unsqueeze(seen, axes=[1, 2])


def later_keys(build: Builder, lengths: Lengths, *, last_sees_all: bool) -> Value:
    """Return which keys come after each query: bool [S, T].

    Args:
        build: The builder.
        lengths: Where the lengths are.
        last_sees_all: Whether the last query sees all keys even where there are more of them;
            onnxruntime leaves out the last row.
    """
    rows, columns = size(build, *lengths.queries), size(build, *lengths.keys)
    past = 0 if lengths.past is None else size(build, *lengths.past)
    if (
        isinstance(rows, int)
        and isinstance(past, int)
        and isinstance(columns, int)
        and rows * columns <= MAX_MASK
    ):
        query, key = np.arange(rows)[:, None], np.arange(columns)[None, :]
        late = key > query + past
        return build.constant(late & (query < rows - 1) if last_sees_all else late)
    number = build.Unsqueeze(numbered(build, rows), axes=[1])
    edge = number if isinstance(past, int) and past == 0 else build.Add(number, _scalar(past))
    after = build.Less(edge, build.Unsqueeze(numbered(build, columns), axes=[0]))
    if not last_sees_all:
        return after
    last = rows - 1 if isinstance(rows, int) else build.Sub(rows, 1)
    return build.And(after, build.Less(number, _scalar(last)))


def added_to_scores(
    build: Builder, node: NodeView, seen: Value | None, late: Value | None, bias: Value | None
) -> Value | None:
    """Return what is added to the scores: bias, and what hides keys; None for nothing."""
    mask: Value | None = None
    if seen is not None:
        hidden = np.array(float(node.attr("mask_filter_value", DEFAULT_FILTER)), np.float32)
        mask = build.Where(seen, np.array(0, np.float32), hidden)
    if late is not None:
        known, lowest = build.const(late), np.array(LOWEST, np.float32)
        if mask is None and known is not None:
            mask = build.constant(np.where(known, lowest, np.float32(0)))
        else:
            rest = np.array(0, np.float32) if mask is None else mask
            mask = build.Where(late, lowest, rest)
    if bias is None or mask is None:
        return bias if mask is None else mask
    return build.Add(bias, mask)


def attend(
    build: Builder, q: Value, k: Value, v: Value, *, values: int, scale: float, added: Value | None
) -> tuple[Value, Value]:
    """Return softmax (scale q k' + added) v as [B, S, N H], and the scores before the softmax.

    Args:
        build: The builder.
        q: [B, N, S, H].
        k: [B, N, T, H].
        v: [B, N, T, H_v].
        values: N H_v.
        scale: What the products are multiplied by.
        added: Broadcastable to [B, N, S, T], or None.
    """
    scores = build.Mul(build.MatMul(q, build.Transpose(k, perm=[0, 1, 3, 2])), scale)
    if added is not None:
        scores = build.Add(scores, added)
    mixed = build.MatMul(build.Softmax(scores, axis=3), v)
    flat = np.array([0, 0, values])
    return build.Reshape(build.Transpose(mixed, perm=[0, 2, 1, 3]), flat), scores


def scale_of(node: NodeView, head: int) -> float:
    """Return the attribute, or where it is not given 1 / sqrt(H) as a float32 computes it."""
    given = float(node.attr("scale", 0.0))
    return given or float(np.float32(1) / np.sqrt(np.float32(head)))
