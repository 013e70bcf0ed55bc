"""The tract profile, made from what the real wheel takes and computes on the CPU.

    python -m graphfix.engines.tract.generate

Facts: ``facts/kernels.json``, written by ``python -m benchmarks.engines.facts`` from the rows of
``python -m benchmarks.engines.kernels --engine tract0.23``, and
``facts/judged.toml``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graphfix.engines.measured import measured_profiles
from graphfix.engines.versions import write_profiles

FACTS = Path(__file__).parent / "facts"
_NEWEST = 26  # of the models that were asked for; the number of an opset is not looked at


def profiles() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the names and the tables of the profiles, oldest first."""
    return measured_profiles(FACTS, "tract", "tract", newest=_NEWEST)


if __name__ == "__main__":
    write_profiles(Path(__file__).parent, dict(profiles()))
