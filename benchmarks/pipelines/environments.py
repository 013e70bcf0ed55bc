"""Make the environments of the exporters and tools.

    python -m benchmarks.pipelines.environments FOLDER [NAME ...]

Each is FOLDER/NAME with the pinned packages of `exporters.toml`; what is there already is left as
it is, so that a link to another environment serves as well.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

from benchmarks.pipelines.catalogue import Environment, catalogue


def python_of(folder: Path, name: str) -> Path:
    """Return the interpreter of an environment."""
    return folder / name / "bin" / "python"


def make(folder: Path, name: str, table: dict[str, Environment]) -> None:
    """Make one with what it is based on.

    Raises:
        subprocess.CalledProcessError: pip failed; the environment is left as it is then.
    """
    wanted, python = table[name], python_of(folder, name)
    if python.exists():
        return
    if wanted.base:
        make(folder, wanted.base, table)
    venv.create(folder / name, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "-q"]
    if wanted.base:
        (_site(folder / name) / "base.pth").write_text(f"{_site(folder / wanted.base)}\n")
        pip.append("--no-deps")
    if wanted.packages:
        subprocess.run([*pip, *wanted.packages], check=True)


def _site(environment: Path) -> Path:
    return next(environment.resolve().glob("lib/python3*/site-packages"))


def main(words: Sequence[str]) -> int:
    """Make those that the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="default: all")
    given = parser.parse_args(words)
    table = dict(catalogue().environments)
    folder: Path = given.folder.resolve()
    failed = 0
    for name in given.names or table:
        try:
            make(folder, name, table)
        except subprocess.CalledProcessError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
