"""Replace argsort, sort and msort by TopK.

What it does: Sorts with TopK, which puts the largest first and, of equal ones, the first of them;
    ascending order is that of the negated numbers (-1 - x for integers, which does not overflow).
Why engines need it: ONNX has no sort, and PyTorch's exporter writes argsort, msort and a stable or
    ascending sort as ATen nodes. Some parsers do not read the `largest` attribute of TopK, which is
    not used.
Before: i = org.pytorch.aten.ATen <operator = "argsort"> (x, 1, False)      # x: float[2, 5]
After: _, i = TopK <axis = 1> (Neg (x), [5])
When it refuses: The axis or the direction is computed at run time, rank or type are unknown, the
    type has no order that TopK has (uint32, uint64, complex), or the opset is below 11 for integers
    and below 10 for a size that is open.
Accuracy: Exact: elements only change their places, and of equal ones the first stays first, as in a
    stable sort of PyTorch (its other sort leaves open which one is first). PyTorch sorts NaN after
    everything; engines differ in where they do.
References: pytorch/pytorch aten/src/ATen/native/Sorting.cpp (sort_stable, argsort, msort);
    https://onnx.ai/onnx/operators/onnx__TopK.html
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphfix.authoring import Builder, InferredType, Value

from ._arguments import ArrayCall, Call
from ._family import INT64, Family, Function, axis_in, like, ranked
from ._ordering import as_before, order, widened_to_sort, zeros_like


def _sorted(build: Builder, call: Call, axis: int, *, descending: bool) -> tuple[Value, Value]:
    x, rank = ranked(call)
    call.irrelevant("stable")  # equal ones keep their order, whether it is asked for or not
    if not rank:
        return build.Identity(x), zeros_like(build, x)
    values, places = order(build, widened_to_sort(build, x), axis, descending=descending)
    return as_before(build, values, x), places


def _argsort(build: Builder, call: Call) -> Value:
    axis = axis_in(call, "dim", ranked(call)[1], -1)
    return _sorted(build, call, axis, descending=bool(call.number("descending", 0)))[1]


def _sort(build: Builder, call: Call) -> tuple[Value, Value]:
    axis = axis_in(call, "dim", ranked(call)[1], -1)
    return _sorted(build, call, axis, descending=bool(call.number("descending", 0)))


def _msort(build: Builder, call: Call) -> Value:
    return _sorted(build, call, 0, descending=False)[0]


def _places(call: Call) -> Sequence[InferredType | None]:
    return (InferredType(INT64, call.need("self").shape),)


def _both(call: Call) -> Sequence[InferredType | None]:
    return (*like()(call), *_places(call))


def _argsort_model(call: ArrayCall) -> Any:
    x, axis = call.need("self"), int(call.number("dim", -1))
    call.irrelevant("stable")
    descending = bool(call.number("descending", 0))
    if not x.ndim:
        return np.zeros((), np.int64)
    if not descending:
        return np.argsort(x, axis=axis, kind="stable").astype(np.int64)
    # Of equal ones the first is first here, too.
    turned = np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    return (x.shape[axis] - 1 - turned).astype(np.int64)


def _sort_model(call: ArrayCall) -> Any:
    x, places = call.need("self"), _argsort_model(call)
    if not x.ndim:
        return x, places
    return np.take_along_axis(x, places, int(call.number("dim", -1))), places


FAMILY = Family(
    {
        "argsort": Function(("self", "dim", "descending"), _argsort, _argsort_model, infer=_places),
        "argsort.stable": Function(
            ("self", "stable", "dim", "descending"), _argsort, _argsort_model, infer=_places
        ),
        "sort": Function(("self", "dim", "descending"), _sort, _sort_model, infer=_both),
        "sort.stable": Function(
            ("self", "stable", "dim", "descending"), _sort, _sort_model, infer=_both
        ),
        "msort": Function(
            ("self",), _msort, lambda c: np.sort(c.need("self"), axis=0), infer=like()
        ),
    }
)


aten_argsort = FAMILY.replaced(
    __name__, emits="Cast ConstantOfShape Gather Identity Neg Reshape Shape Sub TopK"
)
