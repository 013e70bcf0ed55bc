"""A node that reads what its own rewriting removed, and names that two nodes write."""

import pytest

import graphfix
from graphfix.errors import InvalidModel
from graphfix.testing import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '


def refusal(text: str) -> str:
    with pytest.raises(InvalidModel) as caught:
        graphfix.run(parse(HEAD + text), "trt8.6")
    return f"{caught.value} {caught.value.hint}"


def test_both_readings_of_a_lost_name_are_named() -> None:
    said = refusal("g (float[2] x) => (float[2] y) { h1_cast0 = Abs (x) y = Neg (h1_cast1) }")
    assert "uses 'h1_cast1', which no node, input or initializer defines" in said
    assert "it may be another name of 'h1_cast0', or what was to be left out" in said


def test_nothing_is_like_it() -> None:
    said = refusal("g (float[2] x) => (float[2] y) { y = Neg (weights) }")
    assert "it may be an input that is lost, or what was to be left out" in said


def test_both_readings_of_a_name_that_is_written_twice_are_named() -> None:
    said = refusal("g (float[2] x) => (float[2] z) { y = Abs (x) y = Neg (x) z = Relu (y) }")
    assert "both write 'y'" in said
    assert "may mean the last of them, or the latest before itself" in said
