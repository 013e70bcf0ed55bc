"""Elementwise operators on operands that PyTorch brings to one type first."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from onnx import TensorProto

from graphfix.authoring import Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Function
from ._promoting import common_dtype, of_one_type

Kind = Literal["same", "float", "bool"]
Write = Callable[[Builder, Call, list[Any]], Value]
Model = Callable[[ArrayCall, list[Any]], Any]


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """One operator.

    Attributes:
        schema: The names of its arguments, in order.
        operands: Which of them are brought to one type; one that is None is passed as None.
        write: Builds it of operands of one type.
        model: The same of arrays of one type.
        kind: What it gives: the type of the operands, a float, or a boolean. Operands are made
            floats where it gives one.
        takes: The kinds of numpy's types that it takes, after promotion.
        note: What is to be said where the result is approximate; empty where it is exact.
    """

    schema: tuple[str, ...]
    operands: tuple[str, ...]
    write: Write
    model: Model
    kind: Kind = "same"
    takes: str = "iuf"
    note: str = ""

    def function(self) -> Function:
        """Return the entry of a family."""
        return Function(self.schema, self._write, self._model, self.note)

    def _given(self, call: Call) -> list[Value | None]:
        given = [call.tensor(name) for name in self.operands]
        if given[0] is None:
            raise Refuse(f"{call.operator} must have {self.operands[0]}")
        return given

    def _write(self, build: Builder, call: Call) -> Value:
        given = self._given(call)
        dtype = common_dtype([v for v in given if v is not None], to_float=self.kind == "float")
        if dtype.kind not in self.takes:
            raise Refuse(f"the operands of {call.operator} must be of another type; it is {dtype}")
        values = of_one_type(build, given, dtype)
        low = bool(self.note) and dtype == np.float16
        if low:
            values = [None if v is None else build.Cast(v, to=TensorProto.FLOAT) for v in values]
        found = self.write(build, call, values)
        return build.Cast(found, to=TensorProto.FLOAT16) if low else found

    def _model(self, call: ArrayCall) -> Any:
        given = [call.array(name) for name in self.operands]
        dtype = common_dtype([a for a in given if a is not None], to_float=self.kind == "float")
        wide = np.dtype(np.float64) if dtype.kind == "f" and self.note else dtype
        cast = [None if a is None else a.astype(dtype).astype(wide) for a in given]
        found = np.asarray(self.model(call, cast))
        return found.astype(np.bool_ if self.kind == "bool" else dtype)


def held(build: Builder, x: Value, number: float) -> Value:
    """Return a number in the type of a value."""
    return build.constant(np.array(number, x.dtype))


def is_float(x: Value) -> bool:
    """Say whether a value holds floats."""
    return x.dtype is not None and x.dtype.kind == "f"


def truncated(build: Builder, x: Value) -> Value:
    """Return floats without what is after the point."""
    below = build.Neg(build.Floor(build.Neg(x)))
    return build.Where(build.Less(x, 0.0), below, build.Floor(x))


def larger(build: Builder, a: Value, b: Value) -> Value:
    """Return the maximum of two, which has integers from opset 12 on."""
    if is_float(a) or build.opset >= 12:
        return build.Max(a, b)
    return build.Where(build.Less(a, b), b, a)


def smaller(build: Builder, a: Value, b: Value) -> Value:
    """Return the minimum of two, which has integers from opset 12 on."""
    if is_float(a) or build.opset >= 12:
        return build.Min(a, b)
    return build.Where(build.Less(b, a), b, a)


def two(
    write: Write, model: Model, *, further: tuple[str, ...] = (), second: str = "other", **how: Any
) -> Arithmetic:
    """Return an operator of two operands, with further arguments after them."""
    return Arithmetic(("self", second, *further), ("self", second), write, model, **how)


def one(write: Write, model: Model, **how: Any) -> Arithmetic:
    """Return an operator of one operand."""
    return Arithmetic(("self",), ("self",), write, model, **how)


def plain(op: str) -> Write:
    """Return what writes an operator of ONNX on the operands."""

    def write(build: Builder, _: Call, v: list[Any]) -> Value:
        return build.node(op, *v)

    return write
