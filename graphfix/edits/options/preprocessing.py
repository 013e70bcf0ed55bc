"""Edits that put into the file what callers did before and after: types, layout, normalization.

Each comes in front of what is there, so the last step of a preprocessing is put in first:
``--normalize`` before ``--layout`` before ``--input-type`` for images of uint8 in NHWC.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

from graphfix.analysis.inference import type_text
from graphfix.edits.addressing import graphs_of, matching, tensors_of
from graphfix.edits.arrays import numbers
from graphfix.edits.declaring import Given, Group, option
from graphfix.edits.engine import Edited, How, ModelLike, edit
from graphfix.edits.outside import DOMAIN, NUMPY, with_import
from graphfix.edits.parts import declared
from graphfix.edits.renaming import rename_ends
from graphfix.edits.step import Equal, Step, Subject
from graphfix.errors import UsageError
from graphfix.ir.protos import copied
from graphfix.ir.storage.weights import dtype_of, type_name

# The axes of one layout in the other, by rank.
_TO_LAST = {3: (1, 2, 0), 4: (0, 2, 3, 1), 5: (0, 2, 3, 4, 1)}
_TO_FIRST = {3: (2, 0, 1), 4: (0, 3, 1, 2), 5: (0, 4, 1, 2, 3)}
_LAYOUTS = {"NHWC": _TO_LAST, "NCHW": _TO_FIRST}
_OLDEST = 7  # from here on arithmetic broadcasts
_RGB = 3

Nodes = Callable[[str, str], list[NodeProto]]


@dataclass(frozen=True, slots=True)
class InputType:
    """Let an input have another element type; it is cast to the one it had.

    Attributes:
        name: The input.
        type: The type that callers give from now on, such as ``uint8``.
    """

    name: str
    type: str
    option: str = field(default="--input-type", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Put a Cast after it; see `graphfix.edits.step.Edit`."""
        end = _End(subject, self.name, f"{self.option} {self.name}={self.type}", outputs=False)
        info = copied(end.info)
        info.type.tensor_type.elem_type = wanted = element_type(self.type, end.where)
        if wanted == end.elem_type:
            raise UsageError(f"it is {self.type} already", where=end.where)
        _check_cast(wanted, end.elem_type, end.where)
        return end.put(info, _cast(end.elem_type), _numpy_cast(end.elem_type))


@option("input-type", "NAME=uint8", "Take an input as another element type.", Group.SHAPES)
def read_input_type(given: Given) -> InputType:
    """Return the edit that a text asks for."""
    return InputType(*given.pair())


def input_type(model: ModelLike, name: str, type: str, **how: Unpack[How]) -> Edited:
    """Let an input have another element type, such as ``uint8``."""
    return edit(model, [InputType(name, type)], **how)


