"""What an edit takes and gives: a model at its turn, the model after it, and what it claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol

from onnx import ModelProto

from graphfix.difference.scopes import Scope
from graphfix.edits.arrays import Array
from graphfix.edits.stored import Store
from graphfix.ir.model import Model
from graphfix.proving.runners.evaluators import OpKey
from graphfix.reduction.tensor_types import Types, Typist
from graphfix.report import Verification
from graphfix.validity.declarations import forget_declared

Named = Literal["nodes", "tensors"]  # what has a name in a model
NO_NUMPY: Mapping[OpKey, str] = {}


class Subject:
    """A model at the turn of an edit.

    Attributes:
        proto: The model; never changed, an edit copies it.
        base_dir: Where its external data lies.
        proves: Whether what is claimed of the edit will be proved.
        inputs: The user's inputs for it, as an .npz file; None where they are made.
        store: Makes the weights that the edit adds.
    """

    def __init__(
        self,
        proto: ModelProto,
        base_dir: str,
        proves: bool = True,
        inputs: Path | None = None,
        store: Store | None = None,
    ) -> None:
        """Take a model; nothing is computed before it is asked for."""
        self.store = store if store is not None else Store(proto, base_dir)
        self.proto = proto
        self.base_dir = base_dir
        self.proves = proves
        self.inputs = inputs

    @cached_property
    def scope(self) -> Scope:
        """The main graph, indexed.

        Raises:
            InvalidModel: Its nodes form a cycle.
        """
        return Scope.of_graph(self.proto.graph, "main")

    @cached_property
    def types(self) -> Types:
        """What is known of the tensors; the model is run where inference knows too little."""
        return Typist(self.base_dir).types(self.proto)

    @cached_property
    def inferred(self) -> Types:
        """What inference alone knows of the tensors."""
        return Typist(self.base_dir).inferred(self.proto)

    @cached_property
    def computed(self) -> Types:
        """What inference knows of the tensors from the inputs, whatever the file says of others."""
        bare = Model(self.proto, base_dir=self.base_dir).light_proto()
        forget_declared(bare.graph)
        return Typist(self.base_dir).inferred(bare)


@dataclass(frozen=True, slots=True)
class Equal:
    """The claim that two models, with the same inputs and outputs, compute the same.

    Attributes:
        text: The claim in words, which an equal verdict is printed with.
        before: The first model.
        after: The second.
        numpy: Numpy models of operators that be in one of them for what numpy does.
        shapes: Sizes of inputs to compare at.
        made_first: Whether `before` is what the edit made, and `after` what it is to be equal to:
            inputs are made for the first, which shows what they are used for.
        next to: Models that a proof needs as files, by the path that stands for them in `after`.
        stops: What is said of a node at which `before` stops where `after` runs, for an edit that
            cannot be done then; empty where it is wrong then.
        where: The option that the edit is asked for by, for what is said then.
        fed: What both are fed with, where numbers that are drawn would show nothing.
    """

    text: str
    before: ModelProto
    after: ModelProto
    numpy: Mapping[OpKey, str] = field(default_factory=lambda: NO_NUMPY)
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    made_first: bool = False
    adjacent: Mapping[str, ModelProto] = field(default_factory=dict[str, ModelProto])
    stops: str = ""
    where: str = ""
    fed: Mapping[str, Array] = field(default_factory=dict[str, "Array"])


@dataclass(frozen=True, slots=True)
class SameStructure:
    """The claim that two models are written the same, but for what an edit names here.

    These count: nodes, their operators, attributes and inputs; stored weights, by value; inputs and
    outputs, their types and order; metadata, doc strings, opsets and functions; recorded types,
    unless `but` names what they follow from; and names, of nodes and of tensors, in subgraphs and
    functions too, unless `renamed` declares them. The order of nodes does not count.

    Attributes:
        before: The first model.
        after: The second.
        but: What differs: the first output of a node, the name of a weight.
        fields: What differs of models, graphs and nodes, as `graphfix diff` has it: ``doc_string``.
        renamed: What may bear other names: nodes; tensors, with inputs, outputs and weights.
    """

    before: ModelProto
    after: ModelProto
    but: frozenset[str] = frozenset()
    renamed: frozenset[Named] = frozenset()
    fields: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """The claim in words."""
        if not self.renamed:
            return "nothing else is written differently"
        return "the same nodes, attributes, weights and metadata under other names"


@dataclass(frozen=True, slots=True)
class Shown:
    """A claim that was looked into where it was made.

    Attributes:
        text: The claim in words.
        verification: What became of it.
    """

    text: str
    verification: Verification


@dataclass(frozen=True, slots=True)
class Runs:
    """The claim that a model still runs, whatever it computes.

    Attributes:
        text: The claim in words.
        proto: The model.
        before: The model as it was; the claim is false where that one runs and the other does not.
    """

    text: str
    proto: ModelProto
    before: ModelProto


Claim = Equal | Runs | SameStructure | Shown


@dataclass(frozen=True, slots=True)
class FreeSize:
    """A size that became free, and for which numbers of items the result was shown to be right.

    Attributes:
        symbol: What it is called.
        every: Whether every operator keeps the items apart, whatever their number.
        least: The least size of which anything is claimed.
        most: The largest, where a type that holds the size ends there.
        tried: The sizes at which numbers were compared.
    """

    symbol: str
    every: bool
    least: int
    most: int | None
    tried: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The result of an edit.

    Attributes:
        proto: The model after it.
        said: What was done, one line each.
        claims: What is to be proved of it.
        parts: Further models that it makes, by the file that they go to.
        unfinished: What it was to do and could not, one line each.
        free_size: The size that it made free.
        arrays: Arrays by name that it took out of the model, by the .npz file that they go to.
    """

    proto: ModelProto
    said: tuple[str, ...]
    claims: tuple[Claim, ...]
    parts: Mapping[Path, ModelProto] = field(default_factory=dict[Path, ModelProto])
    unfinished: tuple[str, ...] = ()
    free_size: FreeSize | None = None
    arrays: Mapping[Path, Mapping[str, Array]] = field(
        default_factory=dict[Path, Mapping[str, Array]]
    )


class Edit(Protocol):
    """One edit of a model."""

    @property
    def option(self) -> str:
        """The option of the command line that asks for it."""
        ...

    def apply(self, subject: Subject) -> Step:
        """Edit a copy of the model.

        Raises:
            UsageError: A name is not known, or what is asked for cannot be done here.
        """
        ...
