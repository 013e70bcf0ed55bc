"""Starting: `graphfix --help` imports nothing heavy, and its list tells the truth."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import struct
import subprocess
import sys
import termios

import click
import pytest

from graphfix.cli.program import COMMANDS, program, terminal_columns

HEAVY = ("onnx", "numpy", "rich", "tomllib", "onnxruntime", "onnx_graphsurgeon", "dataclasses")
SLOW = ("shutil", "signal", "mmap", "tempfile", "traceback")  # a tenth of the start, together
SCRIPT = """
import io, sys
from graphfix.cli import main
sys.stdout = out = io.StringIO()
code, modules, sys.stdout = main(), sorted(sys.modules), sys.__stdout__
import json
print(json.dumps([code, out.getvalue(), modules]))
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
    assert [name for name in HEAVY + SLOW if name in modules] == []
    assert not any(name.startswith("graphfix.cli.") and "_command" in name for name in modules)


def test_what_repairs_and_proves_is_not_imported_to_check_a_file() -> None:
    script = "import json, sys, graphfix.pipeline.files; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    modules: list[str] = json.loads(done.stdout)
    assert "graphfix.pipeline.findings" in modules
    unused = ("graphfix.pipeline.finishing", "graphfix.proving.sites", "graphfix.proving.inputs")
    assert [name for name in modules if name.startswith(unused)] == []


@pytest.mark.parametrize(("columns", "longest"), [("60", 58), ("20", 50), ("200", 78), ("x", 78)])
def test_the_list_is_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: str, longest: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    context = program.make_context("graphfix", ["check"])
    assert context.make_formatter().width == longest
    plain = click.Context(program, max_content_width=80)
    assert plain.make_formatter().width == longest


def test_the_width_of_a_terminal_is_that_which_python_reports(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    main, terminal = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 63, 0, 0))
    with open(terminal, "w") as stream:
        monkeypatch.setattr(sys, "__stdout__", stream)
        assert (terminal_columns(), shutil.get_terminal_size().columns) == (63, 63)
    assert (terminal_columns(), shutil.get_terminal_size().columns) == (80, 80)
    os.close(main)


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
