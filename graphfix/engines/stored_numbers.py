"""Types of fewer than 32 bits that a file stores in ``int32_data`` of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import TensorProto

from graphfix.engines.profile import Target
from graphfix.engines.rule import REJECT, WRONG, Answer, Rule, Yes, model_rule
from graphfix.ir.graph import Node
from graphfix.ir.model import Model
from graphfix.ir.storage.weights import type_name
from graphfix.ir.views import NodeView


def misreads_numbers_in_32_bits(
    *, wrong: frozenset[str], refused: frozenset[str], versions: str, source: str, text: str
) -> Rule:
    """Return the rule on tensors that are stored so; its feature is ``io:numbers-in-32-bits``.

    Args:
        wrong: Element types that are read wrongly.
        refused: Element types that crash the engine.
        versions: The range of targets.
        source: Where it was measured.
        text: How it ends.
    """

    def numbers_in_32_bits(model: Model, target: Target) -> list[Answer]:
        """{engine} does not read a type of fewer bits that is stored in int32_data."""
        return [
            Yes(
                message=f"{target.title} does not read {name}: {kind} in int32_data",
                text=text if kind in refused else "",
                severity=REJECT if kind in refused else WRONG,
                node=None if maker is None else NodeView(maker),
            )
            for name, stored, maker in _stored(model)
            for kind in (type_name(stored.data_type),)
            if kind in wrong | refused and len(stored.int32_data)
        ]

    return model_rule(
        feature="io:numbers-in-32-bits", versions=versions, severity=WRONG, source=source
    )(numbers_in_32_bits)


def _stored(model: Model) -> Iterator[tuple[str, TensorProto, Node | None]]:
    """Yield name, tensor and node of each constant in any graph of a model."""
    for graph in model.graphs():
        for held in graph.initializers:
            if isinstance(held.weights.proto, TensorProto):
                yield held.name, held.weights.proto, None
        for node in graph.nodes:
            value = node.attrs.get("value") if node.op == "Constant" else None
            if isinstance(value, TensorProto):
                yield node.outputs[0].name, value, node
