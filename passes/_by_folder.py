"""Importing passes by the name of their folder, as type checkers and tests do in a checkout.

They are the modules of graphfix.passes under a second name, not second copies.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _SameModule(MetaPathFinder, Loader):
    """Gives passes.family.name the module graphfix.passes.family.name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Answer for what is below the folder."""
        return ModuleSpec(fullname, self) if fullname.startswith("passes.") else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Import the module by its own name."""
        module = import_module(f"graphfix.{spec.name}")
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is: importing puts another spec into it."""
        named = module.__spec__
        if named is not None:
            module.__spec__ = self._specs.pop(named.name)

    def __init__(self) -> None:
        """Remember the specs of modules that are being imported."""
        self._specs: dict[str, ModuleSpec | None] = {}


def join() -> None:
    """Make `passes` the package graphfix.passes."""
    sys.meta_path.insert(0, _SameModule())
    sys.modules["passes"] = import_module("graphfix.passes")
