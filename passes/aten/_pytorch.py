"""What the inputs and attributes of an ATen node say to PyTorch."""

from functools import lru_cache
from typing import Any

from onnx import ModelProto, TensorProto

from graphfix.analysis.inference import infer_model
from graphfix.authoring import Refuse, Value, is_none
from graphfix.authoring.pytorch.call import Argument, OperatorCall
from graphfix.authoring.pytorch.translation import exported
from graphfix.authoring.workspace import Workspace
from graphfix.errors import EngineFailed
from graphfix.ir.model import Model
from graphfix.opset.stepping import StepBlocked, move_to

from ._arguments import LISTS, entries_of, flat, text_of

_MOST_NUMBERS = 64


def tensors_of(value: Value | None) -> tuple[Value | None, ...] | None:
    """Return the entries of an input that is a list of tensors; None where it is no list."""
    producer = None if value is None else value.producer
    if producer is None or producer.op not in LISTS or producer.op == "Concat":
        return None
    return tuple(None if e is None or is_none(e) else e for e in producer.inputs)


def argument_of(value: Value | None, operator: str) -> Argument | None:
    """Return what an input says.

    Raises:
        Refuse: Its rank or type is not known, or it is a list that is computed.
    """
    if value is None or is_none(value):
        return None
    if value.elem_type == TensorProto.STRING:
        return Argument(text=text_of(value, value.name))
    entries = tensors_of(value)
    if entries is not None:
        several = tuple(None if e is None else _tensor(e, operator) for e in entries)
        return Argument(numbers=_numbers(value), tensors=several)
    return _tensor(value, operator)


def _tensor(value: Value, operator: str) -> Argument:
    if not value.elem_type or value.shape is None:
        raise Refuse(f"type and rank of {value.name} must be known for {operator}")
    return Argument(value.elem_type, tuple(value.shape), _numbers(value), not value.shape)


def _numbers(value: Value) -> tuple[Any, ...] | None:
    try:
        numbers = entries_of(value, value.name)
    except Refuse:
        return None
    return numbers if len(numbers) <= _MOST_NUMBERS else None


def attribute_of(value: Any) -> Argument:
    """Return what an attribute says: a number, a list of numbers, or a text."""
    if isinstance(value, str):
        return Argument(text=value)
    return Argument(numbers=flat(value), single=isinstance(value, bool | int | float))


@lru_cache(maxsize=256)
def translated(call: OperatorCall, opset: int) -> ModelProto:
    """Return the model that PyTorch exports for a call, at an opset of the default domain.

    Raises:
        EngineFailed: PyTorch does not export the call, or not in forms that have an equivalent at
            that opset; with the reason.
    """
    model = Model(exported(call))
    infer_model(model)
    try:
        move_to(model, Workspace(model), opset)
    except StepBlocked as blocked:
        first = blocked.blockers[0]
        raise EngineFailed(
            f"what PyTorch's exporter writes cannot be had at opset {opset}: "
            f"{first.node.op}: {first.reason}"
        ) from None
    return model.to_proto()
