"""What a run says of costs: nodes, weights and time, and products that left the integers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class IntegerPlaces:
    """How many products of a quantized network are computed in 8 bits.

    Attributes:
        before: How many were, in the input.
        after: How many are, in the result; fewer than before.
        share: How much of their multiply-adds that is, from 0 to 1; None where sizes are open.
        by_consent: How many --allow-lossy would keep; None where it was given, or keeps no more.
        nodes_by_consent: Where it keeps no more: how many nodes the result has, and how many it
            would have with --allow-lossy, which writes dynamic quantization as plain floats; None
            where that is no fewer.
    """

    before: int
    after: int
    share: float | None = None
    by_consent: int | None = None
    nodes_by_consent: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a model costs, counted from its shapes.

    Attributes:
        nodes: How many nodes it has.
        weights: The bytes of its weights.
        largest: The bytes of the largest tensor that a node computes, of those of known size.
        macs: Multiply-adds of the nodes of known sizes.
        open: How many nodes with multiply-adds are of open sizes.
    """

    nodes: int
    weights: int
    largest: int
    macs: int
    open: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What a model cost before and costs now.

    Attributes:
        before, after: What is counted.
        microseconds_before, microseconds_after: The median time of a call in onnxruntime, with one
            thread; None where one of them does not run there.
        untimed: Why not.
    """

    before: Cost
    after: Cost
    microseconds_before: float | None = None
    microseconds_after: float | None = None
    untimed: str = ""
