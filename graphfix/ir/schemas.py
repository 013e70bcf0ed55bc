"""What ONNX says of an operator at an opset, looked up once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import onnx
from msgspec import Struct
from onnx.defs import OpSchema


class Form(Struct, frozen=True):
    """The form of an operator at one opset.

    Attributes:
        schema: The schema itself.
        since: The opset at which this form came.
        attributes: Names of the attributes.
        kinds: The AttributeProto.AttributeType of each.
        inputs: Names of the formal inputs, in order.
        variadic_input: Whether the last input may repeat.
        outputs: Names of the formal outputs, in order.
    """

    schema: OpSchema
    since: int
    attributes: frozenset[str]
    kinds: Mapping[str, int]
    inputs: tuple[str, ...]
    variadic_input: bool
    outputs: tuple[str, ...]


def _number(kind: Any) -> int:
    return int(kind.value)  # an enum of onnx's own, whose stubs leave its value out


@cache
def form_of(op: str, opset: int, domain: str = "") -> Form | None:
    """Return the form of an operator at `opset`; None where ONNX has no such operator."""
    try:
        schema = onnx.defs.get_schema(op, opset, domain)
    except onnx.defs.SchemaError:
        return None
    variadic = OpSchema.FormalParameterOption.Variadic
    return Form(
        schema,
        schema.since_version,
        frozenset(schema.attributes),
        {name: _number(one.type) for name, one in schema.attributes.items()},
        tuple(parameter.name for parameter in schema.inputs),
        bool(schema.inputs) and schema.inputs[-1].option == variadic,
        tuple(parameter.name for parameter in schema.outputs),
    )


@cache
def first_opset(op: str) -> int:
    """Return the opset that brought an operator of the default domain; 0 where none did."""
    known = form_of(op, newest_opset())
    since = 0
    while known is not None:
        since = known.since
        known = form_of(op, since - 1) if since > 1 else None
    return since


@cache
def newest_opset() -> int:
    """Return the newest opset of the default domain that the installed onnx knows."""
    return onnx.defs.onnx_opset_version()


@cache
def newest_opset_of(ir_version: int) -> int:
    """Return the newest opset of the default domain that a file of an IR version may import."""
    allowed = [v for v in range(1, newest_opset() + 1) if minimal_ir(v) <= max(ir_version, 3)]
    return allowed[-1]


@cache
def minimal_ir(opset: int) -> int:
    """Return the oldest IR version that may carry `opset` of the default domain."""
    best = 3
    for row in onnx.helper.VERSION_TABLE:
        ir, version = int(row[1]), int(row[2])
        if version <= opset:
            best = max(best, ir)
    return best
