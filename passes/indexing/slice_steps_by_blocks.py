"""Take each n-th element as the first of each block of n.

What it does: Slices the neighbours that hold what is wanted, splits the axis into blocks as long as
    the step, and slices one place out of each block. Several axes are taken one after the other.
Why engines need it: ncnn's Slice takes neighbours alone: "layer Tensor.slice not exists or
    registered". Patches of transformers are merged so.
Before: y = Slice (x, [1], [8], [2], [2])              # x: [1, 3, 8]; axis 2, step 2
After:
    b = Reshape <[3, 4, 2]> (x)
    t = Slice (b, [1], [2], [1])
    y = Reshape <[1, 3, 4]> (t)
When it refuses: Sizes are unknown, a step is negative, starts, ends, axes or steps are computed,
    nothing is taken, or the axis ends so soon that there is no block for each element.
Accuracy: Exact: the same values.
References: https://onnx.ai/onnx/operators/onnx__Slice.html
"""

from math import prod

import numpy as np

from graphfix.authoring import Builder, NodeView, Refuse, Value, rewrite

_STEPS = 4  # the input


@rewrite("Slice", removes="form:Slice.steps", emits="Reshape Slice", since=10, claims="nan inf")
def slice_steps_by_blocks(node: NodeView, build: Builder) -> Value:
    """Take one place of each block, see the module."""
    x = node.need(0)
    if x.static_shape is None or node.input(_STEPS) is None:
        raise Refuse("sizes and steps must be known")
    shape = list(x.static_shape)
    starts, ends = (_numbers(node, place, build) for place in (1, 2))
    axes = _numbers(node, 3, build) or list(range(len(starts)))
    steps = _numbers(node, _STEPS, build)
    for start, end, given, step in zip(starts, ends, axes, steps, strict=True):
        axis = given % len(shape)
        if step < 1:
            raise Refuse(f"the steps must be positive; one is {step}")
        taken = range(shape[axis])[slice(start, end, step)]
        if not taken or not prod(shape):
            raise Refuse("something must be taken; nothing is")
        x = _taken(build, x, shape, axis, taken)
        shape[axis] = len(taken)
    return x


def _taken(build: Builder, x: Value, shape: list[int], axis: int, taken: range) -> Value:
    """Take elements of an axis.

    Args:
        build: Makes the nodes.
        x: What they are taken from, of `shape`.
        shape: Its sizes.
        axis: The axis.
        taken: Which elements.
    """
    step, count = taken.step, len(taken)
    if step == 1 or count == 1:
        return _neighbours(build, x, axis, taken[0], taken[-1] + 1, shape[axis])
    place = max(0, taken[0] + count * step - shape[axis])
    if place > min(taken[0], step - 1):
        raise Refuse(f"each element of axis {axis} must have a block of {step}; one has none")
    first = taken[0] - place
    x = _neighbours(build, x, axis, first, first + count * step, shape[axis])
    blocks = [prod(shape[:axis]) * count, step, prod(shape[axis + 1 :])]
    x = build.Reshape(x, np.array(blocks, np.int64))
    x = build.Slice(x, starts=[place], ends=[place + 1], axes=[1])
    return build.Reshape(x, np.array([*shape[:axis], count, *shape[axis + 1 :]], np.int64))


def _neighbours(build: Builder, x: Value, axis: int, start: int, end: int, size: int) -> Value:
    if (start, end) == (0, size):
        return x
    return build.Slice(x, starts=[start], ends=[end], axes=[axis])


def _numbers(node: NodeView, place: int, build: Builder) -> list[int]:
    value = node.input(place)
    if value is None:
        return []
    return [int(number) for number in build.need_const(value, "what is sliced").reshape(-1)]
