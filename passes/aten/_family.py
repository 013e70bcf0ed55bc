"""A table of operators that one pass replaces: how each is written, and what numpy says of it."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from onnx import TensorProto

from graphfix.authoring import (
    APPROXIMATE,
    Array,
    Builder,
    InferredType,
    NodeView,
    Pass,
    Refuse,
    Value,
    named_in,
    operator_of,
    overload_chosen,
    overloads_of_arrays,
)

from ._arguments import ArrayCall, Call, Schemas, call_of, replacing

Shape = tuple[int | str | None, ...]
Written = Value | tuple[Value | None, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """One operator.

    Attributes:
        schema: The names of its arguments, in order.
        write: Builds what replaces a call.
        model: Computes what PyTorch does, with numpy.
        note: What is to be said where the result is approximate; empty where it is exact.
        infer: Says types and shapes of what a call gives, where they are more than what follows
            from what is written: ONNX knows no shape of what a Loop gives, and no name of a size
            that is cut or sorted.
    """

    schema: tuple[str, ...]
    write: Callable[[Builder, Call], Written]
    model: Callable[[ArrayCall], Any]
    note: str = ""
    infer: Callable[[Call], Sequence[InferredType | None]] | None = None


@dataclass(frozen=True, slots=True)
class Family:
    """The operators of one pass.

    Attributes:
        functions: By name, or by ``name.overload`` where overloads differ.
        other: Overloads, ``name.overload``, that take other arguments and are none of this pass.
    """

    functions: Mapping[str, Function]
    other: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The operators, without overloads."""
        return tuple(dict.fromkeys(name.partition(".")[0] for name in self.functions))

    @property
    def schemas(self) -> Schemas:
        """The arguments of each."""
        return {name: function.schema for name, function in self.functions.items()}

    def of(self, operator: str, overload: str) -> Function:
        """Return the entry of an operator.

        Raises:
            Refuse: It has none with this overload.
        """
        found = self.functions.get(f"{operator}.{overload}", self.functions.get(operator))
        if found is None or f"{operator}.{overload}" in self.other:
            raise Refuse(f"overload {overload!r} of {operator} must be one of this pass; it is not")
        return found

    def infer(self, node: NodeView) -> Sequence[InferredType | None] | None:
        """Say what a call gives; None where that follows from what is written."""
        call = call_of(node, self.schemas)
        with _arguments_of(call):
            infer = self.of(call.operator, call.overload).infer
            return None if infer is None else infer(call)

    def evaluate(self, inputs: list[Array | None], attributes: dict[str, Any]) -> tuple[Array, ...]:
        """Compute a call with numpy."""
        operator, named = named_in(attributes)
        overloads = overloads_of_arrays(inputs, attributes)
        overload, schema = overload_chosen(operator, named, overloads, self.schemas)
        with np.errstate(all="ignore"):
            result = self.of(operator, overload).model(ArrayCall(inputs, attributes, schema))
        several: Sequence[Any] = cast("Any", result if isinstance(result, tuple) else (result,))
        return tuple(np.asarray(one) for one in several)

    def replaced(self, module: str, *, opset: int = 0, why: str = "", **how: Any) -> Pass:
        """Return the pass that replaces the calls of this family, called after its module.

        Args:
            module: The name of the module.
            opset: The oldest opset that it writes.
            why: What that one has, such as ", which has Where".
            how: As for `rewrite`: what it emits, claims; its accuracy, which otherwise follows from
                the notes of its functions.
        """

        def write(node: NodeView, build: Builder) -> tuple[Value | None, ...]:
            build.need_opset(opset, why)
            written = self.write(node, build)
            note = self.of(*operator_of(node)).note
            if note:
                build.declare(APPROXIMATE, note)
            return written

        write.__name__, write.__module__ = module.rpartition(".")[2], module
        if all(function.note for function in self.functions.values()):
            how = {"accuracy": APPROXIMATE, **how}
        infers = any(function.infer for function in self.functions.values())
        infer = self.infer if infers else None
        return replacing(self.names, infer=infer, evaluate=self.evaluate, **how)(write)

    def write(self, node: NodeView, build: Builder) -> tuple[Value | None, ...]:
        """Build what replaces a call.

        Raises:
            Refuse: The call is none of this family, or none that its entry can write.
        """
        call = call_of(node, self.schemas)
        with _arguments_of(call):
            result = self.of(call.operator, call.overload).write(build, call)
        several = result if isinstance(result, tuple) else (result,)
        missing = len(node.outputs) - len(several)
        return (*several, *([None] * missing))[: len(node.outputs)]


