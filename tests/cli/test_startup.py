"""Starting: `graphfix --help` imports nothing heavy, and its list tells the truth."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from graphfix.cli.program import COMMANDS, program

HEAVY = ("onnx", "numpy", "rich", "tomllib", "onnxruntime", "onnx_graphsurgeon", "dataclasses")
SCRIPT = """
import contextlib, io, json, sys
from graphfix.cli import main
with contextlib.redirect_stdout(io.StringIO()) as out:
    code = main(sys.argv[1:])
print(json.dumps([code, out.getvalue(), sorted(sys.modules)]))
"""


def run_in_child(*words: str) -> tuple[int, str, list[str]]:
    """Run a command line in a fresh process; return exit code, output and imported modules."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *words], capture_output=True, text=True, check=True
    )
    code, out, modules = json.loads(done.stdout)
    return code, out, modules


@pytest.mark.parametrize("words", [("--help",), ("--version",)])
def test_nothing_heavy_is_imported(words: tuple[str, ...]) -> None:
    code, out, modules = run_in_child(*words)
    assert code == 0
    assert "graphfix" in out
    assert [name for name in HEAVY if name in modules] == []
    assert not any(name.startswith("graphfix.cli.") and "_command" in name for name in modules)


@pytest.mark.parametrize("command", list(COMMANDS))
def test_help_of_a_command_imports_no_model_library(command: str) -> None:
    code, out, modules = run_in_child(command, "--help")
    assert code == 0
    assert f"Usage: graphfix {command}" in out
    assert [name for name in HEAVY[:3] if name in modules] == []
    assert max(len(line) for line in out.splitlines()) <= 80


@pytest.mark.parametrize("name", list(COMMANDS))
def test_the_list_says_what_the_command_says(name: str) -> None:
    command = program.get_command(program.make_context("graphfix", [name]), name)
    assert command is not None
    assert command.name == name
    assert command.short_help == COMMANDS[name].summary


def test_the_module_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "graphfix", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("graphfix ")
