"""What a caller may override, taken for a constant."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.size_mutants.mutant import Mutant
from graphfix.analysis import inference
from graphfix.analysis.folding.known_values import Knowledge
from graphfix.ir.graph import Constant
from graphfix.ir.model import Model
from graphfix.ir.views import Value

_SHAPES = tuple(np.array(w, np.int64) for w in ([3, 2], [6, 1], [6], [3, 1, 2], [1, 6], [2]))
_SHAPED = {
    "Reshape": "r = Reshape (x, w) ",
    "ConstantOfShape": "r = ConstantOfShape (w) ",
    "Expand": "r = Expand (each, w) ",
    "Tile": "o = Reshape (x, w) r = Tile (o, w) ",
    "Range": "n = ReduceProd <keepdims = 0> (w) r = Range (start, n, step) ",
    "Slice": "f = Gather (w, zero) r = Slice (x, zero, f) ",
}
_COMPUTED = {
    "Add": "r = Add (w, one) ",
    "Gather": "r = Gather (w, zero) ",
    "Equal": "e = Equal (w, six) r = Cast <to = 7> (e) ",
    "Where": "e = Greater (w, one) r = Where (e, w, one) ",
}


def _of(body: str, declared: str) -> str:
    consts = (
        "<int64[2] w = {2, 3}, int64[1] zero = {0}, int64[1] one = {1}, float[1] each = {1.5}, "
        "int64 start = {0}, int64 step = {1}, int64[1] six = {6}>"
    )
    head = f"g (float[6] x, int64[{declared}] w) => (float[6] z, float[A] y) {consts} "
    return f"{head}{{ z = Neg (x) {body} }}"


@contextmanager
def _constant() -> Generator[None]:
    """Take the default for the value, wherever it is asked for."""

    def known(value: Any) -> bool:
        return isinstance(value.tensor, Constant) or right.__get__(value, Value)

    def array(value: Any) -> Any:
        tensor = value.tensor
        return tensor.weights.load() if isinstance(tensor, Constant) else right_array(value)

    def found(knowledge: Any, tensor: Any) -> Any:
        if isinstance(tensor, Constant):
            return tensor.weights.load()
        return right_known(knowledge, tensor)

    right: Any = Value.is_constant
    right_array, right_known = Value.array, getattr(Knowledge, "_known")  # noqa: B009
    with ExitStack() as stack:
        stack.enter_context(patch.object(Value, "is_constant", property(known)))
        stack.enter_context(patch.object(Value, "array", array))
        stack.enter_context(patch.object(Knowledge, "_known", found))
        yield


@contextmanager
def _shaped_by_default() -> Generator[None]:
    """Let inference compute shapes with the default."""
    right = inference.small_constant

    def small(tensor: Any) -> Any:
        return tensor.weights.proto if isinstance(tensor, Constant) else right(tensor)

    def light(model: Any) -> Any:
        proto = right_light(model)
        proto.graph.initializer.extend(
            constant.weights.proto for constant in model.graph.initializers if constant.overridable
        )
        return proto

    right_light = Model.light_proto
    with (
        patch.object(inference, "small_constant", small),
        patch.object(Model, "light_proto", light),
    ):
        yield


def _of_default_shape() -> AbstractContextManager[Any]:
    """Take the shape of the default for that of every value."""
    return patch.object(Constant, "shape", property(lambda constant: constant.weights.shape))


_STATES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "its default is a constant": _constant,
    "inference computes with its default": _shaped_by_default,
    "its default has the shape of every value": _of_default_shape,
}


def mutants() -> Iterator[Mutant]:
    """Yield them."""
    sizes = "s = Shape (r) k = ReduceSum <keepdims = 1> (s) y = Cast <to = 1> (k)"
    rank = "s = Shape (r) k = Size (s) q = Unsqueeze (k, zero) y = Cast <to = 1> (q)"
    for text, state in _STATES.items():
        for op, body in (_SHAPED if state is _shaped_by_default else _SHAPED | _COMPUTED).items():
            reads = "y = Cast <to = 1> (r)" if op in _COMPUTED else sizes
            for declared in ("2", "K") if state is not _of_default_shape else ("K",):
                last = rank if op in _SHAPED and declared == "K" else reads
                yield Mutant(
                    "what a caller may override", f"{text}: {op}, declared [{declared}]",
                    _of(body + last, declared), state=state, overrides=_SHAPES,
                )  # fmt: skip
