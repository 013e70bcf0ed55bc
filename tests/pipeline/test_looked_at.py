"""Graph passes that say what they look at: without it in a model they are not asked."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphfix
from graphfix.authoring.declaring import graph_pass
from graphfix.authoring.editing import Editor
from graphfix.authoring.registry import shipped_passes
from graphfix.pipeline import run
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) '


def _asked(text: str, *looked_at: str) -> int:
    """Return how often a pass that looks at something is asked about a model."""
    asked: list[Editor] = []

    @graph_pass(looks_at=looked_at)
    def watching(editor: Editor) -> None:
        """Do nothing but count."""
        asked.append(editor)

    graphfix.run(parse(HEAD + text), passes=[watching], verify="off")
    return len(asked)


@pytest.mark.parametrize(
    ("looked_at", "wanted"),
    [
        ((), True),
        (("Neg",), True),
        (("Abs Neg",), True),
        (("Abs",), False),
        (("Neg", "Abs"), False),
        (("Neg", "Cast"), True),
        (("type:int8",), True),
        (("type:uint8 type:int8",), True),
        (("type:uint8",), False),
        (("attribute:to",), True),
        (("attribute:t*",), True),
        (("attribute:t",), False),
        (("file:text",), False),
        (("input:unset",), False),
        (("ir:3",), False),
        (("ir:10",), True),
    ],
)
def test_each_text_has_to_be_met_by_one_of_its_words(
    looked_at: tuple[str, ...], wanted: bool
) -> None:
    text = "{ a = Cast <to = 3> (x)  b = Cast <to = 1> (a)  y = Neg (b) }"
    assert bool(_asked(text, *looked_at)) is wanted


def test_what_is_in_a_subgraph_counts() -> None:
    text = """{
        c = Constant <value = bool {1}> ()
        y = If (c) <
            then_branch = t () => (float[2] p) { p = Sin (x) },
            else_branch = e () => (float[2] q) { q = Cos (x) }
        >
    }"""
    assert _asked(text, "Sin")


def test_no_pass_does_anything_where_it_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    files = sorted((Path(__file__).parents[2] / "fixtures").glob("*.onnx"))[:12]
    assert len(files) == 12
    asked = [graphfix.run(file, target="trt8", verify="off").report.outcomes for file in files]
    assert sum(bool(each.looks_at) for each in shipped_passes()) >= 9

    def holds(*_: object) -> bool:
        return True

    monkeypatch.setattr(run, "_holds", holds)
    always = [graphfix.run(file, target="trt8", verify="off").report.outcomes for file in files]
    assert asked == always
