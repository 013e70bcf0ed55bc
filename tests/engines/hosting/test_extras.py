"""The extras of the package pin what `targets --install` installs."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from graphfix.engines.engine import Engine, engines

ROOT = Path(__file__).parents[3]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FAMILIES = [engine for engine in engines() if engine.family in EXTRAS and engine.requirements]


@pytest.mark.parametrize("engine", FAMILIES, ids=lambda engine: engine.family)
def test_an_extra_is_the_newest_version_of_its_family(engine: Engine) -> None:
    newest = engine.requirements[engine.names()[-1]]
    assert EXTRAS[engine.family][0] in newest
