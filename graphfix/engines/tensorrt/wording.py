"""What TensorRT's operator tables say in their column of restrictions, in one short form.

The tables say the same thing in several ways over the years. `reworded` gives one way, so that two
profiles can be compared, and refuses a phrase that it does not know.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

_FACTS = Path(__file__).with_name("facts") / "wording.toml"
_BREAK = re.compile(r"\.\s+|\s{2,}(?=[A-Z])")


def reworded(text: str) -> str:
    """Return the restrictions of one table row as short phrases joined by semicolons.

    Raises:
        ValueError: A phrase of `text` is not known; ``facts/wording.toml`` lacks it.
    """
    plain = text.replace("`", "").replace("\\", "").strip().rstrip(".")
    phrases = (_phrase(part.strip().rstrip(".")) for part in _BREAK.split(plain) if part.strip())
    return "; ".join(phrase for phrase in phrases if phrase)


@cache
def _compiled() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return the pattern of each phrase, and what is written for it."""
    known = tomllib.loads(_FACTS.read_text(encoding="utf-8"))
    return tuple((re.compile(phrase, re.IGNORECASE), words) for phrase, words in known["phrases"])


def _phrase(text: str) -> str:
    for pattern, words in _compiled():
        match = pattern.fullmatch(text)
        if match is not None:
            filled = match.expand(words)
            return re.sub(r",? and ", ", ", filled) if match.groups() else filled
    raise ValueError(f"no wording for the restriction {text!r}")
