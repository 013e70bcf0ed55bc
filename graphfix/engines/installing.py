"""Make an environment that has an engine, in the user's folder for data."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from graphfix.engines.hosting.places import environment, interpreter, python_of, unfinished
from graphfix.errors import EngineFailed, UsageError

if TYPE_CHECKING:
    from graphfix.engines.engine import Engine
    from graphfix.engines.profile import Target

_LAST = 3


@dataclass(frozen=True, slots=True)
class Installed:
    """An engine on this machine.

    Attributes:
        python: The Python that has it.
        version: What it says of itself.
        made: Whether it was installed just now.
    """

    python: Path
    version: str
    made: bool


def install(engine: Engine, target: Target, say: Callable[[str], None]) -> Installed:
    """Install the engine of a target, unless it is here; what cannot be finished is taken away.

    Args:
        engine: The family.
        target: The version.
        say: Takes a line on what is being done.

    Raises:
        UsageError: Nothing says how to install it, or no Python here can have it.
        EngineFailed: It cannot be installed, or does not start.
    """
    requirements = engine.requirements.get(target.name, ())
    if engine.program is None or not requirements:
        hint = engine.install or "nothing runs models in it here"
        if engine.installed():
            hint = f"this machine has {engine.name} {engine.installed()}; pip installs others"
        raise UsageError(
            f"{target.title} is not installed by graphfix", where="--install", hint=hint
        )
    here = python_of(target.name, engine.requirements)
    home = environment(target.name)
    if here is None:
        python = _base(engine.newest_python.get(target.name, ""), target.title)
        say(f"making {home} for {target.title}: {' '.join(requirements)}; this takes minutes")
        _make(python, home, requirements, target.title)
    try:
        with engine.host(target.name) as host:
            version = host.version()
    except EngineFailed:
        if here is None:
            shutil.rmtree(home, ignore_errors=True)
        raise
    return Installed(here or interpreter(home), version, here is None)


def _make(python: str, home: Path, requirements: Sequence[str], title: str) -> None:
    mark = unfinished(home)
    if mark.exists():
        shutil.rmtree(home, ignore_errors=True)
    try:
        home.mkdir(parents=True)
        mark.touch()
    except OSError as error:
        raise EngineFailed(f"it cannot be made: {error.strerror}", where=str(home)) from error
    try:
        _done([python, "-m", "venv", str(home)], title)
        pip = [str(interpreter(home)), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        _done([*pip, "install", "--no-input", *requirements], title)
        mark.unlink()
    except BaseException:  # Ctrl-C as well
        shutil.rmtree(home, ignore_errors=True)
        raise


def _done(command: Sequence[str], title: str) -> None:
    ended = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if ended.returncode:
        lines = ended.stdout.strip().splitlines()
        errors = [line for line in lines if line.startswith("ERROR:")] or lines
        words = " ".join(" ".join(errors[-_LAST:]).split())
        raise EngineFailed(f"{title} cannot be installed: {words or 'no reason is given'}")


def _base(newest: str, title: str) -> str:
    """Return a Python that the engine installs into: this one, or an older one on the path."""
    if not newest:
        return sys.executable
    major, minor = (int(part) for part in newest.split("."))
    if sys.version_info[:2] <= (major, minor):
        return sys.executable
    for older in range(minor, 7, -1):
        found = shutil.which(f"python{major}.{older}")
        if found and os.access(found, os.X_OK):
            return found
    raise UsageError(
        f"{title} needs Python {newest} or older, and this one is "
        f"{sys.version_info[0]}.{sys.version_info[1]}",
        where="--install",
        hint=f"put a python{newest} on the PATH",
    )
