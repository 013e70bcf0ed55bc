"""Finding passes: a walk over the folder, entry points of other packages, and pass files.

A `Catalogue` has them by the operators that they match or know of.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property
from importlib.machinery import SourceFileLoader
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from graphfix.authoring.declaring import Infer, Pass
from graphfix.errors import PassBug, UsageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


ANY = "*"


class Catalogue(tuple[Pass, ...]):
    """Passes in their order, with indexes that are made once, when they are first asked for."""

    @classmethod
    def of(cls, passes: Iterable[Pass]) -> Catalogue:
        """Return the passes as a catalogue; one that is one already as it is."""
        return passes if isinstance(passes, cls) else cls(passes)

    def without(self, pass_ids: set[str]) -> Catalogue:
        """Return the passes that have other ids; as it is where all have."""
        if self.by_id.keys().isdisjoint(pass_ids):
            return self
        return Catalogue(p for p in self if p.id not in pass_ids)

    def staged(self, stage: str, kind: str) -> tuple[Pass, ...]:
        """Return the passes of a stage and kind."""
        return self._staged.get((stage, kind), ())

    def rewrites_of(self, op: str) -> Sequence[Pass]:
        """Return the passes that may match an operator; those of last resort are last."""
        return [*self._rewrites.get(op, ()), *self._rewrites.get(ANY, ())]

    def knowing_of(self, op: str) -> Sequence[tuple[Pass, Infer | None]]:
        """Return the passes that may know the types of an operator without schema.

        What infers them is named where the pass emits the operator; else the pass matches it, and
        says them or writes what they follow from.
        Those of last resort are last.
        """
        return [*self._knowing.get(op, ()), *self._knowing.get(ANY, ())]

    def removing(self, feature: str) -> Sequence[Pass]:
        """Return the passes that declare to remove a feature, in order; each is asked once."""
        known = self._removing.get(feature)
        if known is None:
            known = self._removing[feature] = [p for p in self if p.removes_feature(feature)]
        return known

    @cached_property
    def by_id(self) -> Mapping[str, Pass]:
        """The passes by their ids."""
        return {declared.id: declared for declared in self}

    @cached_property
    def menders(self) -> Sequence[Pass]:
        """The rewrites that act at nodes that a file may not have, whichever engine reads it."""
        rewrites = (declared for declared in self if declared.kind == "rewrite")
        return [p for p in rewrites if any(known.startswith("model:") for known in p.removes)]

    @cached_property
    def _staged(self) -> Mapping[tuple[str, str], tuple[Pass, ...]]:
        found: dict[tuple[str, str], list[Pass]] = {}
        for declared in self:
            found.setdefault((declared.stage, declared.kind), []).append(declared)
        return {key: tuple(passes) for key, passes in found.items()}

    @cached_property
    def _removing(self) -> dict[str, Sequence[Pass]]:
        return {}

    @cached_property
    def _rewrites(self) -> Mapping[str, Sequence[Pass]]:
        found: dict[str, list[Pass]] = {}
        for declared in sorted(self, key=_is_last_resort):
            for op in {op: None for _, op in declared.matches}:
                found.setdefault(op, []).append(declared)
        return found

    @cached_property
    def _knowing(self) -> Mapping[str, Sequence[tuple[Pass, Infer | None]]]:
        found: dict[str, list[tuple[Pass, Infer | None]]] = {}
        for declared in sorted(self, key=_is_last_resort):
            for op, known in declared.knows.items():
                found.setdefault(op.rpartition("::")[2], []).append((declared, known.infer))
            for op in {op: None for _, op in declared.matches}:
                if declared.infer is not None or (declared.derives_types and op != ANY):
                    found.setdefault(op, []).append((declared, None))
        return found


def _is_last_resort(declared: Pass) -> bool:
    return declared.last_resort


ENTRY_POINT_GROUP = "graphfix.passes"
# What passes were called before: a name that a user may still write.
_RENAMED = {
    "contrib-without-equivalent": "without-equivalent",
    "texts-and-maps-refused": "without-equivalent",
}
LOADED = "graphfix_pass_file_"  # how the names of modules begin that were loaded from a pass file


@cache
def shipped_passes() -> Catalogue:
    """Return the passes below ``passes/`` and those of installed packages, in order of id.

    Raises:
        PassBug: Two passes have the same id.
    """
    package = importlib.import_module("graphfix.passes")
    found: dict[str, Pass] = {}
    for folder in package.__path__:
        for name in module_names(folder, "graphfix.passes."):
            _collect(importlib.import_module(name), found)
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        loaded = entry.load()
        if isinstance(loaded, Pass):
            _add(loaded, found)
        else:
            _collect(loaded, found)
    return Catalogue(found[key] for key in sorted(found))


def module_names(folder: str, prefix: str) -> Iterator[str]:
    """Return the modules in a folder and in the packages below it, in order; not ``_private`` ones.

    What `pkgutil.walk_packages` finds, at a tenth of the time: that asks each file for every way
    in which it could be a module, and imports each package.
    """
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    known: set[str] = set()
    for entry in listed:
        name, _, suffix = entry.name.partition(".")
        if suffix in ("py", "pyc"):
            if not name.startswith("_") and name not in known:
                yield prefix + name
            known.add(name)
        elif not suffix and name.isidentifier() and _is_package(entry):
            yield from module_names(entry.path, f"{prefix}{name}.")


def _is_package(entry: os.DirEntry[str]) -> bool:
    begins = (os.path.join(entry.path, f"__init__.{suffix}") for suffix in ("py", "pyc"))
    return entry.is_dir() and any(map(os.path.isfile, begins))


def _collect(module: object, found: dict[str, Pass]) -> None:
    for value in vars(module).values():
        if isinstance(value, Pass):
            _add(value, found)


def _add(declared: Pass, found: dict[str, Pass]) -> None:
    known = found.setdefault(declared.id, declared)
    if known is not declared:
        raise PassBug(
            f"two passes are called {declared.id}: {known.source} and {declared.source}",
            pass_id=declared.id,
        )


class _Uncached(SourceFileLoader):
    """Leaves no ``__pycache__`` next to a file of the user."""

    def set_data(self, path: str, data: ReadableBuffer, *, _mode: int = 0o666) -> None:
        """Write nothing."""


def module_of(name: str, path: Path) -> ModuleType:
    """Import a file of the user as the module `name`, and write nothing next to it.

    Raises:
        ImportError: It is not Python; and whatever its code raises.
    """
    spec = importlib.util.spec_from_file_location(name, path, loader=_Uncached(name, str(path)))
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot import {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load_pass_file(path: Path) -> tuple[Pass, ...]:
    """Return the passes that a user's file declares.

    Raises:
        UsageError: The file is missing, cannot be imported, or declares no pass.
    """
    if not path.is_file():
        raise UsageError("no such pass file", where=str(path))
    if path.suffix != ".py":
        raise UsageError("is not a Python file", where=str(path))
    name = f"{LOADED}{path.stem}_{abs(hash(path.resolve()))}"
    try:
        module = module_of(name, path)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"cannot be imported: {type(error).__name__}: {error}", where=str(path)
        ) from error
    found: dict[str, Pass] = {}
    _collect(module, found)
    if not found:
        raise UsageError(
            "declares no pass", where=str(path), hint="decorate a function with @graphfix.rewrite"
        )
    return tuple(found.values())


def all_passes(pass_files: Sequence[Path] = ()) -> Catalogue:
    """Return every pass, those of `pass_files` last.

    Raises:
        UsageError: A pass file cannot be used, or its pass has the name of another.
    """
    if not pass_files:
        return shipped_passes()
    passes = list(shipped_passes())
    known = {declared.id: declared for declared in passes}
    for path in pass_files:
        for declared in load_pass_file(path):
            if declared.id in known:
                raise UsageError(f"declares {declared.id}, which is there already", where=str(path))
            known[declared.id] = declared
            passes.append(declared)
    return Catalogue(passes)


def get_pass(name: str, passes: Sequence[Pass] | None = None, *, where: str = "pass") -> Pass:
    """Return the pass called `name`.

    Raises:
        UsageError: There is none; the hint names similar ones.
    """
    known = Catalogue.of(passes or shipped_passes()).by_id
    wanted = name.strip().replace("_", "-")
    wanted = _RENAMED.get(wanted, wanted)
    if wanted in known:
        return known[wanted]
    close = get_close_matches(wanted, known, n=3)
    hint = f"did you mean {', '.join(close)}?" if close else "`graphfix passes` lists them"
    raise UsageError(f"no pass is called {name!r}", where=where, hint=hint)
