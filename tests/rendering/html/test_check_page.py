"""The page of a check."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphfix.cli import main
from tests.rendering.html.pages import HOSTILE, Elements, model

Capture = pytest.CaptureFixture[str]


def checked(folder: Path, capsys: Capture, *words: str, name: str = "modulo") -> Elements:
    path, html = folder / "m.onnx", folder / "r.html"
    path.write_bytes(model(name).SerializeToString())
    main(["check", str(path), *words, "--report", str(html)])
    capsys.readouterr()
    return Elements(html.read_text(encoding="utf-8"))


def test_it_says_what_blocks_and_what_helps(tmp_path: Path, capsys: Capture) -> None:
    page = checked(tmp_path, capsys, "--target", "trt8.4", "--explain")
    answers = [reported for _, reported in page.of("article")]
    assert answers[0].startswith("Is it ready? No 1 problem for trt8.4")
    assert answers[1].startswith("What can be repaired? All of it")
    assert answers[2].startswith("How sure is that? As sure as the rules")
    ((_, lead),) = page.of("section", id="explained")
    assert "op:Mod: removed" in lead
    ((attrs, _),) = page.of("a", id="n1")
    assert (attrs["class"], attrs["href"]) == ("left", "#f1")
    ((_, command),) = page.of("pre", kind="command")
    assert command == f"graphfix run {tmp_path / 'm.onnx'} --target trt8.4"


def test_a_model_without_problems(tmp_path: Path, capsys: Capture) -> None:
    page = checked(tmp_path, capsys, "--target", "ort")
    assert [reported for _, reported in page.of("h1")] == ["OK"]
    assert not list(page.of("pre", kind="command"))


def test_no_name_becomes_markup(tmp_path: Path, capsys: Capture) -> None:
    page = checked(tmp_path, capsys, "--target", "trt8.4", "--explain", name=HOSTILE)
    assert len(list(page.of("script"))) == 1
    assert not list(page.of("img"))
    assert page.closed()


def test_json_next_to_it(tmp_path: Path, capsys: Capture) -> None:
    checked(tmp_path, capsys, "--target", "trt8.4", "--report", str(tmp_path / "r.json"))
    assert '"rule": "operator-not-supported"' in (tmp_path / "r.json").read_text(encoding="utf-8")


def test_a_format_that_there_is_not(tmp_path: Path, capsys: Capture) -> None:
    assert main(["check", "m.onnx", "--target", "trt8.4", "--report", "r.pdf"]) == 2
    assert "--report: 'r.pdf' is not of the form FILE.html or " in capsys.readouterr().err
