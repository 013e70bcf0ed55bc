"""RKNN: names that the toolkit gives to two tensors."""

from __future__ import annotations

from graphfix.analysis.constants_with_shapes import known_with_sizes
from graphfix.authoring.namesakes import namesakes
from graphfix.engines.profile import Target
from graphfix.engines.rknn.rules.toolkit import TOOLKIT
from graphfix.engines.rule import WRONG, Answer, Yes, model_rule
from graphfix.ir.model import Model


@model_rule(
    feature="model:numbered-constant",
    severity=WRONG,
    text="KeyError: '{name}_2sl'; list index (1) out of range",
    source=f"{TOOLKIT}: z of Add and Mul or of two Gathers with z_1; with z_2 it is right with"
    " two readers and wrong with three",
)
def copy_of_a_constant(model: Model, target: Target) -> list[Answer]:
    """RKNN copies a constant with several readers under a name that is already used."""
    return [
        Yes(
            message=f"{target.title} copies the constant {value.name} for its second reader, under"
            f" the name {other}, which is already used"
        )
        for value, other in namesakes(model.graph, known_with_sizes)
    ]
