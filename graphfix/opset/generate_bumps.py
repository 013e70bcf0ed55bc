"""Writes `bumps.toml`: the bumps of schemas where nothing differs but the lists of types.

    python -m graphfix.opset.generate_bumps ../shared/facts/opset/bumps.json

A bump is listed when the newer form fits the older schema and when text and defaults, apart from
formatting, are equal. What else means the same is in `reviewed.toml`, written by hand.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

HEADER = """\
# Bumps of the default domain where the newer schema differs from the older one in its lists of
# types alone: "operator older newer". Written by generate_bumps.py; do not edit.
"""


def is_plain(bump: Mapping[str, Any]) -> bool:
    """Say whether nothing that could change the meaning differs."""
    return (
        bool(bump["form_fits_below"])
        and not bump["suspicious"]
        and not bump["attributes_removed_going_down"]
        and not bump["attributes_new_going_down"]
        and not bump["defaults_differ"]
    )


def bumps_text(bumps: Sequence[Mapping[str, Any]]) -> str:
    """Return the text of `bumps.toml` for the bumps of the facts."""
    lines = sorted(f'  "{b["op"]} {b["older"]} {b["newer"]}",' for b in bumps if is_plain(b))
    return "\n".join([HEADER.rstrip(), "same = [", *lines, "]"]) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Read the facts and write `bumps.toml` next to this file."""
    (source,) = arguments
    bumps = json.loads(Path(source).read_text(encoding="utf-8"))
    target = Path(__file__).with_name("bumps.toml")
    target.write_text(bumps_text(bumps), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
