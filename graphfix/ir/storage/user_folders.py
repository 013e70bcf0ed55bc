"""Where the system lets a user's programs keep their files. The folders may not be there yet."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """Return graphfix's folder for what can be made again; ``$XDG_CACHE_HOME`` counts."""
    return _folder("XDG_CACHE_HOME", Path(".cache"))


def user_data() -> Path:
    """Return graphfix's folder for what a user has installed; ``$XDG_DATA_HOME`` counts."""
    return _folder("XDG_DATA_HOME", Path(".local", "share"))


def _folder(variable: str, usual: Path) -> Path:
    if sys.platform == "win32":
        root = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    else:
        root = os.environ.get(variable) or str(Path.home() / usual)
    return Path(root) / "graphfix"
