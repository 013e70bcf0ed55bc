"""Reductions over axes: the axes that a call names, and the type that it computes in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
from onnx import TensorProto, helper

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._arithmetic import held
from ._family import Function, ranked
from ._promoting import asked_dtype

Rule = Literal["same", "sum", "float", "bool", "int64"]
Axes = tuple[int, ...]
Reduce = Callable[[Builder, Call, Value, Axes, bool], Value | tuple[Value, ...]]


def dtype_in(call: Call | ArrayCall, own: np.dtype[Any], rule: Rule) -> np.dtype[Any]:
    """Return the type that a reduction computes in.

    Raises:
        Refuse: What it names is none that numpy has, or PyTorch does not take integers.
    """
    asked = asked_dtype(call)
    if asked is not None:
        return asked
    if own.kind not in "biuf":
        raise Refuse(f"the dtype must be one that numpy has; it is {own}")
    if rule == "sum" and own.kind != "f":
        return np.dtype(np.int64)
    if rule == "float" and own.kind != "f":
        return np.dtype(np.float32)
    return own


def axes_in(call: Call | ArrayCall, rank: int) -> Axes:
    """Return the axes that go, all where none is named.

    Raises:
        Refuse: One does not lie in the rank.
    """
    given = call.entries("dim") if "dim" in call.schema else None
    if given is None or given in ((), (None,)):
        return tuple(range(rank))
    most = max(rank, 1)
    if any(not -most <= int(axis) < most for axis in given):
        raise Refuse(f"dim must lie in rank {rank}; it is {list(given)}")
    return tuple(sorted({int(axis) % most for axis in given})) if rank else ()


def keeps(call: Call | ArrayCall) -> bool:
    """Say whether axes stay with size one."""
    return "keepdim" in call.schema and bool(call.number("keepdim", 0))


@dataclass(frozen=True, slots=True)
class Reduction:
    """One operator.

    Attributes:
        schema: The names of its arguments, in order.
        write: Builds it of a value in the type that is computed in.
        model: The same of an array: (call, array, axes, whether they are kept).
        rule: The type that it computes in and gives.
        gives: The type of each result, where it is not that.
        floats: Whether PyTorch takes floats alone.
    """

    schema: tuple[str, ...]
    write: Reduce
    model: Callable[[ArrayCall, Array, Axes, bool], Any]
    rule: Rule = "same"
    gives: tuple[Any, ...] = (None,)
    floats: bool = False

    def function(self) -> Function:
        """Return the entry of a family."""
        return Function(self.schema, self._write, self._model)

    def _write(self, build: Builder, call: Call) -> Value | tuple[Value | None, ...]:
        x, rank = ranked(call, self.schema[0])
        dtype = self._dtype(call, x)
        kind = helper.np_dtype_to_tensor_dtype(dtype)
        value = x if x.elem_type == kind else build.Cast(x, to=kind)
        return self.write(build, call, value, axes_in(call, rank), keeps(call))

    def _dtype(self, call: Call, x: Value) -> np.dtype[Any]:
        if x.dtype is None:
            raise Refuse(f"the dtype of {x.name} must be one that numpy has; it is {x.type_name}")
        dtype = dtype_in(call, x.dtype, self.rule)
        if self.floats and dtype.kind != "f":
            raise Refuse(f"{call.operator} must be of floats; it is of {dtype}")
        return dtype

    def _model(self, call: ArrayCall) -> Any:
        x = call.need(self.schema[0])
        dtype = dtype_in(call, x.dtype, self.rule)
        found = self.model(call, x.astype(dtype), axes_in(call, x.ndim), keeps(call))
        several: Sequence[Any] = cast("Any", found if isinstance(found, tuple) else (found,))
        kinds = [given or dtype for given in self.gives]
        return tuple(np.asarray(one).astype(kind) for one, kind in zip(several, kinds, strict=True))


def reduced(op: str) -> Reduce:
    """Return what writes an operator of ONNX over the axes."""

    def write(build: Builder, _: Call, x: Value, axes: Axes, keep: bool) -> Value:
        return over(build, op, x, axes, keep=keep)

    return write


def over(build: Builder, op: str, x: Value, axes: Axes, *, keep: bool) -> Value:
    """Reduce over axes; a scalar stays what it is."""
    if not axes:
        return build.Identity(x)
    return build.node(op, x, axes=list(axes), keepdims=int(keep))


def counted_over(build: Builder, x: Value, axes: Axes) -> float | Value:
    """Return the number of elements along axes, a value where it is known at run time alone."""
    count = _known_over(x, axes)
    if count is not None:
        return float(count)
    return build.Cast(_count_over(build, x, axes), to=x.elem_type)


def _known_over(x: Value, axes: Axes) -> int | None:
    sizes = [x.dim(axis) for axis in axes]
    known = [size for size in sizes if isinstance(size, int)]
    return int(np.prod(known, dtype=np.int64)) if len(known) == len(sizes) else None


def _count_over(build: Builder, x: Value, axes: Axes) -> Value:
    sizes = build.Gather(build.Shape(x), np.array(axes, np.int64), axis=0)
    return build.ReduceProd(sizes, axes=[0], keepdims=0)


def mean_over(build: Builder, x: Value, axes: Axes, *, keep: bool) -> Value:
    """Take the mean along axes, which is NaN where they have no element.

    ONNX leaves open what ReduceMean gives of nothing, and onnxruntime gives 0.
    """
    found = over(build, "ReduceMean", x, axes, keep=keep)
    count = _known_over(x, axes)
    if count:
        return found
    if count == 0:
        return build.Add(found, held(build, x, np.nan))
    some = build.Cast(_count_over(build, x, axes), to=TensorProto.BOOL)
    return build.Where(some, found, held(build, x, np.nan))
