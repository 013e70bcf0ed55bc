"""The pages of edits, differences, comparisons and bisections."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper, parser

from graphfix.cli import main
from tests.rendering.html.pages import HOSTILE, Elements

TEXT = """
<ir_version: 8, opset_import: ["" : 13]>
g (float[2, 4] x) => (float[2, 4] y)
<float[4] w = {1.0, 2.0, 3.0, 4.0}>
{
  a = Add (x, w)
  b = Sigmoid (a)
  y = Relu (b)
}
"""


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    """Two models: the second has other weights and another operator at the end."""
    paths = (tmp_path / "a.onnx", tmp_path / "b.onnx")
    for path, changed in zip(paths, (False, True), strict=True):
        path.write_bytes(made(changed).SerializeToString())
    return str(paths[0]), str(paths[1])


def made(changed: bool) -> ModelProto:
    proto = parser.parse_model(TEXT)
    for at, node in enumerate(proto.graph.node):
        node.name = f"n{at}{HOSTILE}"
    if changed:
        weights = np.array([1, 2, 3, 4.5], np.float32)
        proto.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, "w"))
        proto.graph.node[2].op_type = "Abs"
    return proto


def page(html: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Elements:
    main([*words, "--report", str(html)])
    capsys.readouterr()
    found = Elements(html.read_text(encoding="utf-8"))
    assert found.closed()
    assert len(list(found.of("script"))) == 1
    assert not list(found.of("img"))
    assert len(list(found.of("article"))) == 3
    return found


def test_a_difference(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = page(tmp_path / "r.html", capsys, "diff", *pair)
    assert [reported for _, reported in found.of("h1")] == ["DIFFERENT"]
    answers = [reported for _, reported in found.of("article")]
    assert answers[2].startswith("And in the weights? 1 weight")
    ((_, weight),) = found.of("details", id="w1")
    assert "1 of 4 elements differ, by up to 0.5" in weight
    places = [attrs["id"] for _, attrs, _ in found.found if "id" in attrs]
    assert {"n0", "n1", "n2", "m0", "m1", "m2"} <= set(places)
    assert len(places) == len(set(places))


def test_a_comparison_with_its_plot(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = page(tmp_path / "r.html", capsys, "compare", *pair, "--layers")
    assert [reported for _, reported in found.of("h1")] == ["MISMATCH"]
    ((_, first),) = found.of("details", id="y1")
    assert first.startswith("a mismatch Add")
    assert "worst error: " in first
    ((plot, _),) = found.of("svg", kind="plot")
    assert "tensors along the depth" in plot["aria-label"]
    wrong = [attrs for attrs, _ in found.of("circle", kind="wrong") if "r" in attrs]
    assert wrong
    ((spot, _),) = found.of("a", id="n0")
    assert spot["class"] == "left"


def test_where_two_models_part(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = page(tmp_path / "r.html", capsys, "bisect", *pair)
    ((_, card),) = found.of("details", id="first-node")
    assert card.startswith("Add ")
    assert "changed weight w float32[4]: 1 of 4 elements differ" in card
    assert not [attrs for attrs, reported in found.of("table") if "first second" in reported]
    assert next(reported for _, reported in found.of("article")).startswith(
        "Do they compute the same? No"
    )
    assert "1 of 4 elements differ" in card


def test_a_run_that_breaks_nothing(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = page(tmp_path / "r.html", capsys, "bisect", pair[0], "--target", "trt8")
    assert [reported for _, reported in found.of("h1")] == ["EQUAL"]


def test_edits(pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("edit", pair[0], "--rename", "a=inner", "-o", str(tmp_path / "out.onnx"))
    found = page(tmp_path / "r.html", capsys, *words)
    assert [reported for _, reported in found.of("h1")] == ["CHANGED"]
    ((attrs, card),) = found.of("details", id="e1")
    assert attrs["class"] == "card good"
    assert card.startswith("--rename proved")
    assert [attrs["id"] for attrs, _ in found.of("g", kind="changed")] == ["n0", "n1"]


@pytest.mark.parametrize("command", ["diff", "compare", "bisect"])
def test_json_instead(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    main([command, *pair, "--report", str(tmp_path / "r.json")])
    capsys.readouterr()
    assert '"schema": 1' in (tmp_path / "r.json").read_text(encoding="utf-8")
