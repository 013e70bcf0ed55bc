"""Every command of AGENTS.md is run, in its order, and ends as the page says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from graphfix.rendering.wording import EXIT_CODES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ graphfix (.*)$", TEXT, re.MULTILINE)
LOG = "ERROR: ModelImporter.cpp: No importer registered for op: GridSample\n"
CODES = {"check": 1}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("agents")
    shutil.copytree(ROOT / "fixtures", place / "fixtures")
    (place / "engine.log").write_text(LOG, encoding="utf-8")
    for command in COMMANDS:
        words = command.split()
        done = subprocess.run(
            [sys.executable, "-m", "graphfix", *words], cwd=place, capture_output=True, text=True
        )
        (place / f"{COMMANDS.index(command)}.out").write_text(done.stdout, encoding="utf-8")
        (place / f"{COMMANDS.index(command)}.code").write_text(str(done.returncode))
    return place


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_the_command_ends_as_it_says(folder: Path, number: int) -> None:
    command = COMMANDS[number]
    printed = (folder / f"{number}.out").read_text(encoding="utf-8")
    assert int((folder / f"{number}.code").read_text()) == CODES.get(command.split()[0], 0)
    if "--json" in command:
        assert json.loads(printed)["schema"] == 1
    else:
        assert len(printed.splitlines()) <= 20
        assert re.search("^FIXED", printed)
        assert re.search(r"^  engine ", printed, re.MULTILINE)
        assert re.search("^Next", printed, re.MULTILINE)


def test_the_keys_that_the_page_names_are_there(folder: Path) -> None:
    (number,) = (
        at for at, line in enumerate(COMMANDS) if line.startswith("run") and "json" in line
    )
    report = json.loads((folder / f"{number}.out").read_text(encoding="utf-8"))
    for name in ("findings_before", "findings_after", "outcomes", "io_changes", "verification"):
        assert f"`{name}`" in TEXT
        assert name in report


def test_the_table_has_every_exit_code() -> None:
    listed = {int(code) for code in re.findall(r"^\| (\d) \|", TEXT, re.MULTILINE)}
    assert listed == {code for code in EXIT_CODES if code <= 5}


def test_it_is_one_page() -> None:
    assert len(TEXT.splitlines()) <= 80
