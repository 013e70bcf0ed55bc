"""Environments of engines: made, found again, and gone where they cannot be finished."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graphfix.engines.engine import Engine
from graphfix.engines.hosting import places
from graphfix.engines.installing import install
from graphfix.engines.profile import Target, target_of
from graphfix.errors import EngineFailed, UsageError

HERE = Path(__file__).parent / "hosting"
PROFILE = {
    "name": "made-up1.2", "family": "made-up", "version": "1.2", "title": "Made Up 1.2",
    "source": "made up", "domains": [""], "functions": False,
    "opset": {"max": 17, "rejects_above": True}, "ops": {},
}  # fmt: skip


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Target:
    monkeypatch.setenv("GRAPHFIX_ENGINES", str(tmp_path / "engines"))
    return target_of(PROFILE, "here")


def engine(*lines: str, newest: str = "") -> Engine:
    made = Engine("made_up", HERE)
    made.family, made.title = "made-up", "Made Up"
    made.requirements = {"made-up1.2": lines} if lines else {}
    made.newest_python = {"made-up1.2": newest} if newest else {}
    return made


def wheel(folder: Path) -> str:
    """Return a wheel that holds all that the made-up engine needs, for pip without a network."""
    path = folder / "made_up-1.2.3-py3-none-any.whl"
    info = "made_up-1.2.3.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("numpy.py", "def asarray(value): return value\n")
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: made-up\nVersion: 1.2.3\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return str(path)


def test_folders_follow_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("GRAPHFIX_ENGINES", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert places.environment("x1.0") == tmp_path / "graphfix" / "engines" / "x1.0"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert places.folder() == Path("/home/me/.local/share/graphfix/engines")
    monkeypatch.setenv("GRAPHFIX_ENGINES", "/opt/engines")
    assert places.folder() == Path("/opt/engines")


def test_this_python_does_where_it_has_the_version(target: Target) -> None:
    import numpy as np

    minor = ".".join(np.__version__.split(".")[:2])
    assert places.python_of("x", {"x": (f"numpy=={minor}.99",)}) == Path(sys.executable)
    assert places.python_of("x", {"x": ("numpy==0.1",)}) is None
    assert places.python_of("x", {"x": ("no-such-engine==1.2.3", "numpy")}) is None
    assert places.python_of("x", {}) is None


def test_an_engine_is_installed_once(target: Target, tmp_path: Path) -> None:
    home = places.environment(target.name)
    home.mkdir(parents=True)
    places.unfinished(home).touch()  # of a run that was killed
    said: list[str] = []
    path = wheel(tmp_path)
    found = install(engine("--no-index", path), target, said.append)
    assert (found.python, found.version, found.made) == (
        places.interpreter(home),
        "1.2.3-made-up",
        True,
    )
    assert said == [f"making {home} for Made Up 1.2: --no-index {path}; this takes minutes"]
    again = install(engine("anything"), target, said.append)
    assert replace(again, made=True) == found
    assert not again.made
    assert len(said) == 1


def test_nothing_half_made_stays(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(command: Sequence[str], **_: object) -> subprocess.CompletedProcess[str]:
        assert places.unfinished(places.environment(target.name)).exists()
        said = "Looking in links\nERROR: No matching distribution\nhint: none"
        return subprocess.CompletedProcess(command, int("pip" in command), said)

    monkeypatch.setattr(subprocess, "run", fails)
    said = "^Made Up 1.2 cannot be installed: ERROR: No matching distribution$"
    with pytest.raises(EngineFailed, match=said):
        install(engine("no-such-engine==1.2.3"), target, lambda _: None)
    assert not places.environment(target.name).exists()


def test_what_is_there_and_no_environment_is_left_alone(target: Target) -> None:
    home = places.environment(target.name)
    home.mkdir(parents=True)
    (home / "mine").touch()
    with pytest.raises(EngineFailed, match="it cannot be made: File exists"):
        install(engine("x==1.0"), target, lambda _: None)
    assert (home / "mine").exists()


def test_what_cannot_be_installed_is_reported(target: Target) -> None:
    with pytest.raises(UsageError, match=r"^--install: Made Up 1.2 is not installed by graphfix"):
        install(engine(), target, lambda _: None)
    with pytest.raises(UsageError, match=r"Made Up 1.2 needs Python 2.7 or older"):
        install(engine("x==1.0", newest="2.7"), target, lambda _: None)
