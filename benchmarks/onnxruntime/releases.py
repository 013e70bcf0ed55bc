"""Virtual environments that hold one onnxruntime each, made when first asked for.

They lie below `$GRAPHFIX_OLD_RUNTIMES`, or in the user's cache folder. Wheels up to 1.19 are
installed with Python 3.8, later ones with the Python that runs this: 1.4 to 1.10 have no wheel for
anything newer than 3.9.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CHILD = Path(__file__).with_name("child.py")
# The last patch release of each minor that pip finds.
RELEASES: dict[str, str] = {
    "1.4": "1.4.0", "1.5": "1.5.2", "1.6": "1.6.0", "1.7": "1.7.0", "1.8": "1.8.1",
    "1.9": "1.9.0", "1.10": "1.10.0", "1.11": "1.11.1", "1.12": "1.12.1", "1.13": "1.13.1",
    "1.14": "1.14.1", "1.15": "1.15.0", "1.16": "1.16.3", "1.17": "1.17.3", "1.18": "1.18.1",
    "1.19": "1.19.2", "1.20": "1.20.1", "1.21": "1.21.1", "1.22": "1.22.1", "1.23": "1.23.2",
    "1.24": "1.24.4", "1.25": "1.25.1", "1.26": "1.26.0", "1.27": "1.27.0", "1.28": "1.28.0",
    "1.29": "1.29.0", "1.30": "1.30.0", "1.31": "1.31.1", "1.32": "1.32.0",
}  # fmt: skip
_LAST_FOR_38 = 19


def folder() -> Path:
    """Return where the environments lie."""
    given = os.environ.get("GRAPHFIX_OLD_RUNTIMES")
    return Path(given) if given else Path.home() / ".cache" / "graphfix" / "old-runtimes"


def interpreter(minor: str) -> Path:
    """Return the Python that has onnxruntime `minor`, such as ``1.8``; install it if need be.

    Raises:
        RuntimeError: There is no Python 3.8 for an old one.
        CalledProcessError: pip cannot install it.
    """
    release = RELEASES[minor]
    home = folder() / f"ort-{release}"
    python = home / "bin" / "python"
    if not (home / "bin" / "pip").is_file():
        subprocess.run([_base(minor), "-m", "venv", str(home)], check=True)
    have = subprocess.run(
        [str(python), "-c", "import onnxruntime; print(onnxruntime.__version__)"],
        capture_output=True,
        text=True,
        check=False,
    )
    if have.stdout.strip() != release:
        numpy = "numpy<1.24" if _old(minor) else "numpy"
        wanted = [f"onnxruntime=={release}", numpy]
        subprocess.run([str(python), "-m", "pip", "install", "-q", *wanted], check=True)
    return python


def _old(minor: str) -> bool:
    return int(minor.partition(".")[2]) <= _LAST_FOR_38


def _base(minor: str) -> str:
    if not _old(minor):
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    # First there: what pyenv has on the path runs only where the version is chosen.
    installed = sorted(str(path) for path in pyenv.glob("3.8.*/bin/python"))
    found = installed[0] if installed else shutil.which("python3.8")
    if found is None:
        raise RuntimeError(f"onnxruntime {minor} needs Python 3.8, and there is none")
    return found
