"""The engine's own checks of a result: the ONNX checker, shape inference, and the interface."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from onnx import ModelProto

from graphfix.analysis.folding.known_values import infer_computed_sizes
from graphfix.analysis.inference import form_at, infer_model, infer_proto, shapes_contradict
from graphfix.authoring.declaring import Pass
from graphfix.ir.exporting import make_info
from graphfix.ir.graph import Constant, Shape, Tensor, Variable, shape_of_type
from graphfix.ir.model import Model
from graphfix.pipeline.model_types import infer_types
from graphfix.validity.complaints import Complaint
from graphfix.validity.examination import examine, forget_shapes
from graphfix.validity.shapes import declared_complaint

# "[ShapeInferenceError] Inference error(s): (op_type:If, node name: a): [TypeInferenceError] "
_HEAD = re.compile(r"^(?:\[\w+\]|Inference error\(s\):|\(op_type:[^)]*\):|\s)*")
# Numbers, and what is in quotes or brackets.
_NAMED = re.compile(r"\([^()]*\)|'[^']*'|\"[^\"]*\"|\{[^{}]*\}|[-\d.]+|(?<=[Nn]ame: )\S+")

# What inference says of what is declared otherwise than computed, which is found without it too.
_DECLARED_SO = (
    ("output-type-declared", "Inferred elem type differs from existing elem type: (1) vs (2)"),
    ("shape-declared", "Inferred shape and existing shape differ in dimension 1: (1) vs (2)"),
    ("shape-declared", "Inferred shape and existing shape differ in rank: (1) vs (2)"),
)

_NO_OPERATOR = re.compile(r"No Op registered for (\w+) ")


@dataclass(frozen=True, slots=True)
class Validity:
    """What the checker and strict shape inference say of a model; empty texts for nothing.

    Attributes:
        checker: The first line of what the checker says.
        inference: The same of strict shape inference.
        complaints: All that is wrong with the file, node by node; not compared.
        unregistered: Where the checker complains, the operators that their opset does not have,
            of which the checker names one; not compared.
        typed: What inference says that checks types; not compared.
    """

    checker: str
    inference: str
    complaints: tuple[Complaint, ...] = field(default=(), compare=False)
    unregistered: frozenset[str] = field(default=frozenset(), compare=False)
    typed: str = field(default="", compare=False)


def validity_of(model: Model, misdeclared: frozenset[str] = frozenset()) -> Validity:
    """Ask the ONNX checker and strict shape inference; weights are not needed.

    Operators without schema make strict inference stop there; that is no complaint.

    Args:
        model: The model.
        misdeclared: Outputs whose declared shape is known to be wrong, and not looked at.
    """
    found = examine(model, misdeclared)
    names: Iterator[str] = iter(())
    if found.checker:
        names = (node.op for node in model.nodes() if form_at(node) is None)
    return Validity(found.checker, found.inference, found.complaints, frozenset(names), found.typed)


def misdeclared_outputs(model: Model, passes: Sequence[Pass]) -> frozenset[str]:
    """Return the outputs of a file whose declared shape is not the one that they have.

    Where all operators have a schema, strict inference says so. An operator without one hides it
    there, as where onnxruntime's optimiser put a fused operator, and left the declarations as
    they were; once it is written in standard operators, the old fault would look like a new one.
    Here the types come from the passes that know the operators. Nothing is changed.
    """
    if not _foreign(model):
        return frozenset()
    declared, light = _undeclared(model)
    bare = Model(light, base_dir=model.base_dir)
    infer_types(bare, passes)
    return frozenset(_differing(declared, bare.graph.outputs))


def with_mistyped_outputs(
    known: tuple[Complaint, ...], model: Model, passes: Sequence[Pass]
) -> tuple[Complaint, ...]:
    """Add the outputs of a file that it declares with another element type than they have.

    Of files with operators without schema, in which ONNX's inference does not see it. Nothing is
    changed.
    """
    if not _foreign(model):
        return known
    blamed = {id(each.node.node) for each in known if each.node is not None}
    declared = {
        tensor.name: (tensor.inputs[0], tensor)
        for tensor in model.graph.outputs
        if isinstance(tensor, Variable) and tensor.inputs and id(tensor.inputs[0]) not in blamed
    }
    light = model.light_proto()
    for info in light.graph.output:
        if info.name in declared:
            info.ClearField("type")
    bare = Model(light, base_dir=model.base_dir)
    infer_types(bare, passes)
    typed = ((t.name, t.elem_type) for t in bare.graph.outputs if t.name in declared)
    found = (
        declared_complaint(*declared[name], make_info(Variable(name, elem_type)).type)
        for name, elem_type in typed
        if elem_type
    )
    return (*known, *filter(None, found))


def contradicted_outputs(model: Model) -> dict[str, Shape]:
    """Return the outputs of a file whose declared shape contradicts the one that it computes.

    Strict inference of the file does not follow computed sizes (Reshape to a Shape); once they are
    folded, the fault of the file would look like one of the result. Nothing is changed.
    """
    declared, light = _undeclared(model)
    ends = {info.name: shape_of_type(info.type)[1] for info in infer_proto(light).graph.output}
    if all(_agrees(ends[name], shape) for name, shape in declared.items()):
        return {}  # without a graph of it all, which costs four times as much
    bare = Model(light, base_dir=model.base_dir)
    infer_model(bare)
    infer_computed_sizes(bare)
    return _differing(declared, bare.graph.outputs)


def _agrees(computed: Shape | None, declared: Shape) -> bool:
    """Say whether all sizes are computed, and none is another one than declared."""
    if computed is None or not all(isinstance(size, int) for size in computed):
        return False
    return not shapes_contradict(declared, computed)


def _undeclared(model: Model) -> tuple[dict[str, Shape], ModelProto]:
    """Return the declared shapes of outputs, and a model without them and without weights."""
    declared = {t.name: t.shape for t in model.graph.outputs if t.shape is not None}
    light = model.light_proto()
    forget_shapes(light, frozenset(declared))
    return declared, light


def _differing(declared: dict[str, Shape], outputs: Sequence[Tensor]) -> dict[str, Shape]:
    """Return the shapes that are computed where others are declared."""
    return {
        t.name: t.shape
        for t in outputs
        if t.shape is not None and shapes_contradict(declared.get(t.name), t.shape)
    }


def _foreign(model: Model) -> bool:
    return any(form_at(node) is None for node in model.nodes())


def new_complaints(before: Validity, after: Validity) -> str:
    """Return what is said of the result and was not said of the input; empty for nothing.

    The checker and inference stop at what they find first. Where they said something of the input,
    each complaint of the result is looked for among all of the input's, by what it says, not by
    the node, the tensors and the sizes that it says it of.
    """
    known = {_claim(text) for text in _texts(before)}
    kinds = {each.kind for each in before.complaints}
    known.update(_claim(text) for kind, text in _DECLARED_SO if kind in kinds)
    if after.checker and not before.checker:
        return after.checker
    if after.inference and not before.inference and not before.checker:
        return "" if _claim(after.inference) in known else after.inference
    if not after.checker and not after.inference:
        return ""
    return next(
        (
            text
            for text in _texts(after)
            if _claim(text) not in known and _unregistered(text) not in before.unregistered
        ),
        "",
    )


def _unregistered(text: str) -> str:
    """Return the operator that the checker does not know; empty where it says something else."""
    found = _NO_OPERATOR.search(text)
    return found[1] if found else ""


def _texts(validity: Validity) -> Iterator[str]:
    yield from filter(None, (validity.checker, validity.inference))
    yield from (c.text.partition("\n")[0] for c in validity.complaints if c.text)


def _claim(text: str) -> str:
    """Return what a text says, without what it says it of: names, sizes and places."""
    return " ".join(_NAMED.sub(" ", _HEAD.sub("", text)).split())


def interface(model: Model) -> dict[str, str]:
    """Return every input and output with its type, as text that can be compared.

    Where an input is in the list counts among those that callers have to give alone.
    """
    given = [tensor for tensor in model.graph.inputs if not isinstance(tensor, Constant)]
    described = {
        f"stored {tensor.name}": "" for tensor in model.graph.inputs if isinstance(tensor, Constant)
    }
    for kind, tensors in (("input", given), ("output", model.graph.outputs)):
        for position, tensor in enumerate(tensors):
            info = tensor.info if isinstance(tensor, Variable) else None
            text = info.type.SerializeToString(deterministic=True).hex() if info else ""
            described[f"{kind} {position} {tensor.name}"] = text
    return described
