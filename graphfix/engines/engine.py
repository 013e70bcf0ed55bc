"""What an engine family says of itself, and how families are found.

A family is a folder next to this file with an ``engine.py`` that holds a subclass of `Engine`, or
several where engines share their rules; an installed package can add one by an entry point of the
group `graphfix.engines` that names such a package, and `graphfix learn` writes others
(`graphfix.engines.learned`). The defaults are those of ONNX, so that a family only says what is its
own.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from graphfix.engines.interface import (
    Loaded,
    Meant,
    Misreading,
    NextStep,
    Release,
    Runner,
    Taken,
    Written,
)
from graphfix.engines.versions import Store, name_order, parse_name, read_store, unpacked
from graphfix.errors import EngineFailed, PassBug

if TYPE_CHECKING:
    from onnx import ModelProto

    from graphfix.engines.hosting.host import Host
    from graphfix.engines.profile import Target
    from graphfix.ir.graph import Graph
    from graphfix.ir.model import Model
    from graphfix.ir.views import NodeView, Value
    from graphfix.report import Finding

EXAMPLE = "example.txt"
PROGRAM = "program.py"
CORPUS = "corpus.json"
HOSTING = "hosting"  # the folder next to the families that is none
ENTRY_POINT_GROUP = "graphfix.engines"


class Engine:
    """One family of engines.

    Attributes:
        name: The name of its folder.
        folder: The folder; None for the family of a profile of the user's own.
        package: The Python package in that folder.
        family: What its targets are called before the version: ``acme`` of ``acme8.6``.
        title: The engine for people.
        spellings: Other beginnings of names that users type for `family`.
        order: Where the family is in lists; equal ones are sorted by name.
        own_words: The id of a rule of `graphfix.engines.common_rules` -> the range of targets for
            which the family's own rules say that, with the engine's words, or nothing does.
        tolerates: The rules of `graphfix.engines.file_rules` that are only notes for it, or such a
            rule of one operator, ``element-type:Not``.
        sources: The id of such a rule -> what is known of the family there.
        known: How its profiles came to be known: ``sources`` (of the engine), ``measured`` (in it)
            or ``tables`` (that its makers publish; never run); empty is measured where there is a
            ``program.py``, and otherwise that no one says.
        caution: What to tell whoever asks about it; empty where its profiles were seen to hold.
        install: How to get the engine onto a machine; empty where nothing runs models in it, or
            where `requirements` says it.
        requirements: The name of a profile -> what to give to ``pip install`` to get its engine,
            first the engine itself with its version, ``engine==1.2.3``; for families with a
            ``program.py``.
        python: The Python that its program runs in, where it was learned with one.
        newest_python: The name of a profile -> the newest Python that its engine installs into,
            ``3.11``; absent where any does.
        arithmetic: The type that it computes floats in whatever the type of the model, by which
            its values are judged; empty where each type is computed as itself.
        capabilities: What it builds engines for ahead of time, such as ``sm89``; its program finds
            the one that is wanted in the variable ``GRAPHFIX_COMPUTE_CAPABILITY``.
        on_device: Whether it runs on a device, whose driver reserves more addresses than any
            machine has memory: then no limit of memory is set.
        wants_sizes: Whether it takes more of a model whose inputs have fixed sizes, so that
            benchmarks fix them, and whoever repairs for it does well to.
        guesses: Whether a converter of it guesses what a model leaves open (which axis is the batch
            or the channels), so that rules alone are not enough to call a result right.
        shared: Which scopes onnxruntime shares out between it, as a provider, and the CPU: the
            ``main`` graph alone or ``all``; empty for no provider, or where it is not known.
        blaming: Patterns of messages that name a node, with the groups ``op`` and ``name`` or one
            of them; the first that is found counts.
    """

    family: str = ""
    title: str = ""
    spellings: tuple[str, ...] = ()
    order: int = 100
    own_words: Mapping[str, str] = MappingProxyType({})
    tolerates: frozenset[str] = frozenset()
    sources: Mapping[str, str] = MappingProxyType({})
    known: str = ""
    caution: str = ""
    install: str = ""
    requirements: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    python: str = ""
    newest_python: Mapping[str, str] = MappingProxyType({})
    arithmetic: str = ""
    capabilities: tuple[str, ...] = ()
    on_device: bool = False
    wants_sizes: bool = False
    guesses: bool = False
    shared: str = ""
    blaming: tuple[re.Pattern[str], ...] = ()

    def __init__(self, package: str = "", folder: Path | None = None) -> None:
        """Remember where the family lies.

        Args:
            package: The Python package of the family.
            folder: Its folder; None for the family of a profile of the user's own.
        """
        self.package = package
        self.name = package.rpartition(".")[2]
        self.folder = folder

    def names(self) -> tuple[str, ...]:
        """Return the names of its profiles, oldest first."""
        found = (*self._versions["names"], *(path.stem for path in self._files))
        return tuple(sorted(filter(self._is_own, found), key=name_order))

    def _is_own(self, name: str) -> bool:
        """Say whether a profile in the folder is of this family, not of one that shares it."""
        named = parse_name(name)
        return named is None or named.family == self.family

    def profile(self, name: str) -> Path | Mapping[str, Any]:
        """Return a profile: its file, or its table where one file holds those of all versions."""
        if name in self._versions["names"]:
            return unpacked(self._versions, name)
        return next(path for path in self._files if path.stem == name)

    @cached_property
    def _versions(self) -> Store:
        return {"names": []} if self.folder is None else read_store(self.folder)

    @cached_property
    def _files(self) -> tuple[Path, ...]:
        return () if self.folder is None else tuple((self.folder / "profiles").glob("*.toml"))

    @property
    def example(self) -> str:
        """A target of the family, for help texts and hints: its newest, or ``example.txt``.

        `graphfix --help` reads the first such file of all families itself, which costs no import.
        """
        if self.folder is not None and (self.folder / EXAMPLE).is_file():
            example = (self.folder / EXAMPLE).read_text(encoding="ascii").strip()
            if self._is_own(example):
                return example
        return next(reversed(self.names()), self.family)

    def aliases(self) -> Mapping[str, str]:
        """Return further names of profiles; the family alone is its newest one."""
        names = self.names()
        return {self.family: names[-1]} if names else {}

    def keeps_part(self, ops: Sequence[str]) -> bool:
        """Say whether it runs a part of these operators, which it would take one by one."""
        return True

    def hint(self, alias: str) -> str:
        """Return what to add to the note that says how an alias was understood."""
        return ""

    def releases(self) -> tuple[Release, ...]:
        """Return the releases of products that hold the engine; their names are targets too."""
        return ()

    def means_installed(self, name: str | Target | Path) -> bool:
        """Say whether a name means the engine installed here, which is asked to load models then.

        Args:
            name: What the user asked for, or a profile; it is of this family.
        """
        return False

    def installed(self) -> str:
        """Return the version that is installed here; empty where `means_installed` never holds."""
        return ""

    def load(self, model: Path, folder: str) -> Loaded:
        """Load a model in the engine that is installed here; called in a child with limits.

        Args:
            model: The file.
            folder: Where its external data lies; empty where it has none.

        Raises:
            EngineFailed: The engine is not here.
        """
        raise EngineFailed(f"{self.title} is not asked to load models")

    def blamed(self, said: str) -> tuple[str, str]:
        """Return the operator and the name of the node in a message; empty where it has none."""
        for pattern in self.blaming:
            match = pattern.search(said)
            if match is not None:
                found = match.groupdict()
                return found.get("op") or "", found.get("name") or ""
        return "", ""

    def release_named(self, name: str) -> Release | None:
        """Return the release that the name of a target means; None where it means none.

        Raises:
            UsageError: The name is that of a release, but nothing is known of it.
        """
        return None

    def element_type(self, value: Value, target: Target) -> str:
        """Return the element type that it gives a tensor, in ONNX's names; empty if unknown."""
        own = value.type_name if value.elem_type else ""
        return target.dtype_aliases.get(own, own)

    def type_text(self, element_type: str) -> str:
        """Return the name of an element type in its error texts."""
        return element_type

    def is_constant(self, value: Value) -> bool:
        """Say whether it knows the values of a tensor when it reads the model."""
        return value.is_constant

    def computes_early(self, node: NodeView) -> bool:
        """Say whether it computes a node when it reads the model, so that no rule judges it.

        Or whether it takes it with others for one operator of its own, and computes that rightly.
        """
        return False

    def opset_of(self, node: NodeView) -> int:
        """Return the opset that it takes a node to be of."""
        return node.opset

    def reads(self, graph: Graph) -> bool:
        """Say whether it looks into a body of a node; what it leaves out is not judged."""
        return True

    def as_read(self, model: Model, target: Target, known: Sequence[Finding]) -> Misreading | None:
        """Return the model as it reads it, where it misreads one without a word.

        Args:
            model: The model; its types are inferred.
            target: The target.
            known: What the rules say of the model as it is.
        """
        return None

    def reported_elsewhere(
        self, model: Model, target: Target, known: Sequence[Finding]
    ) -> Iterable[Finding]:
        """Return a finding at each node that it names in the place of the one at fault.

        Args:
            model: The model; its types are inferred.
            target: The target.
            known: What was found.
        """
        return ()

    def next_step(self, written: Written, target: Target) -> NextStep | None:
        """Return what to do with a file that was written; None where nothing is known.

        Args:
            written: The file.
            target: The target that it was written for.
        """
        from graphfix.engines.feeding import FEED, run_step

        return run_step(self.folder / FEED, written) if self.folder is not None else None

    @property
    def has_limits_of_its_own(self) -> bool:
        """Whether it is not held to what a small file may take.

        A driver or a converter takes long for the smallest, and its process has limits of its own.
        """
        return self.on_device or self.program is not None

    @property
    def program(self) -> Path | None:
        """The file that loads and runs models in a process of its own; None without one.

        `graphfix.engines.hosting.serve` says what is in it.
        """
        path = None if self.folder is None else self.folder / PROGRAM
        return path if path is not None and path.is_file() else None

    @property
    def runs_models(self) -> bool:
        """Whether models can be run in it, on a machine that has it."""
        return bool(self.install) or self.program is not None

    def how_to_install(self, target: Target) -> str:
        """Return how to get the engine of a target onto a machine; empty where no one says."""
        by_us = self.program is not None and f"graphfix targets --install {target.name}"
        return self.install or by_us or ""

    @property
    def how_known(self) -> str:
        """How its profiles came to be known, as `known` has it."""
        return self.known or ("measured" if self.program is not None else "")

    @cached_property
    def corpus(self) -> Mapping[str, Taken]:
        """Return what its versions take of the open corpus: profile -> what a result says."""
        path = None if self.folder is None else self.folder / CORPUS
        if path is None or not path.is_file():
            return {}
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {name: Taken(**row) for name, row in rows.items()}

    def is_run_here(self, target: Target) -> bool:
        """Say whether this machine has the very version, so that it can be asked about a model."""
        if self.program is None:
            return self.means_installed(target)
        return self.has(target)

    def is_here(self) -> bool:
        """Say whether this machine has the engine, in whichever version, so that `open` works."""
        return self.program is not None and any(map(self.python_for, self.names()))

    def has(self, target: Target) -> bool:
        """Say whether `open` works for a target; a `Runner` says which version it is then."""
        return self.is_here() if self.program is None else bool(self.python_for(target.name))

    def python_for(self, target: str) -> Path | None:
        """Return the Python that has the engine of a target; None where none has."""
        from graphfix.engines.hosting.places import python_of

        return python_of(target, self.requirements, self.python)

    def host(
        self,
        target: str,
        *,
        seconds: float = 300.0,
        memory: int | None = None,
        capability: str = "",
    ) -> Host:
        """Return the process of the engine, for a family with a ``program.py``.

        Args:
            target: The name of the profile.
            seconds: How long each request may take.
            memory: Bytes that models may take; None for a share of what is free.
            capability: What it is to build for; empty for what it chooses.

        Raises:
            EngineFailed: The machine does not have the engine, or it does not start.
        """
        from graphfix.engines.hosting.host import Host

        python = self.python_for(target)
        if self.program is None or python is None:
            raise EngineFailed(f"this machine has no {self.title} for {target}")
        return Host(
            python,
            self.program,
            self.title,
            seconds=seconds,
            memory=memory,
            held=not self.on_device,
            capability=capability,
        )

    def open(self, model: ModelProto, path: Path, meant: Meant) -> Runner:
        """Return a model file in the engine; called in a child process with limits.

        Args:
            model: The model in the file, its external data unread.
            path: The file.
            meant: The version; where the machine has another one, `Runner.version` says so.

        Raises:
            EngineFailed: The machine does not have the engine, or it refuses the model.
        """
        from graphfix.engines.hosting.runner import HostedRunner
        from graphfix.engines.hosting.standing import host_from

        start = partial(self.host, meant.name, capability=meant.capability)
        host = host_from(meant.standing, self.title, start)
        parts = len(meant.version)
        return HostedRunner(host, model, path, parts=parts, static=meant.static_shapes)


