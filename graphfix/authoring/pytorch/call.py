"""One call of an operator of PyTorch as a file has it, bound to the operator's schema.

What a file says is a list of inputs and some attributes; which of them are tensors, numbers or
lists is said by the schema alone, which PyTorch has.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from graphfix.errors import EngineFailed
from graphfix.operators.arguments.aten_table import (
    Arguments,
    Given,
    Overload,
    Unfit,
    chosen,
    line_of,
    overload_of,
)

INSTALL = 'pip install "graphfix[torch]"'
# at::ScalarType, as numbers in files (c10/core/ScalarType.h), by the names of ONNX.
SCALAR_TYPES = {
    0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32",
    7: "float64", 11: "bool", 15: "bfloat16",
}  # fmt: skip
_LEFT_OUT = frozenset({"device", "generator", "layout", "memory_format", "pin_memory", "stream"})

_STRIDED = 0  # c10/core/Layout.h
# The kinds of numpy's types by TensorProto.DataType.
_KINDS = {
    **dict.fromkeys((1, 10, 11, 16), "f"), **dict.fromkeys((2, 3, 4, 5, 6, 7, 12, 13), "i"),
    **dict.fromkeys((14, 15), "c"), 9: "b",
}  # fmt: skip

Number = bool | int | float | None


class Argument(Struct, frozen=True):
    """What a file gives for one argument.

    Attributes:
        elem_type: TensorProto.DataType of a tensor; 0 for what is none.
        dims: Its dimensions: numbers, names, None for unknown ones.
        numbers: The values of a constant, flat, and of a list; None where they are not known.
        single: Whether it is one number and not a list of one.
        text: The value of a string.
        tensors: The entries of a list, None for those that are left out; None for what is none.
    """

    elem_type: int = 0
    dims: tuple[int | str | None, ...] = ()
    numbers: tuple[Number, ...] | None = None
    single: bool = False
    text: str | None = None
    tensors: tuple[Argument | None, ...] | None = None

    @property
    def entries(self) -> tuple[Argument | None, ...]:
        """The tensors of the graph that it is, or that are its entries."""
        if self.tensors is not None:
            return self.tensors
        return (self,) if self.elem_type else ()


class OperatorCall(Struct, frozen=True):
    """A node that calls an operator.

    Attributes:
        operator: Its name without ``aten::`` and overload.
        overload: The overload; empty for the default one, None where the file names none.
        inputs: What the inputs give, None for those that are left out.
        attributes: What attributes give, under the names of the schema's arguments.
        outputs: How many outputs the node has.
    """

    operator: str
    overload: str | None
    inputs: tuple[Argument | None, ...]
    attributes: tuple[tuple[str, Argument], ...] = ()
    outputs: int = 1

    def tensors(self) -> Iterator[Argument]:
        """Walk the tensors in the order of the inputs, those of lists in their order."""
        for given in self.inputs:
            if given is not None:
                yield from (one for one in given.entries if one is not None)


@cache
def has_pytorch() -> bool:
    """Say whether PyTorch, and what its exporter needs, are here; nothing is imported."""
    return all(importlib.util.find_spec(name) for name in ("torch", "onnxscript"))


class Bound(Struct, frozen=True):
    """An operator with what is to be passed to it.

    Attributes:
        overload: PyTorch's function.
        call: Calls it with the tensors of the call, in their order; returns a tuple of tensors.
    """

    overload: Any
    call: Callable[..., tuple[Any, ...]]


def bound(call: OperatorCall) -> Bound:
    """Find the overload that takes what a file gives.

    Raises:
        EngineFailed: PyTorch has no such operator, or none of its overloads takes that, or several
            do.
    """
    torch: Any = importlib.import_module("torch")
    packet = getattr(torch.ops.aten, call.operator, None)
    if packet is None:
        raise EngineFailed(f"PyTorch {torch.__version__} has no operator {call.operator}")
    try:
        found = chosen(_overloads(packet), call.overload, _arguments(call))
    except Unfit as reason:
        raise EngineFailed(f"{reason}") from None
    if not found:
        raise EngineFailed(f"{call.operator} has no overload {call.overload!r}")
    name = found[0].name or "default"
    overload = getattr(packet, name)
    try:
        return Bound(overload, _bind(overload, call))
    except _Unfit as reason:
        message = f"{call.operator}.{name} does not take what the node gives: {reason}"
        raise EngineFailed(message) from None


def _overloads(packet: Any) -> tuple[Overload, ...]:
    """Return the overloads of an operator of the PyTorch that is here, the default one first."""
    schemas = (getattr(packet, name)._schema for name in packet.overloads())
    lines = (line for line in map(line_of, schemas) if line is not None)
    return tuple(sorted(map(overload_of, lines), key=lambda one: one.name))


def _arguments(call: OperatorCall) -> Arguments:
    """Return what a call gives, as overloads are distinguished by it."""
    attributes = {name: _given(one, attribute=True) for name, one in call.attributes}
    inputs = tuple(None if one is None else _given(one) for one in call.inputs)
    return Arguments(attributes, inputs, call.outputs)


def _given(one: Argument, *, attribute: bool = False) -> Given:
    if one.text is not None:
        return Given("s", 0, attribute)
    if one.tensors is not None:
        # A list of numbers is one of tensors without axes.
        return Given("l") if one.numbers is None else Given("", 1)
    if one.elem_type:
        return Given(_KINDS.get(one.elem_type, ""), len(one.dims), attribute)
    numbers = [number for number in one.numbers or () if number is not None]
    kinds = {"f" if isinstance(number, float) else "i" for number in numbers}
    kind = "f" if "f" in kinds else "".join(kinds)
    return Given(kind, 0 if one.single else 1, attribute)


class _Unfit(Exception):  # noqa: N818 - an answer, not an error
    """Why an overload does not take a call."""


def _bind(overload: Any, call: OperatorCall) -> Callable[..., tuple[Any, ...]]:
    schema = overload._schema  # the same as torch.jit's
    attributes = dict(call.attributes)
    unknown = attributes.keys() - {argument.name for argument in schema.arguments}
    if unknown:
        raise _Unfit(f"it has no {min(unknown)}")
    inputs = list(call.inputs)
    free = [a for a in schema.arguments if a.name not in attributes]
    if any(given is not None for given in inputs[len(free) :]):
        raise _Unfit(f"it takes {len(free)} inputs, not {len(inputs)}")
    places = iter(range(sum(1 for _ in call.tensors())))
    makers: list[tuple[Any, Callable[[Sequence[Any]], Any]]] = []
    position = {a.name: at for at, a in enumerate(free)}
    found: dict[str, Callable[[Sequence[Any]], Any]] = {}
    for argument in free:  # in the order of the inputs, as the tensors are counted
        at = position[argument.name]
        given = inputs[at] if at < len(inputs) else None
        if at < len(inputs):
            found[argument.name] = _maker(argument, given, places)
    for argument in schema.arguments:
        if argument.name in attributes:
            found[argument.name] = _maker(argument, attributes[argument.name], places)
        elif argument.name not in found and not argument.has_default_value():
            raise _Unfit(f"{argument.name} is missing")
    makers = [(a, found[a.name]) for a in schema.arguments if a.name in found]

    single: Any = importlib.import_module("torch").Tensor

    def run(*tensors: Any) -> tuple[Any, ...]:
        args = [make(tensors) for a, make in makers if not a.kwarg_only]
        kwargs = {a.name: make(tensors) for a, make in makers if a.kwarg_only}
        given = overload(*args, **kwargs)
        return (given,) if isinstance(given, single) else tuple(given)

    return run


def _maker(
    argument: Any, given: Argument | None, places: Iterator[int]
) -> Callable[[Sequence[Any]], Any]:
    """Return what makes one argument of the tensors of a call."""
    kind = str(argument.type)
    inner = kind.removeprefix("Optional[").removesuffix("]") if "Optional[" in kind[:9] else kind
    if given is None:
        if argument.name == "device" and inner == kind:
            return lambda _: "cpu"  # traces leave out what a file cannot hold
        if inner == kind and not argument.has_default_value():
            raise _Unfit(f"{argument.name} is left out")
        value = None if inner != kind else argument.default_value
        return lambda _: value
    own = [None if entry is None else next(places) for entry in given.entries]
    if inner.startswith("List[") and "Tensor" in inner:
        if given.tensors is None:
            raise _Unfit(f"{argument.name} is no list of tensors")
        return lambda tensors: [None if at is None else tensors[at] for at in own]
    if inner == "Tensor":
        if given.tensors is not None:
            raise _Unfit(f"{argument.name} is a list of tensors")
        if own and own[0] is not None:
            place = own[0]
            return lambda tensors: tensors[place]
        plain = _plain(argument.name, "number", given)
        return lambda _: importlib.import_module("torch").tensor(plain)
    constant = _constant(argument, inner, given)
    return lambda _: constant


def _constant(argument: Any, kind: str, given: Argument) -> Any:
    if argument.name in _LEFT_OUT:
        if argument.name == "layout" and given.numbers not in (None, (_STRIDED,)):
            raise _Unfit(f"layout {given.numbers} is none that files have tensors in")
        return None
    if argument.name == "dtype" and given.numbers is not None:
        number = _plain("dtype", "int", given)
        if number not in SCALAR_TYPES:
            raise _Unfit(f"dtype {number} is none that ONNX has")
        return getattr(importlib.import_module("torch"), SCALAR_TYPES[number])
    if kind.startswith("List["):
        if given.numbers is None:
            raise _Unfit(f"{argument.name} must be a constant; it is computed at run time")
        element = kind.removeprefix("List[").removesuffix("]")
        return [_typed(element, number) for number in given.numbers]
    return _plain(argument.name, kind, given)


def _plain(name: str, kind: str, given: Argument) -> Any:
    if kind == "str":
        if given.text is None:
            raise _Unfit(f"{name} must be a text")
        return given.text
    if given.numbers is None:
        raise _Unfit(f"{name} must be a constant; it is computed at run time")
    if len(given.numbers) != 1:
        raise _Unfit(f"{name} must be one number; there are {len(given.numbers)}")
    return _typed(kind, given.numbers[0])


_CASTS: Mapping[str, Callable[[Any], Any]] = {
    "int": int, "SymInt": int, "float": float, "bool": bool
}  # fmt: skip


def _typed(kind: str, number: Number) -> Any:
    cast = _CASTS.get(kind)
    if cast is None or number is None:
        return number
    value = cast(number)
    if value != number:
        raise _Unfit(f"{number} is no {kind}")
    return value
