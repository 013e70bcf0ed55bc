"""The JSON schemas of what commands print with ``--json``, and of recipes."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def schema_of(name: str) -> dict[str, Any]:
    """Return a schema.

    Args:
        name: That of its file, such as ``report`` for ``report.schema.json``.
    """
    path = Path(__file__).with_name(f"{name}.schema.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
