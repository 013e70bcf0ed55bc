"""The arguments of an ATen call, in every layout that exporters have written.

Layouts (torch/onnx/_internal/torchscript_exporter, torch/csrc/onnx, caffe2/contrib/aten and
onnxruntime/python/training/ortmodule/_custom_op_symbolic_registry.py):

- ``org.pytorch.aten::ATen`` with ``operator`` and ``overload_name``: every argument of the schema
  is an input, in order; None is an empty name;
- ``org.pytorch.aten::<name>`` without ``operator``: the same inputs;
- ``ATen`` of the default domain or of ``aten``: tensors are inputs, numbers and lists are
  attributes under the names of the schema.

An argument is therefore looked up as an attribute first, and else as the input whose place is the
argument's own among those that are not attributes. Which overload is called, and so which names
the arguments have, is found from what is given where the file does not say it; what no overload
takes is refused, and what a pass does not read is too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from onnx import TensorProto

from graphfix.authoring import (
    Array,
    Motion,
    NodeView,
    Pass,
    Refuse,
    Value,
    is_none,
    moving,
    named_in,
    needed,
    operator_of,
    overload_chosen,
    overloads_called,
    overloads_of_arrays,
    rewrite,
)

DOMAINS = (
    "",
    "org.pytorch.aten",
    "aten",
    "org.pytorch",
    "pytorch",
    "com.microsoft.pytorch",
    "torch.ops.aten",
)
LISTS = frozenset({"SequenceConstruct", "ListConstruct", "Concat", "TupleConstruct"})
_SAME_ENTRIES = moving(Motion.SAME) | {"Cast"}
_DEPTH = 8

Schemas = Mapping[str, tuple[str, ...]]


def matching(names: Sequence[str]) -> tuple[str, ...]:
    """Return what a pass for ATen operators called `names` matches, for `rewrite`."""
    return ("*::ATen", *(f"{d}::{n}" if d else n for n in names for d in DOMAINS))


def features(names: Sequence[str]) -> tuple[str, ...]:
    """Return the features that a pass for ATen operators called `names` removes."""
    return (*(f"op:aten::{n}" for n in names), *(f"op:{n}" for n in names))


def replacing(names: Sequence[str], **how: Any) -> Callable[[Callable[..., Any]], Pass]:
    """Declare a pass for ATen operators called `names`; the rest as for `rewrite`."""
    return rewrite(matching(names), removes=features(names), **how)


class Call(Struct, frozen=True):
    """One call of an ATen operator.

    Attributes:
        node: The node.
        operator: The operator without ``aten::`` and overload.
        overload: The overload; empty for the default one and where the layout has none.
        schema: The names of the arguments, in order.
    """

    node: NodeView
    operator: str
    overload: str
    schema: tuple[str, ...]

    def tensor(self, name: str) -> Value | None:
        """Return a tensor argument, or None where it is None.

        Raises:
            Refuse: It is an attribute, which no tensor of the graph is.
        """
        if self.node.has(name):
            raise Refuse(f"{name} of {self.operator} must be an input; it is an attribute")
        place = self._place(name)
        value = None if place is None else self.node.input(place)
        return None if value is None or is_none(value) else value

    def need(self, name: str) -> Value:
        """Return a tensor argument.

        Raises:
            Refuse: It is None.
        """
        return needed(self.tensor(name), f"{self.operator} must have {name}")

    def entries(self, name: str) -> tuple[Any, ...] | None:
        """Return an argument that is a list of numbers, or one number, as a tuple.

        An entry is None where PyTorch had None. The whole is None where the argument is.

        Raises:
            Refuse: It is computed at run time, or complex.
        """
        if self.node.has(name):
            found: tuple[Any, ...] | None = flat(self.node.attr(name))
        else:
            value = self.tensor(name)
            found = None if value is None else entries_of(value, name)
        if any(isinstance(entry, complex) for entry in found or ()):
            raise Refuse(f"{name} of {self.operator} must be real numbers; they are complex")
        return found

    def number(self, name: str, default: float | None = None) -> Any:
        """Return an argument that is one number, or `default` where it is None or missing.

        Raises:
            Refuse: It is computed at run time, or not one number.
        """
        found = self.entries(name)
        if found is None or found == (None,):
            return default
        if len(found) != 1:
            raise Refuse(f"{name} of {self.operator} must have one entry; it has {len(found)}")
        return found[0]

    def integers(self, name: str) -> tuple[int, ...] | None:
        """Return a list of integers without None entries, or None.

        Raises:
            Refuse: It is computed at run time, or an entry is None.
        """
        found = self.entries(name)
        if found is None:
            return None
        if any(entry is None for entry in found):
            raise Refuse(f"{name} of {self.operator} must have no entry that is None")
        return tuple(int(entry) for entry in found)

    def text(self, name: str, default: str) -> str:
        """Return an argument that is a text, or `default` where it is None or missing.

        Raises:
            Refuse: It is computed at run time, or several texts.
        """
        if self.node.has(name):
            return str(self.node.attr(name))
        value = self.tensor(name)
        return default if value is None else text_of(value, name)

    def irrelevant(self, *names: str) -> None:
        """Say that arguments change nothing here; the caller says why.

        Args:
            names: Arguments that the repair does not read because of what the others are.
        """
        for name in names:
            place = self._place(name)
            self.node.waive((name,), () if place is None else (place,))

    def _place(self, name: str) -> int | None:
        """Return which input an argument is; None where the overload has no such argument."""
        if name not in self.schema:
            return None
        before = self.schema[: self.schema.index(name)]
        return sum(not self.node.has(argument) for argument in before)


def call_of(node: NodeView, schemas: Schemas) -> Call:
    """Return the call that a node makes.

    Args:
        node: The node.
        schemas: Argument names by operator, or by ``operator.overload`` where they differ.

    Raises:
        Refuse: The node calls another operator, or a local function of the model.
    """
    called = (node.node.domain or "", node.op, node.overload)
    if called in (node.graph.root.known_functions or ()):
        raise Refuse(f"{node.op} must be PyTorch's operator; it is a local function of the model")
    operator, named = operator_of(node)
    overload, schema = overload_chosen(operator, named, overloads_called(node), schemas)
    return Call(node, operator, overload, schema)


class ArrayCall(Struct, frozen=True):
    """The same look-up on arrays and plain attributes, for numpy models of operators.

    The names of the arguments are those of the overload that PyTorch would call; `schema` is
    where its table does not know the operator.
    """

    inputs: Sequence[Any]
    attributes: Mapping[str, Any]
    schema: tuple[str, ...]

    def __post_init__(self) -> None:
        """Find the overload that takes what is given."""
        operator, named = named_in(self.attributes)
        found = overloads_of_arrays(self.inputs, self.attributes)
        _, schema = overload_chosen(operator, named, found, {operator: self.schema})
        msgspec.structs.force_setattr(self, "schema", schema)

    def irrelevant(self, *names: str) -> None:
        """Say that arguments change nothing here, as `Call.irrelevant` does."""
        for name in names:
            np.shape(self.given(name))  # which reads it

    def given(self, name: str) -> Any:
        """Return what stands for an argument as it is, or None."""
        if name in self.attributes:
            return self.attributes[name]
        if name not in self.schema:
            return None
        before = self.schema[: self.schema.index(name)]
        place = sum(argument not in self.attributes for argument in before)
        return self.inputs[place] if place < len(self.inputs) else None

    def array(self, name: str) -> Array | None:
        """Return a tensor argument, or None."""
        found = self.given(name)
        return None if found is None else np.asarray(found)

    def need(self, name: str) -> Array:
        """Return a tensor argument that must be there.

        Raises:
            ValueError: It is None.
        """
        found = self.array(name)
        if found is None:
            raise ValueError(f"{name} is missing")
        return found

    def entries(self, name: str) -> tuple[Any, ...] | None:
        """Return a list argument as a tuple, or None."""
        if name in self.attributes:
            return flat(self.attributes[name])
        found = self.array(name)
        return None if found is None else flat(found)

    def number(self, name: str, default: float | None = None) -> Any:
        """Return an argument that is one number, or `default`."""
        found = self.entries(name)
        return default if not found else found[0]


def flat(value: Any) -> tuple[Any, ...]:
    """Return numbers as a tuple, whatever they are in."""
    return tuple(np.asarray(value).ravel().tolist())


def entries_of(value: Value, name: str, depth: int = 0) -> tuple[Any, ...]:
    """Return the values of an argument that is a constant, or a list of constants.

    Raises:
        Refuse: It is computed at run time.
    """
    array = value.array()
    if array is not None:
        return flat(array)
    if is_none(value):
        return (None,)
    producer = value.producer
    if producer is None or depth > _DEPTH:
        raise Refuse(f"{name} must be a constant; it is computed at run time")
    if producer.op in _SAME_ENTRIES:
        entries = entries_of(producer.need(0), name, depth + 1)
        if producer.op == "Cast" and not _is_kept(entries, int(producer.attr("to", 0))):
            raise Refuse(f"{name} must be a constant; it is computed at run time")
        return entries
    if producer.op in LISTS:
        found: list[Any] = []
        for entry in producer.inputs:
            found.extend((None,) if entry is None else entries_of(entry, name, depth + 1))
        return tuple(found)
    raise Refuse(f"{name} must be a constant; it is computed at run time")


def _is_kept(entries: tuple[Any, ...], to: int) -> bool:
    """Say whether a Cast leaves numbers as they are: int32 wraps, and fractions are cut off."""
    if to not in (TensorProto.INT32, TensorProto.INT64):
        return False
    most = 1 << (31 if to == TensorProto.INT32 else 63)
    return all(
        entry is None or (-most <= entry < most and int(entry) == entry) for entry in entries
    )


def text_of(value: Value, name: str) -> str:
    """Return an argument that is a constant text.

    Raises:
        Refuse: It is computed at run time, or several texts.
    """
    producer, array = value.producer, value.array()
    if producer is not None and producer.op == "Constant":
        # PyTorch writes a string into the attribute that otherwise holds a tensor.
        for attribute in ("value", "value_string"):
            if isinstance(producer.attr(attribute), str):
                return str(producer.attr(attribute))
    if array is None:
        raise Refuse(f"{name} must be a constant; it is computed at run time")
    if array.size != 1:
        raise Refuse(f"{name} must be one text; there are {array.size}")
    return str(array.item())
