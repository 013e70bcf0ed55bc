"""What a reduction gives back."""

from __future__ import annotations

from dataclasses import dataclass

from graphfix.ir.model import Model


@dataclass(frozen=True, slots=True)
class Extent:
    """How big a model is.

    Attributes:
        nodes: Nodes of the graph, of its subgraphs and of local functions.
        weights: Bytes of stored tensors, wherever they lie.
        bytes: Bytes of the .onnx file.
    """

    nodes: int
    weights: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Reduction:
    """A smaller model on which the command still fails.

    Attributes:
        model: The model.
        before: How big it was.
        after: How big it is.
        failure: How the command ends on both: ``exit code 1``, ``killed by SIGSEGV``; a function
            of the caller ``says so``.
        output: The last lines that the command wrote on the smaller model.
        runs: How many times it ran.
        complete: Whether nothing more was found to take away; False where the runs were used up.
        notes: What the user should know.
    """

    model: Model
    before: Extent
    after: Extent
    failure: str
    output: str
    runs: int
    complete: bool
    notes: tuple[str, ...] = ()
