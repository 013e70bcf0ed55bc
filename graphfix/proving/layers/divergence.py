"""The first node of two models whose output differs, and what is written differently there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from graphfix.difference.difference import FieldChange, NodeChange, WeightChange
from graphfix.proving.layers.comparison import Comparison, Layer
from graphfix.report import NodeRef, Verdict


class Origin(StrEnum):
    """What is known of a tensor that the node reads."""

    EQUAL = "equal"  # both models compute the same
    FED = "fed"  # an input: both were given the same
    STORED = "stored"  # an initializer; listed among the weights where it differs
    UNSEEN = "unseen"  # the second model has no such tensor: nothing was compared


@dataclass(frozen=True, slots=True)
class Operand:
    """One tensor that the node reads.

    Attributes:
        name: Its name in the first model.
        origin: What is known of it.
    """

    name: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first node, in topological order of the first model, whose output differs.

    Attributes:
        layer: The tensor that differs, with its node and the error.
        after: The node of the second model that makes the tensor.
        operands: What the node reads, values captured by its subgraphs included.
        unseen: Nodes of the first model between the last tensors that were compared and this
            one, where the second model is built otherwise: one of them may be at fault instead.
        fields: What is written differently in the node: operator, attributes, what it reads.
        weights: Stored tensors that the node or its subgraphs read and that differ.
        inner: Nodes in the subgraphs of the node that differ.
    """

    layer: Layer
    after: NodeRef
    operands: tuple[Operand, ...] = ()
    unseen: tuple[NodeRef, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    weights: tuple[WeightChange, ...] = ()
    inner: tuple[NodeChange, ...] = ()

    @property
    def inputs_equal(self) -> bool:
        """Whether everything that the node reads was compared and is equal, weights aside."""
        return all(operand.origin is not Origin.UNSEEN for operand in self.operands)


@dataclass(frozen=True, slots=True)
class Bisection:
    """Two models, and where they part.

    Attributes:
        comparison: Their outputs and all tensors that both have.
        divergence: The first node that differs; None where none was found.
    """

    comparison: Comparison
    divergence: Divergence | None = None

    @property
    def status(self) -> Verdict:
        """Equal, mismatch, inconclusive or skipped."""
        return self.comparison.status

    @property
    def exit_code(self) -> int:
        """0 no difference; 1 different, or not shown to be equal."""
        return self.comparison.exit_code
