"""The options of `graphfix edit` as `graphfix/edits/options` declares them; no edit is imported.

`listed.json` is written by `python -m graphfix.edits.listing`.
"""

from __future__ import annotations

import json
from pathlib import Path

_LISTED = json.loads(Path(__file__).with_name("listed.json").read_text(encoding="utf-8"))

# Name, form of its text (none for a flag), what it does.
EDITS = tuple((str(name), str(form), str(text)) for name, form, text in _LISTED["edits"])

# Heading of the help -> the options under it.
HEADINGS: dict[str, tuple[str, ...]] = {
    heading: tuple(names) for heading, names in _LISTED["headings"].items()
}
