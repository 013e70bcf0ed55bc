"""Whether a run asks TensorRT by itself: its Python package, in the version that a target means."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from graphfix.engines.targets import load_target
from graphfix.pipeline.settings import runs_here


@pytest.mark.parametrize(
    ("installed", "target", "here"),
    [
        ("8.6.1", "trt8.6", True),
        ("8.6.1", "trt8.5", False),
        ("10.10.0.31", "trt10.10", True),
        ("10.10.0.31", "trt10.1", False),
    ],
)
def test_a_run_asks_the_package_of_the_very_version_alone(
    installed: str, target: str, here: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / f"tensorrt-{installed}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: tensorrt\nVersion: {installed}\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert not runs_here(load_target(target))  # what runs it is not there
    for name in ("tensorrt", "polygraphy"):
        (tmp_path / f"{name}.py").write_text("")
    importlib.invalidate_caches()
    assert runs_here(load_target(target)) is here
