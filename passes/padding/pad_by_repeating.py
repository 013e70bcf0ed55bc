"""Replace Pad with mode reflect, edge or wrap by Gather and Concat.

What it does: Along each padded axis the rows that the padding repeats are picked by their number
    from the start and from the end and joined to the data. The number of rows need not be known;
    wrap may go around several times. Negative pads cut rows off before anything is repeated.
Why engines need it: TensorRT pads with a constant only before 8.4 (reflect) and 8.5 (edge), and
    never with wrap.
Before: y = Pad <mode = "reflect"> (x, {0, 2, 0, 1})
After: y = Concat <axis = 1> (Gather (x, {2, 1}), x, Gather (Slice (x, -2, -1), {0}))
When it refuses: The pads are computed at run time, or the rank is unknown.
Accuracy: Exact: elements are moved.
References: https://onnx.ai/onnx/operators/onnx__Pad.html
"""

import numpy as np

from graphfix.authoring import Array, Builder, NodeView, Refuse, Value, need_rank, rewrite

_END = np.iinfo(np.int64).max


@rewrite(
    "Pad", removes="attr:Pad.mode=*", emits="Add Concat Div Gather Less Mul Shape Slice Sub Where"
)
def pad_by_repeating(node: NodeView, build: Builder) -> Value:
    """Pick what is repeated, see the module."""
    x = node.need(0)
    mode = node.attr("mode", "constant")
    if mode not in ("reflect", "edge", "wrap"):
        raise Refuse(f"the mode must be reflect, edge or wrap; it is {mode}")
    pads = _pads(node, build, need_rank(x))
    for axis, before, after in pads:
        if min(before, after) < 0:
            x = build.Slice(x, starts=[max(0, -before)], ends=[min(after, 0) or _END], axes=[axis])
    for axis, before, after in pads:
        parts: list[Value] = []
        if before > 0:
            parts.append(_ahead(build, x, axis, before, mode))
        parts.append(x)
        if after > 0:
            parts.append(_after(build, x, axis, after, mode))
        x = build.Concat(*parts, axis=axis) if len(parts) > 1 else x
    return x


def _pads(node: NodeView, build: Builder, rank: int) -> list[tuple[int, int, int]]:
    pads: list[int]
    if node.has("pads") or node.has("paddings"):
        pads = [int(p) for p in node.attr("pads", node.attr("paddings"))]
    else:
        pads = [int(p) for p in build.need_const(node.need(1), "the number of pads").reshape(-1)]
    axes = list(range(rank))
    if node.input(3) is not None:
        axes = [int(a) % rank for a in build.need_const(node.input(3), "the axes").reshape(-1)]
    if len(pads) != 2 * len(axes):
        raise Refuse(f"there must be two pads for each of {len(axes)} axes; there are {len(pads)}")
    found = zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True)
    return [(axis, before, after) for axis, before, after in found if before or after]


def _ahead(build: Builder, x: Value, axis: int, count: int, mode: str) -> Value:
    if mode == "wrap":
        size = x.dim(axis)
        if size is not None and size >= count:
            return build.Slice(x, starts=[-count], ends=[_END], axes=[axis])
        return _around(build, x, axis, np.arange(-count, 0))
    first = range(count, 0, -1) if mode == "reflect" else [0] * count
    return build.Gather(x, np.array(first, np.int64), axis=axis)


def _after(build: Builder, x: Value, axis: int, count: int, mode: str) -> Value:
    if mode == "wrap":
        size = x.dim(axis)
        if size is not None and size >= count:
            return build.Slice(x, starts=[0], ends=[count], axes=[axis])
        return _around(build, x, axis, np.arange(count))
    if mode == "edge":
        last = build.Slice(x, starts=[-1], ends=[_END], axes=[axis])
        return build.Gather(last, np.zeros(count, np.int64), axis=axis)
    last = build.Slice(x, starts=[-count - 1], ends=[-1], axes=[axis])
    return build.Gather(last, np.arange(count - 1, -1, -1), axis=axis)


def _around(build: Builder, x: Value, axis: int, places: Array) -> Value:
    """Pick rows by their number modulo how many there are, which may be fewer than `places`."""
    size = x.dim(axis)
    if size is not None:
        if not size:
            raise Refuse(f"axis {axis} must not be empty; it is")
        return build.Gather(x, places % size, axis=axis)
    count = build.Slice(build.Shape(x), starts=[axis], ends=[axis + 1], axes=[0])
    one = np.ones(1, np.int64)
    # Nothing is picked from an empty axis, as Gather says; a division by 0 would end the process.
    count = build.Where(build.Less(count, one), one, count)
    low = int(places.min(initial=0))
    shifted: Value = build.constant(places)
    if low < 0:  # as many times the number of rows makes them positive, which Div needs
        shifted = build.Add(build.Mul(count, np.array([-low], np.int64)), places)
    rounds = build.Mul(build.Div(shifted, count), count)
    return build.Gather(x, build.Sub(shifted, rounds), axis=axis)
