"""Finding passes: which modules the folder of passes holds."""

from __future__ import annotations

import pkgutil
import sys
from pathlib import Path

import pytest

import graphfix.passes
from graphfix.authoring.registry import load_pass_file, module_names, shipped_passes
from graphfix.proving.runners.evaluators import Evaluators

PASS_FILE = """
from graphfix import EXACT, rewrite


def as_numpy(inputs, attributes):
    return (inputs[0],)


@rewrite("Relu", removes="op:Relu", emits="Max", accuracy=EXACT)
def relu_to_max(node, build):
    \"\"\"Write Relu as Max.\"\"\"
    return build.Max(node.need(0), 0.0)
"""


def test_the_modules_are_those_that_python_finds() -> None:
    found = [
        info.name
        for info in pkgutil.walk_packages(graphfix.passes.__path__, "graphfix.passes.")
        if not info.ispkg and not info.name.rpartition(".")[2].startswith("_")
    ]
    (folder,) = graphfix.passes.__path__
    assert list(module_names(folder, "graphfix.passes.")) == found
    assert {known.function.__module__ for known in shipped_passes()} <= set(found)


def test_only_modules_and_packages_are_looked_into(tmp_path: Path) -> None:
    (tmp_path / "family" / "inner").mkdir(parents=True)
    (tmp_path / "notes").mkdir()
    (tmp_path / "__pycache__").mkdir()
    for name in (
        "__init__.py", "one.py", "_shared.py", "one.txt", "README.md", ".hidden.py",
        "family/__init__.py", "family/two.py", "family/two.pyc", "family/inner/__init__.pyc",
        "family/inner/three.pyc", "notes/four.py", "__pycache__/one.cpython-311.pyc",
    ):  # fmt: skip
        (tmp_path / name).write_bytes(b"")
    names = list(module_names(str(tmp_path), "p."))
    assert names == ["p.family.inner.three", "p.family.two", "p.one"]


def test_nothing_is_left_next_to_a_pass_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "my_passes.py"
    path.write_text(PASS_FILE)
    assert [declared.id for declared in load_pass_file(path)] == ["relu-to-max"]
    assert Evaluators({("", "Odd"): f"{path}:as_numpy"}).get(("", "Odd")).__name__ == "as_numpy"
    assert [entry.name for entry in tmp_path.iterdir()] == ["my_passes.py"]
