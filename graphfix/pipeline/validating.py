"""The engine's own checks of a result: the ONNX checker, shape inference, and the interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx
from onnx import ModelProto

from graphfix.authoring.declaring import Pass
from graphfix.graph import Shape, Variable, normal_domain
from graphfix.model import Model
from graphfix.pipeline.typing import infer_types
from graphfix.schemas import form_of


@dataclass(frozen=True, slots=True)
class Validity:
    """What the checker and strict shape inference say of a model; empty texts for nothing."""

    checker: str
    inference: str


def validity_of(model: Model, misdeclared: frozenset[str] = frozenset()) -> Validity:
    """Ask the ONNX checker and strict shape inference; weights are not needed.

    Operators without schema make strict inference stop there; that is no complaint.

    Args:
        model: The model.
        misdeclared: Outputs whose declared shape is known to be wrong, and not looked at.
    """
    light = model.light_proto()
    checker = inference = ""
    try:
        onnx.checker.check_model(light)  # pyright: ignore[reportUnknownMemberType]
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        checker = _first_line(error)
    if not _foreign(model):
        _forget_shapes(light, misdeclared)
        try:
            onnx.shape_inference.infer_shapes(light, strict_mode=True)
        except (onnx.shape_inference.InferenceError, RuntimeError, ValueError) as error:
            inference = _first_line(error)
    return Validity(checker, inference)


def misdeclared_outputs(model: Model, passes: Sequence[Pass]) -> frozenset[str]:
    """Return the outputs of a file whose declared shape is not the one that they have.

    Where all operators have a schema, strict inference says so. An operator without one hides it
    there, as where onnxruntime's optimiser put a fused operator, and left the declarations as
    they were; once it is written in standard operators, the old fault would look like a new one.
    Here the types come from the passes that know the operators. Nothing is changed.
    """
    declared = {t.name: t.shape for t in model.graph.outputs if t.shape is not None}
    if not declared or not _foreign(model):
        return frozenset()
    light = model.light_proto()
    _forget_shapes(light, frozenset(declared))
    bare = Model(light, base_dir=model.base_dir)
    infer_types(bare, passes)
    return frozenset(t.name for t in bare.graph.outputs if _differs(declared.get(t.name), t.shape))


def _differs(declared: Shape | None, found: Shape | None) -> bool:
    if declared is None or found is None:
        return False
    sizes = zip(declared, found, strict=False)
    return len(declared) != len(found) or any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in sizes
    )


def _forget_shapes(proto: ModelProto, names: frozenset[str]) -> None:
    for info in proto.graph.output:
        if info.name in names:
            info.type.tensor_type.ClearField("shape")


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
