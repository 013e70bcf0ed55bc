"""What belongs to one engine family lies in its folder alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import graphfix
from graphfix.engines.engine import Engine, engine_of, engines
from graphfix.engines.tables import TabledEngine
from graphfix.engines.targets import load_target

PACKAGE = Path(graphfix.__file__).parent
FAMILIES = {engine.name: engine.folder for engine in engines()}


def outside(folder: Path | None) -> list[Path]:
    assert folder is not None
    return [
        path
        for path in PACKAGE.rglob("*")
        if path.suffix in (".py", ".toml", ".json", ".txt")
        and folder not in path.parents
        and PACKAGE / "passes" not in path.parents
    ]


def _but_threads(path: Path) -> str:
    """Return the text of a file without public threads, which are named after their repository."""
    return re.sub(r"^threads = .*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_tensorrt_is_named_nowhere_else() -> None:
    named = [
        path.relative_to(PACKAGE).as_posix()
        for path in outside(FAMILIES["tensorrt"])
        if re.search("trt|tensorrt", _but_threads(path), re.IGNORECASE)
    ]
    assert named == []


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_imported_by_the_walk_alone(name: str) -> None:
    wanted = f"graphfix.engines.{name}"
    importing = [path for path in outside(FAMILIES[name]) if wanted in path.read_text()]
    assert [path.relative_to(PACKAGE).as_posix() for path in importing] == []


def test_families_are_found_in_the_order_of_lists() -> None:
    first, tabled = engines()[:3], [e for e in engines() if isinstance(e, TabledEngine)]
    assert [(engine.name, engine.family, engine.title) for engine in first] == [
        ("tensorrt", "trt", "TensorRT"),
        ("tensorrt", "trt-rtx", "TensorRT for RTX"),
        ("onnxruntime", "ort", "ONNX Runtime"),
    ]
    assert [engine.example for engine in first] == ["trt8", "trt-rtx1.7", "ort-1.32"]
    placed = [e for e in engines() if e.order < Engine.order]  # a new family comes last
    assert placed[-len(tabled) :] == tabled


def test_a_family_that_no_one_knows_is_as_onnx_says() -> None:
    unknown = engine_of("noone")
    assert type(unknown) is Engine
    assert (unknown.family, unknown.names(), unknown.aliases()) == ("noone", (), {})
    assert not unknown.install
    assert engine_of("trt").install
    assert load_target("trt8").name == "trt8.6"
