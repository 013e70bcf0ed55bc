"""A local function in a file, as a model that calls it once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from google.protobuf.message import DecodeError
from onnx import FunctionProto, ModelProto, TypeProto, helper

from graphfix.errors import UsageError
from graphfix.ir.model import Model
from graphfix.reduction.tensor_types import Typist

_OLDEST_IR = 8  # the first with local functions
_OVERLOADS = 10  # the first with overloads


def read_function(path: Path) -> FunctionProto | None:
    """Return the function of a file; None where the file holds something else, or is not there."""
    try:
        function = FunctionProto.FromString(path.read_bytes())
    except (OSError, DecodeError):
        return None
    return function if function.name and function.node and function.output else None


def calling(function: FunctionProto, kinds: Sequence[TypeProto], where: str) -> Model:
    """Return a model that calls a function, with the types of its inputs.

    Args:
        function: The function.
        kinds: The types of what it is fed with, in order.
        where: What asks for it.

    Raises:
        UsageError: It needs attributes, or more inputs.
    """
    _need_fed(function, len(kinds), where)
    node = helper.make_node(
        function.name,
        function.input,
        function.output,
        domain=function.domain,
        overload=function.overload,
    )
    ends = [helper.make_empty_tensor_value_info(n) for n in (*function.input, *function.output)]
    for info, kind in zip(ends, kinds[: len(function.input)], strict=False):
        info.type.CopyFrom(kind)
    given = len(function.input)
    graph = helper.make_graph([node], "call", ends[:given], ends[given:])
    proto = ModelProto(
        ir_version=_OVERLOADS if function.overload else _OLDEST_IR,
        graph=graph,
        opset_import=function.opset_import,
        functions=[function],
    )
    if function.domain not in {entry.domain for entry in proto.opset_import}:
        proto.opset_import.add(domain=function.domain, version=1)
    types = Typist("").inferred(proto)
    for info in proto.graph.output:
        if info.name in types:
            info.type.CopyFrom(types[info.name])
    return Model(proto)


def _need_fed(function: FunctionProto, count: int, where: str) -> None:
    """Look at whether a function computes with so many inputs and nothing else.

    Raises:
        UsageError: It needs attributes, or more inputs.
    """
    called = f"{function.domain}::{function.name}"
    if function.attribute:
        raise UsageError(
            f"{called} needs the attribute {function.attribute[0]!r}",
            where=where,
            hint="give it a default in attribute_proto",
        )
    if count < len(function.input):
        text = f"{called} has {len(function.input)} inputs, the node {count}"
        raise UsageError(text, where=where)
