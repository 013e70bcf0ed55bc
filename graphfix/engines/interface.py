"""What an engine is asked, and what it answers: see `graphfix.engines.engine.Engine`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from graphfix.ir.model import Model
    from graphfix.ir.views import NodeView
    from graphfix.report import Finding


class Release(Struct, frozen=True):
    """A release of a product that holds an engine.

    Attributes:
        engine: The name of the engine, that of its folder.
        product: How the product is called in names of targets: ``jetpack``.
        title: The product for people: ``JetPack``.
        version: The release, ``5.1``.
        holds: The version of the engine in it, ``8.5.2``.
        profile: The profile for it, ``acme8.5``.
        source: Where this was read.
        notes: What to tell the user.
    """

    engine: str
    product: str
    title: str
    version: str
    holds: str
    profile: str
    source: str
    notes: tuple[str, ...] = ()


Input = tuple[str, tuple[int | str | None, ...]]


class Fed(Struct, frozen=True):
    """An input that must be fed.

    Attributes:
        name: Its name.
        element_type: In ONNX's names; that of anything but a tensor is not one of a tensor.
        shape: Its sizes, examples where the file leaves them open.
        open: The names of those, ``?`` where there is none -> the example.
    """

    name: str
    element_type: str
    shape: tuple[int, ...]
    open: Mapping[str, int] = MappingProxyType({})


class Ends(Struct, frozen=True):
    """What goes into a model and what comes out of it.

    Attributes:
        inputs: The inputs that must be fed.
        outputs: The names of the outputs.
    """

    inputs: tuple[Fed, ...]
    outputs: tuple[str, ...]


class Written(Struct, frozen=True):
    """A file that was written for a target.

    Attributes:
        path: The file.
        assumes_operators: Whether the user said that the engine has further operators.
        contents: Reads the names and shapes of the inputs that must be fed, an open dimension as
            its name or None, and the operators of all scopes, whatever their domains.
        ends: Reads what a program feeds and gets, None where the rank of an input is unknown.
    """

    path: str
    assumes_operators: bool
    contents: Callable[[], tuple[Sequence[Input], frozenset[str]]]
    ends: Callable[[], Ends | None] | None = None


class NextStep(Struct, frozen=True):
    """What to do with a file that was written.

    Attributes:
        command: A shell line, to be copied; empty where the program alone is known.
        intent: What it does, without a full stop.
        note: What to put into it first; empty for nothing.
        program: A whole program in Python that does as much, feeds the file, and prints the shapes
            of what comes; empty where none is known.
    """

    command: str
    intent: str
    note: str = ""
    program: str = ""


class Meant(Struct, frozen=True):
    """The engine version that a model is to be run in.

    Attributes:
        version: Such as ``(8, 6)``.
        dtype_aliases: Element types of inputs that it turns into others by itself.
        name: The name of the target.
        static_shapes: Whether it wants to know all sizes when it loads a model.
        capability: What it is to build for, such as ``sm89``; empty for what it chooses.
        standing: The folder of a process of it that was started before, see
            `graphfix.engines.hosting.standing`; empty for none.
    """

    version: tuple[int, ...]
    dtype_aliases: Mapping[str, str]
    name: str = ""
    static_shapes: bool = False
    capability: str = ""
    standing: str = ""


class Taken(Struct, frozen=True):
    """What an engine takes of a corpus of models, as a committed result says.

    Attributes:
        models: How many models there are.
        before: How many it takes as they are; None where no one looked.
        after: How many it takes after graphfix.
        run: Whether it ran them and computed the same; otherwise its rules were asked.
        source: The result.
        unseen: How many networks that no rule was written for are called fixed by rules alone;
            None where that was not measured.
        not_so: How many of these it refuses or computes differently.
    """

    models: int
    before: int | None
    after: int
    run: bool
    source: str
    unseen: int | None = None
    not_so: int = 0


class Loaded(Struct, frozen=True):
    """What an engine that is installed here says of a model.

    Attributes:
        version: Of the engine.
        refusal: Why it refuses the model, in its words; empty where it loads it.
    """

    version: str
    refusal: str


class Runner(Protocol):
    """A model file in the engine itself.

    Attributes:
        name: The engine, for people.
        version: Major and minor version of the engine; empty until it has run, or without one.
    """

    name: str
    version: tuple[int, ...]

    def run(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """Run once.

        Args:
            feed: The inputs by name: tensors as numpy arrays of the types of the model.

        Returns:
            The outputs by name, tensors as numpy arrays of the types of the model.

        Raises:
            EngineFailed: The engine does not build, load or run the model; with its words.
        """
        ...


class Misreading(Protocol):
    """A model as an engine takes it that misreads a form; see `Engine.as_read`."""

    @property
    def model(self) -> Model:
        """The model; its types are inferred by whoever asked."""
        ...

    def refused(
        self, nodes: Iterable[tuple[NodeView, list[Finding]]], known: Sequence[Finding]
    ) -> list[Finding]:
        """Return what is refused in this model, and not in the one that it was made from.

        Args:
            nodes: What the rules say of its nodes.
            known: What they say of the model that it was made from.
        """
        ...
