"""The questions about operators: each is one that something here answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import onnx.defs
import pytest

from graphfix.learning.interview import plainly
from graphfix.learning.limits import Limits
from graphfix.learning.questions import Entry, Question, entries, newest, question_of

# Random numbers, pictures of a library of its own, and what onnx has a schema of and nothing runs.
UNASKED = {
    *("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"),
    *("RandomUniformLike", "ImageDecoder", "BitCast", "CausalConvWithState", "LinearAttention"),
    "SwiGLU",
}


def first_of(entry: Entry, text: int, attributes: int) -> Question | None:
    """Return a question with a text and attributes, of the plainest type and rank that has one."""
    for factors in plainly(entry, min(max(entry.opset, 17), newest())):
        if factors.text == text:
            made = question_of(entry, replace(factors, attributes=attributes))
            if made is not None:
                return made
    return None


def test_there_is_a_question_about_each_operator_that_something_computes() -> None:
    schemas = onnx.defs.get_all_schemas()
    known = {each.name for each in schemas if each.domain == "" and not each.deprecated}
    asked = {entry.op for entry in entries()}
    assert known - asked <= UNASKED
    assert asked & UNASKED == set()


@pytest.mark.parametrize(
    "op",
    [
        *("AffineGrid", "Attention", "CenterCropPad", "Col2Im", "ConvInteger", "DFT", "DeformConv"),
        *("GlobalLpPool", "HannWindow", "MaxRoiPool", "MaxUnpool", "MelWeightMatrix", "Optional"),
        *("NegativeLogLikelihoodLoss", "OptionalHasElement", "RegexFullMatch", "RotaryEmbedding"),
        *("STFT", "SequenceAt", "SequenceErase", "SequenceInsert", "SequenceLength", "SequenceMap"),
        *("SoftmaxCrossEntropyLoss", "SplitToSequence", "StringConcat", "StringNormalizer"),
        *("StringSplit", "Swish", "TensorScatter", "TfIdfVectorizer"),
    ],
)
def test_the_first_text_is_one_with_all_attributes(op: str) -> None:
    (entry,) = (each for each in entries() if each.op == op)
    for number in range(len(entry.attributes)):
        made = first_of(entry, 0, number)
        assert made is not None
        assert all(array.size for array in made.expected.values())
        assert any(node.op_type == op for node in made.model.graph.node)


def test_what_networks_have_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from graphfix.learning import interview

    groups: list[list[str]] = []

    def noted(record: Any, limits: Any, say: Any, known: Sequence[Entry]) -> None:
        groups.append([entry.op for entry in known])

    monkeypatch.setattr(interview, "_about", noted)
    limits = Limits((7, 21), False, None, functions=True, static=False, half=False)
    interview.interview(None, limits, print)  # type: ignore[arg-type]
    usual, rare = groups
    assert (usual[0], "Col2Im" in rare, "LSTM" in usual) == ("Add", True, True)
    assert len(usual) + len(rare) == len(entries())
    interview.interview(None, limits, print, ["Col2Im"])  # type: ignore[arg-type]
    assert groups[2:] == [["Col2Im"]]
