"""The made-up engines of `benchmarks.strangers`: their habits, and how they are counted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import parser

from benchmarks.strangers import program
from benchmarks.strangers.__main__ import _is_said, table  # pyright: ignore[reportPrivateUsage]
from benchmarks.strangers.habits import habits_of, profile_of
from graphfix.engines.profile import target_of
from graphfix.ir.schemas import form_of

NONE: dict[str, Any] = {
    "operators": [], "forms": [], "types": [], "ranks": [],
    "opset": 17, "ir": 8, "static": False, "wrong": [],
    "words": [], "pairs": [], "narrow": [], "contrib": [],
}  # fmt: skip
TEXT = """
<ir_version: 8, opset_import: ["": 17]>
g (float[2, 3] x) => (float[2, 3] y) { a = LeakyRelu <alpha = 0.5> (x) y = Softmax <axis = 1> (a) }
"""


@pytest.mark.parametrize("seed", range(20))
def test_habits_are_of_forms_that_models_can_have(seed: int) -> None:
    habits = habits_of(seed)
    assert habits == habits_of(seed)
    named = [*habits["operators"], *(each[0] for each in (*habits["forms"], *habits["wrong"]))]
    assert [op for op in named if form_of(op, habits["opset"]) is None] == []
    assert len(habits["wrong"]) == 3
    target = target_of(profile_of("oracle", habits), "oracle")
    assert [op for op in habits["operators"] if target.ops[op].supported] == []
    assert all(target.ops[op].wrong for op, *_ in habits["wrong"])


@pytest.mark.parametrize(
    ("habits", "words"),
    [
        ({"operators": ["Softmax"]}, "no operator Softmax"),
        ({"forms": [["Softmax", "axis", "1"]]}, "Softmax with axis=1"),
        ({"types": [["LeakyRelu", "FLOAT"]]}, "no LeakyRelu of this type"),
        ({"ranks": [["LeakyRelu", 2]]}, "no LeakyRelu of 2 dimensions"),
        ({"words": [["LeakyRelu", "alpha", "other"]]}, "LeakyRelu with alpha other"),
        ({"pairs": [["Softmax", ["axis", "1"], ["rank", "2"]]]}, "Softmax with"),
        ({"pairs": [["LeakyRelu", ["T", "FLOAT"], ["rank", "2"]]]}, "LeakyRelu with"),
        ({"opset": 16}, "opset"),
        ({"ir": 7}, "IR version 8"),
    ],
)
def test_what_is_a_habit_is_refused(
    habits: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(parser.parse_model(TEXT).SerializeToString())
    monkeypatch.setattr(program, "HABITS", {**NONE, **habits})
    with pytest.raises(ValueError, match=words):
        program.load(str(path), {})


@pytest.mark.parametrize(
    ("text", "trait", "word"),
    [
        ("Conv <dilations = [2, 2]> (x, w)", "dilations", "even"),
        ("Conv <strides = [2, 1]> (x, w)", "strides", "uneven"),
        ("Conv <pads = [0, 0, 1, 1]> (x, w)", "pads", "uneven"),
        ("Conv <pads = [1, 2, 1, 2]> (x, w)", "pads", "even"),
        ("Conv (x, w)", "pads", "plain"),
        ("Conv (x, w)", "B", "missing"),
        ("Conv (x, w, b)", "B", "given"),
        ("Gemm <alpha = 0.5> (x, w)", "alpha", "other"),
        ("Gemm (x, w)", "alpha", "default"),
    ],
)
def test_words_are_those_of_profiles(
    text: str, trait: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "HABITS", NONE)
    graph = parser.parse_graph(f"g (float[1] x, float[1] w, float[1] b) => (y) {{ y = {text} }}")
    assert program.word_of(graph.node[0], trait) == word


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mode: edge, wrap", True),
        ("T+mode: float32+edge", True),
        ("T+mode: float32+wrap", False),
        ("how: edge", False),
    ],
)
def test_a_wrong_form_is_found_by_itself_or_with_another_trait(text: str, said: bool) -> None:
    assert _is_said(["Pad", "mode", "edge"], {"Pad": [f"13 {text}"]}) is said


def test_what_is_wrong_is_one_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(parser.parse_model(TEXT).SerializeToString())
    x = np.array([[1, 2, 3], [-1, 0, 5]], np.float32)
    found: list[Any] = []
    for wrong in ([], [["Softmax", "axis", "1"]], [["Softmax", "axis", "0"]]):
        monkeypatch.setattr(program, "HABITS", {**NONE, "wrong": wrong})
        found += program.load(str(path), {})({"x": x})
    np.testing.assert_allclose(found[1], found[0] + 1, rtol=1e-6)
    np.testing.assert_array_equal(found[2], found[0])


def test_the_page_counts_what_can_be_repaired() -> None:
    engine = {"seed": 0, "seconds": 40, "questions": 9, "opset": True, "ir": True, "static": False,
              "operators": [11, 12], "wrong": [2, 3]}  # fmt: skip
    rows: list[dict[str, Any]] = [
        engine,
        {"seed": 0, "file": "a", "before": "equal"},
        {"seed": 0, "file": "b", "before": "refused", "oracle": [0, "equal"],
         "stranger": [0, "equal"]},
        {"seed": 0, "file": "c", "before": "wrong", "oracle": [0, "equal"],
         "stranger": [0, "wrong"]},
        {"seed": 0, "file": "d", "before": "refused", "oracle": [1, "refused"],
         "stranger": [1, "refused"]},
    ]  # fmt: skip
    counts = "11 of 12 | 2 of 3 | 2 of 3 | 3 | 2 | 1 | 2 | 1 |"
    assert f"| 0 | 40 s | 9 | {counts}" in list(table(rows))
