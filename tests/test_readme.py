"""Every command and program of the README is run, and prints what the README says.

Blocks marked ``sh`` are the two set-up commands, which `.ci/run` runs as they are printed; blocks
marked ``console`` hold commands after ``$`` and what they print; blocks marked ``python`` are
programs, or, where the first line is a comment with a file name, files that later commands use.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# (\w+\.py)\n")
# Seconds, versions and the last digits of float noise differ from one machine to another.
_VARYING = re.compile(r"\d+(\.\d+)?(e-?\d+)?")
_VARYING_LINE = re.compile(r"^  verified  | place")


@dataclass(frozen=True)
class Command:
    """A command and what the README says that it prints."""

    line: str
    output: str


def blocks(kind: str) -> list[str]:
    """Return the fenced blocks of one kind."""
    return [text for found, text in _BLOCK.findall(README) if found == kind]


def commands() -> Iterator[Command]:
    """Walk the commands of the ``console`` blocks."""
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.partition("\n")
            yield Command(line, output)


def comparable(text: str) -> str:
    """Blank out what varies, and the widths of columns with it."""
    lines: list[str] = []
    for line in text.splitlines():
        if _VARYING_LINE.search(line):
            line = " ".join(_VARYING.sub("#", line).split())
        lines.append(line.rstrip())
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder like a clone in which graphfix is installed and its environment active."""
    place = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "fixtures", place / "fixtures")
    (place / "bin").mkdir()
    for name, words in (("python", ""), ("graphfix", " -m graphfix")):
        script = place / "bin" / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    for text in blocks("python"):
        named = _FILE.match(text)
        if named:
            (place / named[1]).write_text(text, encoding="utf-8")
    return place


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a program in the folder as a user would."""
    environment = {
        **os.environ,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "80",
    }
    return subprocess.run(
        words,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_commands_print_what_the_readme_says(folder: Path) -> None:
    known = list(commands())
    assert len(known) >= 5
    for command in known:
        done = run(folder, "bash", "-c", command.line)
        assert "Traceback" not in done.stderr, done.stderr
        if not command.line.startswith("graphfix check"):
            code = int(command.output.startswith("NOT DONE"))
            assert done.returncode == code, f"{command.line}\n{done.stdout}{done.stderr}"
        printed, expected = comparable(done.stdout), comparable(command.output)
        if command.output:
            assert OutputChecker().check_output(expected, printed, ELLIPSIS), (
                f"$ {command.line}\n{done.stdout}{done.stderr}"
            )


def test_the_promised_exit_codes(folder: Path) -> None:
    pool = ("graphfix", "run", "fixtures/pool_aten17.onnx", "--target", "trt8", "--json")
    assert run(folder, *pool, "-o", "a.onnx").returncode == 0
    assert (folder / "a.onnx").is_file()
    check = ("graphfix", "check", "fixtures/mod_int_ts11.onnx", "--target")
    assert run(folder, *check, "trt8.4").returncode == 1
    assert run(folder, *check, "trt0").returncode == 2
    assert run(folder, "graphfix", "check", "README.md", "--target", "trt8").returncode == 3


def test_the_programs_run(folder: Path) -> None:
    programs = [text for text in blocks("python") if not _FILE.match(text)]
    assert len(programs) == 1
    for text in programs:
        done = run(folder, "python", "-c", text)
        assert done.returncode == 0, done.stderr
        assert "reject op:ScatterND" in done.stdout
    assert (folder / "fixed.onnx").is_file()


@pytest.mark.parametrize("number", [1, 2])
def test_ci_runs_the_set_up_commands_as_they_are_printed(number: int) -> None:
    # They install from a package index and run this suite, so they are not run here.
    done = run(ROOT, ".ci/readme-command", str(number))
    assert done.stdout == blocks("sh")[number - 1]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert f'bash -c "$(.ci/readme-command {number})"' in script


def test_there_are_two_set_up_commands_of_one_line_each() -> None:
    first, second = blocks("sh")
    assert first.startswith("python3 -m venv .venv && .venv/bin/pip install . && ")
    assert "run fixtures/camera.onnx --target trt8" in first
    assert second.startswith('python3 -m venv .venv && .venv/bin/pip install -e ".[test]" && ')
    assert second.endswith(".venv/bin/python -m pytest -q -n 2\n")
    assert first.count("\n") == second.count("\n") == 1
    positions = [README.index(text) for text in (first, second)]
    assert positions[0] < positions[1] < README.index("\n## "), "they come before all sections"


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    assert {kind for kind, _ in _BLOCK.findall(README)} == {"sh", "console", "python"}
    assert README.count("```") == 2 * len(_BLOCK.findall(README))


def test_the_table_lists_every_command() -> None:
    from graphfix.cli.program import program

    for name in program.list_commands(program.make_context("graphfix", [], resilient_parsing=True)):
        assert f"| `graphfix {name} " in README


def test_it_is_read_to_the_end() -> None:
    assert README.count("\n") <= 150


def test_the_table_of_targets_is_as_measured() -> None:
    """Each row holds the figures of the engine's or the corpus's page in benchmarks/results."""
    results = ROOT / "benchmarks" / "results"
    rows = re.findall(r"^\| `(\w[\w.]*)`.*? \| (\d+) of (\d+) \| (\d+) \| (.*?) \|", README, re.M)
    assert len(rows) >= 14
    for target, before, models, after, wrong in rows:
        corpus = results / f"corpus-{target}.md"
        if corpus.is_file():
            text = corpus.read_text(encoding="utf-8")
            assert f"| models | {models} |" in text, target
            assert f"no finding before | {before} |" in text, target
            assert f"exit code 0 (nothing left, verified) | {after} |" in text, target
        else:
            (page,) = results.glob(f"engines-{target}*.md")
            text = page.read_text(encoding="utf-8")
            assert f"\n{models} models " in text, target
            assert f"| as it is | {before} |" in text, target
            assert f"| graphfix | {after} |" in text, target
            bad, fixed = wrong.split(" of ")
            said = f"calls {fixed} of them fixed; of these the engine refuses or computes wrongly "
            assert f"{said}{bad}." in text, target


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
