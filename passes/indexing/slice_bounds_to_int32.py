"""Write bounds of a Slice beyond int32 as bounds of int32 that cut the same.

What it does: Exporters write INT64_MAX for "to the end". What is above int32 becomes its largest
    number; what is below becomes 0 where the steps are positive, and its smallest number where they
    are negative.
Why engines need it: TensorRT 5.1 and 6 keep the lower half of the number, which turns INT64_MAX
    into -1; their branch with explicit batch turns what is too small into the largest number. From
    7.0 on such bounds are clamped, which cuts the same.
Before: y = Slice <axes = [1], starts = [2], ends = [9223372036854775807]> (x)
After: y = Slice <axes = [1], starts = [2], ends = [2147483647]> (x)
When it refuses: No bound is beyond int32, or none is known; the step is negative and the start is
    too small or the end too large, where ONNX and its runtimes differ; a dimension has more than
    2^31 - 1 elements.
Accuracy: Exact for dimensions of up to 2^31 - 1 elements, the most that an int32 engine holds:
    Slice clamps its bounds to the dimension.
References: https://onnx.ai/onnx/operators/onnx__Slice.html; onnx/onnx-tensorrt
    builtin_op_importers.cpp: Slice (5.1, 6.0), staticInputSliceHelper (6.0-full-dims)
"""

from collections.abc import Iterable, Sequence
from itertools import repeat

from graphfix.authoring import Builder, NodeView, Refuse, Value, respell, rewrite

_LARGEST = 2**31 - 1
_SMALLEST = -(2**31)


@rewrite("Slice", removes="form:Slice.beyond-int32", emits="Slice")
def slice_bounds_to_int32(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
    """Rewrite one Slice."""
    if any(isinstance(size, int) and size > _LARGEST for size in node.need(0).shape or ()):
        raise Refuse(f"the dimensions of {node.need(0).name} must be within int32; one is beyond")
    starts, ends = _bounds(node, "starts", 1, build), _bounds(node, "ends", 2, build)
    if all(_SMALLEST <= bound <= _LARGEST for bound in (*starts, *ends)):
        raise Refuse("a bound must be beyond int32; none is")
    steps = _steps(node, build)
    for start, end, step in zip(starts, ends, steps, strict=False):
        if step < 0 and (start < _SMALLEST or end > _LARGEST):
            raise Refuse("a negative step must go the way of its bounds; it goes the other way")
    return respell(node, build, starts=_fitted(starts, steps), ends=_fitted(ends, steps))


def _bounds(node: NodeView, name: str, index: int, build: Builder) -> list[int]:
    value = node.input(index)
    if value is None:
        return [int(bound) for bound in node.attr(name, ())]
    return [int(bound) for bound in build.need_const(value, name).reshape(-1)]


def _steps(node: NodeView, build: Builder) -> Iterable[int]:
    value = node.input(4)
    if value is None:
        return repeat(1)
    return [int(step) for step in build.need_const(value, "steps").reshape(-1)]


def _fitted(bounds: Sequence[int], steps: Iterable[int]) -> list[int]:
    return [_fit(bound, step) for bound, step in zip(bounds, steps, strict=False)]


def _fit(bound: int, step: int) -> int:
    if bound < _SMALLEST:
        return 0 if step > 0 else _SMALLEST
    return min(bound, _LARGEST)