@cache
def engines() -> tuple[Engine, ...]:
    """Return the families that lie next to this file, in the order of lists.

    Raises:
        PassBug: A folder holds no engine.
    """
    package = importlib.import_module("graphfix.engines")
    found = [
        engine
        for info in pkgutil.iter_modules(package.__path__)
        if info.ispkg and info.name != HOSTING
        for engine in _engines_of_package(f"{package.__name__}.{info.name}")
    ]
    return tuple(sorted(found, key=lambda engine: (engine.order, engine.family)))


@cache
def every_engine() -> tuple[Engine, ...]:
    """Return the families next to this file, those of installed packages, and learned ones."""
    from importlib.metadata import entry_points

    entries = sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name)
    added = (engine for entry in entries for engine in _engines_of_package(entry.value))
    from graphfix.engines.learned import learned_engines

    return (*engines(), *added, *learned_engines(partial(Engine, "")))


def _engines_of_package(package: str) -> tuple[Engine, ...]:
    module = importlib.import_module(f"{package}.engine")
    folder = Path(str(module.__file__)).parent
    found = tuple(
        value(package, folder)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Engine) and value.family
    )
    if not found:
        raise PassBug(f"{package}.engine holds no engine")
    return found


@cache
def engine_of(family: str) -> Engine:
    """Return the engine of a family; one that is as ONNX says where no one knows the family."""
    # Installed packages are looked at only where the families next to this file do not do.
    for known in chain.from_iterable(found() for found in (engines, every_engine)):
        if known.family == family:
            return known
    unknown = Engine()
    unknown.family = unknown.title = family
    return unknown
