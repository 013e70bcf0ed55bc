"""The engine's own checks of a result: the ONNX checker, shape inference, and the interface."""

from __future__ import annotations

from dataclasses import dataclass

import onnx

from graphfix.graph import Variable, normal_domain
from graphfix.model import Model
from graphfix.schemas import form_of


@dataclass(frozen=True, slots=True)
class Validity:
    """What the checker and strict shape inference say of a model; empty texts for nothing."""

    checker: str
    inference: str


def validity_of(model: Model) -> Validity:
    """Ask the ONNX checker and strict shape inference; weights are not needed.

    Operators without schema make strict inference stop there; that is no complaint.
    """
    light = model.light_proto()
    checker = inference = ""
    try:
        onnx.checker.check_model(light)  # pyright: ignore[reportUnknownMemberType]
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        checker = _first_line(error)
    if not _foreign(model):
        try:
            onnx.shape_inference.infer_shapes(light, strict_mode=True)
        except (onnx.shape_inference.InferenceError, RuntimeError, ValueError) as error:
            inference = _first_line(error)
    return Validity(checker, inference)


def _foreign(model: Model) -> bool:
    return any(
        form_of(n.op, n.graph.opsets.get(normal_domain(n.domain), 1), normal_domain(n.domain))
        is None
        for n in model.nodes()
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).partition("\n")[0]


def new_complaints(before: Validity, after: Validity) -> str:
    """Return what is said of the result and was not said of the input; empty for nothing."""
    if after.checker and not before.checker:
        return after.checker
    if after.inference and not before.inference and not before.checker:
        return after.inference
    return ""


def interface(model: Model) -> dict[str, str]:
    """Return every input and output with its type, as text that can be compared."""
    described: dict[str, str] = {}
    for kind, tensors in (("input", model.graph.inputs), ("output", model.graph.outputs)):
        for position, tensor in enumerate(tensors):
            info = tensor.info if isinstance(tensor, Variable) else None
            text = info.type.SerializeToString(deterministic=True).hex() if info else ""
            described[f"{kind} {position} {tensor.name}"] = text
    return described