@contextmanager
def _arguments_of(call: Call) -> Generator[None]:
    """Refuse a call whose arguments are missing or contradict one another, as a file may.

    Raises:
        Refuse: They do.
    """
    try:
        yield
    except (TypeError, ValueError, ArithmeticError, IndexError) as error:
        said = str(error).partition("\n")[0]
        raise Refuse(f"the arguments of {call.operator} must fit together: {said}") from error


def like(name: str = "self") -> Callable[[Call], Sequence[InferredType | None]]:
    """Return what infers a result of the type and shape of an argument."""

    def infer(call: Call) -> Sequence[InferredType | None]:
        x = call.need(name)
        return (InferredType(x.elem_type, x.shape) if x.elem_type else None,)

    return infer


def by_sizes(model: Callable[[Any, Call], Any]) -> Callable[[Call], Sequence[InferredType | None]]:
    """Return what infers the shape of a move.

    Args:
        model: Makes the sizes of the result of an array of those of the first argument.
    """

    def infer(call: Call) -> Sequence[InferredType | None]:
        x, rank = ranked(call, call.schema[0])
        sizes = np.empty(rank, dtype=object)
        sizes[:] = list(x.shape or ())
        return (InferredType(x.elem_type, tuple(model(sizes, call))),)

    return infer


def ranked(call: Call, name: str = "self", least: int = 0) -> tuple[Value, int]:
    """Return a tensor and its rank.

    Raises:
        Refuse: Its rank or dtype is unknown, or the rank is less than `least`.
    """
    x = call.need(name)
    if x.rank is None or not x.elem_type:
        raise Refuse(f"the rank and the dtype of {x.name} must be known")
    if x.rank < least:
        raise Refuse(f"the rank of {x.name} must be at least {least}; it is {x.rank}")
    return x, x.rank


def axis_in(call: Call, name: str, rank: int, default: int | None = None) -> int:
    """Return an axis, counted from the front.

    Raises:
        Refuse: It is missing, computed at run time, or not within the rank.
    """
    axis = call.number(name, default)
    # A scalar has one axis to PyTorch.
    if axis is None or not -max(rank, 1) <= int(axis) < max(rank, 1):
        raise Refuse(f"{name} of {call.operator} must lie in rank {rank}; it is {axis}")
    return int(axis) % max(rank, 1)


def index_vector(build: Builder, call: Call) -> Value:
    """Return indices; those without axes as one of size 1.

    Raises:
        Refuse: They are neither int32 nor int64, or their rank is unknown.
    """
    places, rank = ranked(call, "index")
    if places.type_name not in ("int32", "int64"):
        raise Refuse(f"{places.name} must be int32 or int64; it is {places.type_name}")
    return places if rank else build.Unsqueeze(places, axes=[0])


def unused(call: Call, output: int, what: str, why: str = "it is not computed here") -> None:
    """Hold a call to an output that nothing reads.

    Args:
        call: The call.
        output: The place of the output.
        what: What it holds, in words.
        why: Why it is not given.

    Raises:
        Refuse: It is used.
    """
    value = call.node.output(output)
    if value is not None and value.is_used:
        raise Refuse(f"{value.name} is read, which is {what} of {call.operator}: {why}")


def without(shape: Shape | None, axis: int, *, keep: bool = False) -> Shape:
    """Return a shape whose axis is gone, or of size one."""
    assert shape is not None  # the callers have looked at the rank
    return (*shape[:axis], *((1,) if keep else ()), *shape[axis + 1 :])


def broadcast(first: Shape, second: Shape) -> Shape:
    """Return the shape of two that broadcast; None where a size depends on which is one."""
    rank = max(len(first), len(second))
    one = (1,) * (rank - len(first)) + first
    other = (1,) * (rank - len(second)) + second
    found: list[int | str | None] = []
    for a, b in zip(one, other, strict=True):
        if a == b and a is not None:
            found.append(a)
        elif a == 1 or b == 1:
            found.append(b if a == 1 else a)
        elif isinstance(a, int) or isinstance(b, int):
            found.append(a if isinstance(a, int) else b)
        else:
            found.append(None)
    return tuple(found)


def integers(like_: Value) -> bool:
    """Say whether a value holds integers or booleans."""
    return like_.dtype is not None and like_.dtype.kind in "iub"


INT64 = TensorProto.INT64
