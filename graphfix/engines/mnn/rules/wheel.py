"""What the rules on MNN share."""

from __future__ import annotations

WHEEL = "measured on MNN 3.6.1"


def text(value: object) -> str:
    """Return a word that an attribute holds."""
    return value.decode() if isinstance(value, bytes) else str(value)
