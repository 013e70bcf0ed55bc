"""`graphfix view`: the page of a model, opened in the browser at a node."""

from __future__ import annotations

import json
import sys
import webbrowser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from onnx import parser

from graphfix.cli import main
from tests.rendering.html.pages import HOSTILE, Elements, model

Capture = pytest.CaptureFixture[str]
NESTED = """
<ir_version: 8, opset_import: ["" : 13]>
g (bool c, float[2] x) => (float[2] y) {
  a = Neg (x)
  y = If (c) <then_branch = t () => (float[2] p) { p = Abs (a) },
              else_branch = e () => (float[2] q) { q = Exp (a) }>
}
"""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser was asked for."""
    asked: list[str] = []

    def note(address: str) -> bool:
        asked.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    return asked


def written(folder: Path, name: str = "modulo") -> Path:
    path = folder / "m.onnx"
    path.write_bytes(model(name).SerializeToString())
    return path


def test_the_page_goes_into_the_cache_and_is_opened(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, opened: list[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["view", str(written(tmp_path))]) == 0
    path = tmp_path / "cache" / "graphfix" / "view" / "m.html"
    assert opened == [path.as_uri()]
    assert capsys.readouterr().out == f"{path}\n"
    page = Elements(path.read_text(encoding="utf-8"))
    assert [reported for _, reported in page.of("h1")] == ["m.onnx"]
    answers = [reported for _, reported in page.of("article")]
    assert answers[0] == "What goes in and out? 2 inputs, 1 output 1 input of open size."
    assert answers[1].startswith("What is in it? 3 nodes")
    assert "Mod" in next(reported for _, reported in page.of("section", id="operators"))


def test_a_node_is_shown_first(tmp_path: Path, capsys: Capture, opened: list[str]) -> None:
    out = tmp_path / "r.html"
    words = ["view", str(written(tmp_path)), "--at", "modulo", "-o", str(out), "--json"]
    assert main(words) == 0
    reported = json.loads(capsys.readouterr().out)
    assert reported == {
        "schema": 1,
        "page": str(out),
        "address": f"{out.as_uri()}#n1",
        "opened": True,
    }
    page = Elements(out.read_text(encoding="utf-8"))
    ((_, card),) = page.of("details", id="a1")
    assert "fmod1" in card
    ((attrs, _),) = page.of("a", id="n1")
    assert (attrs["class"], attrs["href"]) == ("changed", "#a1")


def test_a_node_in_a_body_is_shown_where_the_body_is(
    tmp_path: Path, capsys: Capture, opened: list[str]
) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "r.html"
    path.write_bytes(parser.parse_model(NESTED).SerializeToString())
    assert main(["view", str(path), "--at", "op:Abs", "-o", str(out)]) == 0
    assert opened == [f"{out.as_uri()}#n1"]
    capsys.readouterr()


def test_with_a_target_the_findings_are_shown(
    tmp_path: Path, capsys: Capture, opened: list[str]
) -> None:
    out = tmp_path / "r.html"
    words = ["view", str(written(tmp_path, HOSTILE)), "--target", "trt8.4", "--no-open"]
    assert main([*words, "-o", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: open it in a browser\n"
    assert opened == []
    page = Elements(out.read_text(encoding="utf-8"))
    assert "op:Mod: 1 node" in next(reported for _, reported in page.of("details", id="f1"))
    assert len(list(page.of("script"))) == 1


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--at", "modulu"], 2, "--at"),
        (["-o", "x.svg"], 2, "'x.svg' is not of the form FILE.html"),
        (["-o", "no/x.html"], 2, "there is no folder 'no'"),
        (["--target", "nothing", "--no-open"], 2, "nothing"),
    ],
)
def test_wrong_usage(
    tmp_path: Path, capsys: Capture, words: list[str], code: int, said: str
) -> None:
    assert main(["view", str(written(tmp_path)), *words]) == code
    assert said in capsys.readouterr().err


def test_what_is_no_model(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "m.onnx").write_bytes(b"\xff\xff")
    assert main(["view", str(tmp_path / "m.onnx")]) == 3
    assert "m.onnx" in capsys.readouterr().err


def test_netron_serves_the_model_and_is_reported_of_the_node(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, opened: list[str]
) -> None:
    netron, started = ModuleType("netron"), list[tuple[str, Any]]()

    def start(file: str, address: Any, browse: bool) -> tuple[str, int]:
        started.append((file, browse))
        return "localhost", 8081

    netron.start, netron.wait = start, lambda: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "netron", netron)
    path = tmp_path / "net.onnx"
    path.write_bytes(parser.parse_model(NESTED).SerializeToString())
    assert main(["view", str(path), "--netron", "--at", "op:If"]) == 0
    assert started == [(str(path), False)]
    assert opened == ["http://localhost:8081/"]
    assert capsys.readouterr().out == (
        "http://localhost:8081/ (Ctrl-C ends it); find the node with Ctrl-F: y\n"
    )


def test_without_netron_it_says_how_to_get_it(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "netron", None)
    assert main(["view", str(written(tmp_path)), "--netron"]) == 2
    assert "Netron is not installed (pip install netron)" in capsys.readouterr().err
    assert main(["view", str(written(tmp_path)), "--netron", "--target", "trt8"]) == 2
    assert "shows the model alone" in capsys.readouterr().err
