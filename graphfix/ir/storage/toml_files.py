"""Reading TOML files that a user wrote."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from graphfix.errors import UsageError


def read_toml(path: Path, subject: str = "") -> tuple[dict[str, Any], str]:
    """Return what a file holds, and its text.

    Args:
        path: The file.
        subject: What it is, for the error: ``the profile``.

    Raises:
        UsageError: The file cannot be read, or is no TOML.
    """
    named = f"{subject} ".lstrip()
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{named}is no TOML: {error}", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{named}cannot be read: {error}", where=str(path)) from None