@dataclass(frozen=True, slots=True)
class OutputType:
    """Give an output out with another element type.

    Attributes:
        name: The output.
        type: The type, such as ``float32``.
    """

    name: str
    type: str
    option: str = field(default="--output-type", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Put a Cast before it; see `graphfix.edits.step.Edit`."""
        end = _End(subject, self.name, f"{self.option} {self.name}={self.type}", inputs=False)
        info = copied(end.info)
        info.type.tensor_type.elem_type = wanted = element_type(self.type, end.where)
        if wanted == end.elem_type:
            raise UsageError(f"it is {self.type} already", where=end.where)
        _check_cast(end.elem_type, wanted, end.where)
        return end.put(info, _cast(wanted), _numpy_cast(wanted))


@option("output-type", "NAME=float32", "Give an output out as another element type.", Group.SHAPES)
def read_output_type(given: Given) -> OutputType:
    """Return the edit that a text asks for."""
    return OutputType(*given.pair())


def output_type(model: ModelLike, name: str, type: str, **how: Unpack[How]) -> Edited:
    """Give an output out with another element type."""
    return edit(model, [OutputType(name, type)], **how)


@dataclass(frozen=True, slots=True)
class Layout:
    """Take an input, or give an output, with its channels last (NHWC) or first (NCHW).

    Attributes:
        name: The input or output; it has the other layout.
        layout: ``NHWC`` or ``NCHW``: what callers see from now on.
    """

    name: str
    layout: str
    option: str = field(default="--layout", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Put a Transpose there; see `graphfix.edits.step.Edit`."""
        end = _End(subject, self.name, f"{self.option} {self.name}={self.layout}")
        known = _LAYOUTS.get(self.layout.upper())
        if known is None:
            raise UsageError(f"{self.layout!r} is not NHWC or NCHW", where=end.where)
        rank = len(end.dims)
        if rank not in known:
            raise UsageError(f"it has {rank} dimensions, not 3, 4 or 5", where=end.where)
        order = known[rank]
        info = copied(end.info)
        for place, axis in enumerate(order):
            info.type.tensor_type.shape.dim[place].CopyFrom(end.dims[axis])
        perm = list(np.argsort(order)) if end.is_input else list(order)
        perm = [int(axis) for axis in perm]

        def nodes(source: str, target: str) -> list[NodeProto]:
            return [helper.make_node("Transpose", [source], [target], perm=perm)]

        return end.put(info, nodes, _outside("Transpose", perm=perm))


@option(
    "layout",
    "NAME=NHWC|NCHW",
    "Take an input, or give an output, in the other layout.",
    Group.SHAPES,
    long_form="NAME=NHWC",
)
def read_layout(given: Given) -> Layout:
    """Return the edit that a text asks for."""
    return Layout(*given.pair())


def layout(model: ModelLike, name: str, order: str, **how: Unpack[How]) -> Edited:
    """Take an input, or give an output, as ``NHWC`` or ``NCHW``."""
    return edit(model, [Layout(name, order)], **how)


@dataclass(frozen=True, slots=True)
class Normalize:
    """Take what is not normalized: ``(x - mean) / std`` is computed in the file.

    Attributes:
        name: The input.
        mean: One number, or one for each channel.
        std: The same.
    """

    name: str
    mean: tuple[float, ...]
    std: tuple[float, ...]
    option: str = field(default="--normalize", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Put Sub and Div after it; see `graphfix.edits.step.Edit`."""
        end = _End(subject, self.name, f"{self.option} {self.name}", outputs=False)
        dtype = dtype_of(end.elem_type)
        if dtype is None or dtype.kind != "f":
            raise UsageError(
                f"it is {type_name(end.elem_type)}, no float",
                where=end.where,
                hint="normalize before --input-type, which comes in front",
            )
        count = max(len(self.mean), len(self.std))
        if not {len(self.mean), len(self.std)} <= {1, count} or not count:
            raise UsageError(f"{len(self.mean)} means, {len(self.std)} deviations", where=end.where)
        if 0 in self.std:
            raise UsageError("a deviation is 0", where=end.where)
        shape = [1] * len(end.dims) if count > 1 else []
        if count > 1:
            shape[end.channels(count)] = count
        mean, std = (
            np.broadcast_to(np.asarray(values, dtype), (count,)).reshape(shape)
            for values in (self.mean, self.std)
        )

        def nodes(source: str, target: str) -> list[NodeProto]:
            names = [f"{target}_mean", f"{target}_std", f"{target}_centred"]
            return [
                _constant(names[0], mean),
                _constant(names[1], std),
                helper.make_node("Sub", [source, names[0]], [names[2]]),
                helper.make_node("Div", [names[2], names[1]], [target]),
            ]

        tensors = {"mean": numpy_helper.from_array(mean), "std": numpy_helper.from_array(std)}
        return end.put(copied(end.info), nodes, _outside("Normalize", **tensors))


@option(
    "normalize",
    "NAME=MEAN/STD",
    "Compute (x - MEAN) / STD of an input; a,b,c per channel.",
    Group.ENDS,
)
def read_normalize(given: Given) -> Normalize:
    """Return the edit that a text asks for."""
    name, rest = given.pair()
    mean, slash, std = rest.partition("/")
    if not slash:
        raise given.malformed()
    values = (numbers(part, f"{given.option} {given.text}") for part in (mean, std))
    one, two = (tuple(float(value) for value in array) for array in values)
    return Normalize(name, one, two)


def normalize(
    model: ModelLike, name: str, mean: Sequence[float], std: Sequence[float], **how: Unpack[How]
) -> Edited:
    """Compute ``(x - mean) / std`` of an input in the file."""
    return edit(model, [Normalize(name, tuple(mean), tuple(std))], **how)


@dataclass(frozen=True, slots=True)
class SwapChannels:
    """Take an image with its three channels in the other order: BGR for RGB.

    Attributes:
        name: The input.
    """

    name: str
    option: str = field(default="--swap-channels", init=False, repr=False)

    def apply(self, subject: Subject) -> Step:
        """Put a Gather after it; see `graphfix.edits.step.Edit`."""
        end = _End(subject, self.name, f"{self.option} {self.name}", outputs=False)
        axis = end.channels(_RGB)

        def nodes(source: str, target: str) -> list[NodeProto]:
            order = f"{target}_order"
            return [
                _constant(order, np.array([2, 1, 0], np.int64)),
                helper.make_node("Gather", [source, order], [target], axis=axis),
            ]

        return end.put(copied(end.info), nodes, _outside("Reverse", axis=axis))


@option("swap-channels", "NAME", "Take an image as BGR for RGB, or RGB for BGR.", Group.ENDS)
def read_swap_channels(given: Given) -> SwapChannels:
    """Return the edit that a text asks for."""
    return SwapChannels(given.text)


def swap_channels(model: ModelLike, name: str, **how: Unpack[How]) -> Edited:
    """Take an image with its three channels in the other order."""
    return edit(model, [SwapChannels(name)], **how)


class _End:
    """An input or output, and what is put between it and the model."""

    def __init__(
        self, subject: Subject, name: str, where: str, *, inputs: bool = True, outputs: bool = True
    ) -> None:
        graph = subject.proto.graph
        known = {i.name: i for i in graph.output} if outputs else {}
        if inputs:
            known |= {i.name: i for i in graph.input if i.name not in subject.scope.stored}
        kind = "input" if not outputs else "output" if not inputs else "input or output"
        matching(known, name, kind, where)
        self.subject, self.where, self.name = subject, where, name
        self.is_input = inputs and name in subject.scope.inputs
        self.info = declared(subject, name, where)
        tensor = self.info.type.tensor_type
        self.elem_type, self.dims = tensor.elem_type, list(tensor.shape.dim)
        if self.info.type.WhichOneof("value") != "tensor_type" or not self.elem_type:
            raise UsageError(f"{name!r} is no tensor", where=where)
        opset = subject.proto.opset_import
        if any(e.domain in ("", "ai.onnx") and e.version < _OLDEST for e in opset):
            raise UsageError(
                f"is for models of opset {_OLDEST} and newer",
                where=where,
                hint=f"graphfix run MODEL --opset {_OLDEST}",
            )

    def channels(self, count: int) -> int:
        """Return the axis of so many channels: the second one, or the last."""
        rank = len(self.dims)
        sizes = [d.dim_value if d.HasField("dim_value") else None for d in self.dims]
        places = [axis for axis in (rank - 3 if rank == _RGB else 1, rank - 1) if 0 <= axis < rank]
        exact = [axis for axis in dict.fromkeys(places) if sizes[axis] == count]
        found = exact or [axis for axis in places[:1] if sizes[axis] is None and rank > _RGB]
        if len(found) != 1:
            text = type_text(self.info.type)
            what = "either axis" if found else "no axis"
            raise UsageError(f"{what} of {text} can be that of {count} channels", where=self.where)
        return found[0]

    def put(self, info: ValueInfoProto, nodes: Nodes, outside: Nodes) -> Step:
        """Return the model with nodes there, and the claim that they do what numpy does."""
        made, reference = (self._with(info, each) for each in (nodes, outside))
        kind = "input" if self.is_input else "output"
        old, new = type_text(self.info.type), type_text(info.type)
        count = len(made.graph.node) - len(self.subject.proto.graph.node)
        said = f"{kind} {self.name!r} is {new}" + (f", it was {old}" if old != new else "")
        side = "fed with the input as numpy computes it" if self.is_input else "through numpy"
        claim = Equal(
            f"it computes what the model as it was does, {side}",
            made,
            with_import(reference),
            NUMPY,
            made_first=True,
        )
        return Step(made, (f"{said}; {count} node{'s' * (count != 1)} for it",), (claim,))

    def _with(self, info: ValueInfoProto, nodes: Nodes) -> ModelProto:
        proto = copied(self.subject.proto)
        graph = proto.graph
        taken = {n for each in graphs_of(graph) for n in tensors_of(each)}
        inner = f"{self.name}_inner"
        while any(name.startswith(inner) for name in taken):
            inner += "_"
        rename_ends(proto, {self.name: inner})
        ends = graph.input if self.is_input else graph.output
        kept = [copied(info if each.name == inner else each) for each in ends]
        source, target = (self.name, inner) if self.is_input else (inner, self.name)
        old = [copied(node) for node in graph.node]
        new = nodes(source, target)
        graph.ClearField("node")
        graph.node.extend([*new, *old] if self.is_input else [*old, *new])
        graph.ClearField("input" if self.is_input else "output")
        ends = graph.input if self.is_input else graph.output
        ends.extend(kept)
        if self.is_input:  # an input may be an output as well
            for each in graph.output:
                if each.name == inner:
                    raise UsageError(f"{self.name!r} is an output too", where=self.where)
        return proto


def element_type(text: str, where: str) -> int:
    """Return the element type of a name such as ``uint8``.

    Raises:
        UsageError: There is none.
    """
    names = {type_name(value): value for value in TensorProto.DataType.values() if value}
    if text not in names or dtype_of(names[text]) is None or text == "string":
        raise UsageError(
            f"{text!r} is no element type", where=where, hint="such as uint8, float16 or float32"
        )
    return names[text]


def _check_cast(source: int, target: int, where: str) -> None:
    """Check that engines agree on what a cast gives: past the ends of integers they do not."""
    kinds = [getattr(dtype_of(elem_type), "kind", "") for elem_type in (source, target)]
    if kinds[1] in ("i", "u") and kinds[0] not in ("i", "u", "b"):
        names = f"{type_name(source)} to {type_name(target)}"
        raise UsageError(f"a cast from {names} cuts fractions off", where=where)


def _cast(elem_type: int) -> Nodes:
    def nodes(source: str, target: str) -> list[NodeProto]:
        return [helper.make_node("Cast", [source], [target], to=elem_type)]

    return nodes


def _numpy_cast(elem_type: int) -> Nodes:
    return _outside("Cast", to=elem_type)


def _outside(op: str, **attributes: Any) -> Nodes:
    """Return what makes a node that numpy computes in a proof."""

    def nodes(source: str, target: str) -> list[NodeProto]:
        node = helper.make_node(op, [source], [target], domain=DOMAIN)
        for name, value in attributes.items():
            node.attribute.append(helper.make_attribute(name, value))
        return [node]

    return nodes


def _constant(name: str, array: np.ndarray[Any, Any]) -> NodeProto:
    value = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
    return helper.make_node("Constant", [], [name], value=value)
