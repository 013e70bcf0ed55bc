"""A broken file as it is read, as a whole: its operands, its outputs, the forms of its nodes."""

from __future__ import annotations

from collections.abc import Callable

import onnx
from msgspec import Struct
from onnx import ModelProto

from graphfix.analysis.inference import form_at
from graphfix.ir.inlining import inline
from graphfix.ir.model import Model
from graphfix.ir.protos import normal_domain
from graphfix.ir.views import NodeView
from graphfix.validity.complaints import fits
from graphfix.validity.examination import types_said
from graphfix.validity.mending.forms import Convert, Forms
from graphfix.validity.mending.walk import Place, Walk


class Mended(Struct):
    """A file as it is read.

    Attributes:
        proto: The file.
        places: What was read, in order.
        unclear: The nodes that can be read in several ways, which are as they were.
    """

    proto: ModelProto
    places: list[Place]
    unclear: list[tuple[NodeView, str]]


def mended_types(model: Model) -> Mended:
    """Read a file whose operands have types that their operators do not take.

    Args:
        model: The model, which is not changed.
    """

    def read(model: Model) -> Mended:
        proto = model.to_proto()
        walk = Walk(proto, {function.key for function in model.functions})
        walk.main(model.graph)
        return Mended(proto, walk.places, walk.unclear)

    return _read_calls(model, read)


def mended_outputs(model: Model) -> Mended:
    """Give outputs in the types that they are declared with, where only these are wrong.

    Args:
        model: The model, which is not changed. Operands of two types are left alone.
    """

    def read(model: Model) -> Mended:
        proto = model.to_proto()
        walk = Walk(proto, {function.key for function in model.functions})
        if not walk.main(model.graph, every=True):
            return Mended(proto, [], [])
        return Mended(proto, walk.places, walk.unclear)

    return _read_calls(model, read)


def reformed(model: Model, convert: Convert) -> Mended:
    """Read nodes in the forms of other opsets, and write them in the form of the file.

    Args:
        model: The model, which is not changed. Operands of two types are left alone.
        convert: Moves a node from one opset to another.
    """

    def read(model: Model) -> Mended:
        proto = model.to_proto()
        walk = Walk(proto, {function.key for function in model.functions}, Forms(convert))
        walk.main(model.graph)
        return Mended(proto, walk.places, walk.unclear)

    return _read_calls(model, read)


def _read_calls(model: Model, read: Callable[[Model], Mended]) -> Mended:
    """Read a file; where its functions are read too, with what they do in place of their calls.

    The types of a function follow from its calls, and those of what it gives from its nodes.
    """
    found = read(model)
    if not model.functions or (found.places and not _is_refused(found.proto, model.base_dir)):
        return found
    try:
        inlined = inline(model.to_proto())
    except (RuntimeError, ValueError, onnx.checker.ValidationError):
        return found
    if len(inlined.functions):
        return found
    whole = Model(inlined, base_dir=model.base_dir)
    again = read(whole)
    return again if again.places or again.unclear else found


def _is_refused(proto: ModelProto, base_dir: str) -> bool:
    """Say whether anything is left that inference or a schema has against a file."""
    model = Model(proto, base_dir=base_dir)
    return bool(types_said(model)) or any(
        (form := form_at(node)) is not None
        and not normal_domain(node.domain)
        and not fits(node, form.since)
        for node in model.nodes()
    )
