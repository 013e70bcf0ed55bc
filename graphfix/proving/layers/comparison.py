"""What a comparison of two models by their numbers finds."""

from __future__ import annotations

from msgspec import Struct

from graphfix.report import NodeRef, Verdict, Verification


class Layer(Struct, frozen=True):
    """One tensor that both models compute.

    Attributes:
        name: Its name in the first model.
        new_name: Its name in the second.
        node: The node of the first model that makes it.
        depth: The number of that node in topological order.
        status: ``equal`` or ``mismatch``.
        max_abs: Largest absolute difference over all samples; None where it has none.
        max_rel: `max_abs` relative to the magnitude of the first model's tensor.
        reason: What differs; empty when equal.
    """

    name: str
    new_name: str
    node: NodeRef
    depth: int
    status: Verdict
    max_abs: float | None
    max_rel: float | None
    reason: str = ""


class Comparison(Struct, frozen=True):
    """Two models on the same inputs.

    Attributes:
        verification: The comparison of the outputs.
        layers: The tensors inside, in topological order; empty unless they were asked for.
        layers_reason: Why the tensors inside could not be compared; empty if they were.
        only_before: How many tensors only the first model has (0 unless layers were asked for).
        only_after: How many tensors only the second has.
        notes: How inputs and outputs with other names were paired.
        layers_samples: On how many samples the tensors inside were compared: all that there are,
            where the outputs are done with at the first that differs.
    """

    verification: Verification
    layers: tuple[Layer, ...] = ()
    layers_reason: str = ""
    only_before: int = 0
    only_after: int = 0
    notes: tuple[str, ...] = ()
    layers_samples: int = 0

    @property
    def first(self) -> Layer | None:
        """The first tensor that differs, in topological order."""
        return next((layer for layer in self.layers if layer.status is not Verdict.EQUAL), None)

    @property
    def status(self) -> Verdict:
        """Equal, mismatch, inconclusive or skipped, of outputs and tensors inside together."""
        if self.first is not None:
            return Verdict.MISMATCH
        if self.verification.status is Verdict.EQUAL and self.layers_reason:
            return Verdict.INCONCLUSIVE
        return self.verification.status

    @property
    def exit_code(self) -> int:
        """0 equal; 1 different, or not shown to be equal."""
        return 0 if self.status is Verdict.EQUAL else 1
