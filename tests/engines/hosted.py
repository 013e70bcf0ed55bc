"""Models run in an engine itself, by its program, where this machine has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from onnx import parser

from graphfix.engines.engine import engine_of
from graphfix.engines.hosting.places import python_of
from graphfix.engines.hosting.runner import HostedRunner
from graphfix.engines.interface import Meant
from graphfix.engines.targets import load_target


def installed(family: str) -> list[str]:
    """Return the targets of a family that this machine has."""
    engine = engine_of(family)
    return [name for name in engine.names() if python_of(name, engine.requirements)]


def needs(family: str, target: str = "") -> pytest.MarkDecorator:
    """Skip where this machine has no version of a family."""
    title = engine_of(family).title
    line = f"graphfix targets --install {target or family}"
    return pytest.mark.skipif(not installed(family), reason=f"no {title} here: {line}")


def ran(target: str, text: str, folder: Path, **feed: object) -> dict[str, Any]:
    """Return what a target computes of a graph such as ``g (float[2] x) => (float[2] y) {...}``."""
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}')
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    meant = load_target(target)
    how = Meant(meant.version, {}, meant.name, meant.static_shapes)
    runner = engine_of(meant.family).open(model, path, how)
    try:
        return runner.run(feed)
    finally:
        assert isinstance(runner, HostedRunner)
        assert runner.version == meant.version
        runner.close()
