"""What a comparison of two files finds: frozen dataclasses that text and JSON are views of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from graphfix.report import NodeRef


class Presence(StrEnum):
    """In which of the two models something is."""

    CHANGED = "changed"
    ADDED = "added"  # only in the second
    REMOVED = "removed"  # only in the first


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One fact that differs, old -> new; None where a side lacks it.

    Attributes:
        where: What has the fact: ``model``, ``main``, a tensor, a function.
        field: Which fact: ``ir_version``, ``opset ai.onnx``, ``attribute axis``, ``input 1``.
        old: Its value in the first model.
        new: Its value in the second.
    """

    where: str
    field: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A node that both models have, with what differs."""

    before: NodeRef
    after: NodeRef
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How far two tensors of one dtype and shape are apart.

    Attributes:
        elements: How many elements there are.
        differing: How many differ (NaN equals NaN).
        max_abs: Largest absolute difference of finite elements; None for strings.
        mean_abs: Mean absolute difference of finite elements; None for strings.
        max_rel: `max_abs` relative to the largest finite absolute value of the first tensor.
        nonfinite: How many elements are finite on one side alone, or infinite with another sign.
        first: Index of the first element that differs, in row-major order.
    """

    elements: int
    differing: int
    max_abs: float | None
    mean_abs: float | None
    max_rel: float | None
    nonfinite: int
    first: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A stored tensor that differs, or that one model lacks.

    Attributes:
        presence: Changed, added or removed.
        name: Its name in the first model (in the second when added).
        new_name: Its name in the second model (empty when removed).
        scope: Where it is stored.
        used_by: The nodes of the first model (of the second when added) that read it.
        old: dtype and shape in the first model, such as ``float32[3, 4]``; empty when added.
        new: The same of the second; empty when removed.
        statistics: How far apart; None unless both have one dtype and shape.
    """

    presence: Presence
    name: str
    new_name: str
    scope: str
    used_by: tuple[NodeRef, ...]
    old: str
    new: str
    statistics: Statistics | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Everything that differs between two models.

    Attributes:
        metadata: Of the model, its graphs and functions: versions, opsets, producer, texts.
        interface: Of inputs and outputs: types, shapes, number, order.
        removed: Nodes that only the first model has.
        added: Nodes that only the second model has.
        nodes: Nodes that both have, with what differs.
        weights: Stored tensors that differ.
        types: Types and shapes recorded for tensors inside (value_info).
        renamed_interface: Inputs and outputs that only bear other names.
        renamed_nodes: How many matched nodes bear other names.
        renamed_tensors: How many matched tensors bear other names.
        matched: How many nodes both models have.
    """

    metadata: tuple[FieldChange, ...]
    interface: tuple[FieldChange, ...]
    removed: tuple[NodeRef, ...]
    added: tuple[NodeRef, ...]
    nodes: tuple[NodeChange, ...]
    weights: tuple[WeightChange, ...]
    types: tuple[FieldChange, ...]
    renamed_interface: tuple[FieldChange, ...]
    renamed_nodes: int
    renamed_tensors: int
    matched: int

    @property
    def same(self) -> bool:
        """Whether the models are the same up to names and order."""
        return not (
            self.metadata
            or self.interface
            or self.removed
            or self.added
            or self.nodes
            or self.weights
            or self.types
        )

    @property
    def exit_code(self) -> int:
        """0 the same, 1 different."""
        return 0 if self.same else 1
