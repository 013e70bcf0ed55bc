"""Losses of tensors that broadcast: what one pair costs, and how the costs are joined."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphfix.authoring import Array, Builder, Refuse, Value

from ._arguments import ArrayCall, Call
from ._family import Function
from ._promoting import common_dtype, of_one_type
from ._reductions import mean_over, over

NONE, MEAN, SUM = range(3)


def joined_as(call: Call | ArrayCall) -> int:
    """Return how a call joins what its elements cost.

    Raises:
        Refuse: It is none of PyTorch's three.
    """
    how = int(call.number("reduction", MEAN))
    if how not in (NONE, MEAN, SUM):
        raise Refuse(f"reduction must be 0, 1 or 2; it is {how}")
    return how


def joined(build: Builder, call: Call, costs: Value) -> Value:
    """Return costs as they are, their mean or their sum.

    Raises:
        Refuse: Their rank is unknown.
    """
    how = joined_as(call)
    if costs.rank is None:
        raise Refuse("the ranks of the operands must be known")
    if how == NONE or not costs.rank:
        return costs
    axes = tuple(range(costs.rank))
    if how == MEAN:
        return mean_over(build, costs, axes, keep=False)
    return over(build, "ReduceSum", costs, axes, keep=False)


def joined_array(call: ArrayCall, costs: Array) -> Any:
    """Return the same of an array."""
    how = joined_as(call)
    return costs if how == NONE else costs.mean() if how == MEAN else costs.sum()


def float_operands(build: Builder, given: Sequence[Value | None]) -> list[Any]:
    """Return operands as floats of one type; one that is None stays None.

    Raises:
        Refuse: That is float16, which PyTorch computes in float32.
    """
    dtype = float_dtype([v for v in given if v is not None])
    return [*of_one_type(build, given, dtype)]


def float_dtype(given: Sequence[Value | Array]) -> np.dtype[Any]:
    """Return the type of floats that operands are computed in.

    Raises:
        Refuse: It is float16, which PyTorch computes in float32, or unknown.
    """
    dtype = common_dtype(given, to_float=True)
    if dtype.name not in ("float32", "float64"):
        raise Refuse(f"the operands must be float32 or float64; they are {dtype}")
    return dtype


@dataclass(frozen=True, slots=True)
class Loss:
    """One loss.

    Attributes:
        schema: The names of its arguments, in order; ``reduction`` among them.
        operands: Which of them are brought to one type of floats.
        write: Builds what each element costs.
        model: The same of arrays, of float64 unless `cancels`.
        cancels: Whether sums cancel, so that the type that they are computed in shows.
    """

    schema: tuple[str, ...]
    operands: tuple[str, ...]
    write: Callable[[Builder, Call, list[Any]], Value]
    model: Callable[[ArrayCall, list[Any]], Any]
    cancels: bool = False

    def function(self) -> Function:
        """Return the entry of a family."""
        return Function(self.schema, self._write, self._model)

    def _write(self, build: Builder, call: Call) -> Value:
        values = float_operands(build, [call.tensor(name) for name in self.operands])
        return joined(build, call, self.write(build, call, values))

    def _model(self, call: ArrayCall) -> Any:
        given = [call.array(name) for name in self.operands]
        dtype = float_dtype([a for a in given if a is not None])
        wide = [
            None if a is None else a.astype(dtype if self.cancels else np.float64) for a in given
        ]
        return np.asarray(joined_array(call, np.asarray(self.model(call, wide)))).astype(dtype)
